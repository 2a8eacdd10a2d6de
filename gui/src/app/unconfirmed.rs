//! A text that was being sent when its conversation was left. Its draft is on disk with that text, until the
//! daemon has taken it.

use super::App;
use crate::{
    local_state::drafts::Unconfirmed,
    request::{Request, says},
    screen::composer::{self, pasted::plain},
};

impl App {
    /// Keeps the draft of the open conversation, which another one replaces.
    pub(super) fn keep_unconfirmed(&mut self) {
        self.keep_draft();
        let unconfirmed = self.conversation().and_then(|open| {
            let text = open.composer.under_way()?.to_owned();
            Some(Unconfirmed { conversation: open.id(), text })
        });
        self.drafts.unconfirmed = unconfirmed.or(self.drafts.unconfirmed.take());
    }

    /// Takes the text that this request has sent or has failed to send.
    pub(super) fn take_unconfirmed(&mut self, request: &Request) -> Option<Unconfirmed> {
        let conversation_of = |id: &str| Some(self.overview.task(id.parse().ok()?)?.conversation_id);
        let of = match request {
            Request::StartTask(params) => params.conversation_id,
            Request::UserResponse(params) => conversation_of(&params.task_id),
            // Other words to the task are written in a field of their own.
            Request::Intervene(params)
                if self.drafts.unconfirmed.as_ref().is_some_and(|sent| says(params, &plain(&sent.text))) =>
            {
                conversation_of(&params.task_id)
            }
            _ => None,
        };
        self.drafts.unconfirmed.take_if(|sent| Some(sent.conversation) == of)
    }

    /// The daemon has taken it: it is no draft any more.
    pub(super) fn drop_unconfirmed(&mut self, Unconfirmed { conversation, text }: &Unconfirmed) {
        let draft = self.drafts.draft(Some(*conversation));
        self.drafts.keep_draft(Some(*conversation), composer::rest(&draft, text));
        if let Some(open) = self.conversation_mut().filter(|open| open.id() == *conversation) {
            open.composer.take_out(text);
        }
    }
}
