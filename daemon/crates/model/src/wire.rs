//! What implements each API: a module of its own.

use crate::{
    anthropic::Messages, api::Api, openai::Chat, responses::Responses, script::Player, server::Server,
};

/// The server of a provider with this API. Nothing is read or asked yet.
pub(crate) fn server(api: Api) -> Box<dyn Server> {
    match api {
        Api::OpenaiChat => Box::new(Chat::default()),
        Api::OpenaiResponses => Box::new(Responses::default()),
        Api::Anthropic => Box::new(Messages),
        Api::Scripted => Box::new(Player::default()),
    }
}
