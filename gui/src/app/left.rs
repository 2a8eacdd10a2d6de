//! A text that was being sent when its conversation was left. Its draft is on disk with that text, until the daemon has taken it.

use super::App;
use crate::{
    request::{Request, says},
    screen::composer::{self, pasted::plain},
};
use abide_client::protocol::ConversationId;

/// See the module.
#[derive(Debug)]
pub(super) struct Left {
    conversation: ConversationId,
    text: String,
}

impl App {
    /// Keeps the draft of the open conversation, which another one replaces.
    pub(super) fn keep_left(&mut self) {
        self.keep_draft();
        let left = self.conversation().and_then(|open| {
            let text = open.composer.under_way()?.to_owned();
            Some(Left { conversation: open.id(), text })
        });
        self.left = left.or(self.left.take());
    }

    /// Takes the text that this request has sent or has failed to send.
    pub(super) fn take_left(&mut self, request: &Request) -> Option<Left> {
        let conversation_of = |id: &str| Some(self.overview.task(id.parse().ok()?)?.conversation_id);
        let of = match request {
            Request::StartTask(params) => params.conversation_id,
            Request::UserResponse(params) => conversation_of(&params.task_id),
            // Other words to the task are written in a field of their own.
            Request::Intervene(params)
                if self.left.as_ref().is_some_and(|left| says(params, &plain(&left.text))) =>
            {
                conversation_of(&params.task_id)
            }
            _ => None,
        };
        self.left.take_if(|left| Some(left.conversation) == of)
    }

    /// The daemon has taken it: it is no draft any more.
    pub(super) fn drop_left(&mut self, Left { conversation, text }: &Left) {
        let draft = self.drafts.draft(Some(*conversation));
        self.drafts.keep_draft(Some(*conversation), composer::rest(&draft, text));
        if let Some(open) = self.conversation_mut().filter(|open| open.id() == *conversation) {
            open.composer.take_out(text);
        }
    }
}
