//! What a notification says and offers, as values.

use super::{
    board::Entry,
    item::{Answers, Asks, Decide, Item},
    words::{self, CHOICE, short},
};
use abide_protocol::{ApprovalId, ConversationId, QuestionId, TaskId, inbox::Decision};

/// The key of the action that a click on the notification itself invokes, in the specification.
const DEFAULT: &str = "default";
const OPEN: &str = "Open";

/// What a notification server can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// It shows buttons.
    pub actions: bool,
    /// It shows a field for a reply, as Plasma does.
    pub inline_reply: bool,
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    /// Without markup.
    pub summary: String,
    /// With markup, escaped.
    pub body: String,
    /// It stays on the screen until it is settled.
    pub stays: bool,
    pub buttons: Vec<Button>,
    /// The question that a typed reply answers.
    pub reply: Option<(TaskId, QuestionId)>,
}

/// An action of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// Means something within this notification only.
    pub key: &'static str,
    pub label: String,
    pub act: Act,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Decide { approval: ApprovalId, decision: Decision },
    Answer { task: TaskId, question: QuestionId, response: String },
    Open(WindowPage),
}

/// A place in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowPage {
    Conversation(ConversationId),
    Inbox,
}

impl Popup {
    /// The notification about these conversations, of which there is at least one.
    #[must_use]
    pub fn about(entries: &[Entry], abilities: Abilities) -> Self {
        let stays = entries.iter().any(|entry| !entry.waits.is_empty());
        let [entry] = entries else {
            return Self {
                summary: words::summary_of_several(entries),
                body: words::body_of_several(entries),
                stays,
                buttons: if abilities.actions { opening(WindowPage::Inbox) } else { Vec::new() },
                reply: None,
            };
        };
        let first = entry.waits.first().filter(|_| abilities.actions);
        let mut buttons = first.map(answers).unwrap_or_default();
        if abilities.actions {
            buttons.extend(opening(WindowPage::Conversation(entry.conversation)));
        }
        Self {
            summary: words::summary(entry),
            body: words::body(entry, abilities.actions),
            stays,
            buttons,
            reply: first.filter(|_| abilities.inline_reply).and_then(free),
        }
    }

    /// A notification that only says something.
    #[must_use]
    pub fn note(summary: &str, body: &str) -> Self {
        let body = words::escape(&short(body, words::TEXT));
        Self { summary: summary.to_owned(), body, stays: false, buttons: Vec::new(), reply: None }
    }

    /// What the action with this key does.
    #[must_use]
    pub fn act(&self, key: &str) -> Option<&Act> {
        self.buttons.iter().find(|button| button.key == key).map(|button| &button.act)
    }

    /// An action that is meant for one of them does the same for the other.
    #[must_use]
    pub fn offers_the_same(&self, other: &Self) -> bool {
        self.buttons == other.buttons && self.reply == other.reply
    }
}

fn opening(place: WindowPage) -> Vec<Button> {
    ["open", DEFAULT].map(|key| Button { key, label: OPEN.to_owned(), act: Act::Open(place) }).into()
}

/// The buttons that answer an item.
fn answers(item: &Item) -> Vec<Button> {
    const KEYS: [&str; 3] = ["choice-1", "choice-2", "choice-3"];
    match &item.asks {
        Asks::Approval { id, decide: Decide::Here, .. } => {
            let button = |key, label: &str, decision| Button {
                key,
                label: label.to_owned(),
                act: Act::Decide { approval: *id, decision },
            };
            vec![
                button("allow", "Allow once", Decision::AllowOnce),
                button("reject", "Reject", Decision::RejectOnce),
            ]
        }
        Asks::Question { id, answers: Answers::Choices(choices), .. } => {
            let answer = |(key, choice): (&'static str, &String)| Button {
                key,
                label: short(choice, CHOICE),
                act: Act::Answer { task: item.task_id, question: *id, response: choice.clone() },
            };
            KEYS.into_iter().zip(choices).map(answer).collect()
        }
        Asks::Approval { decide: Decide::InAbide(_), .. }
        | Asks::Question { answers: Answers::Words | Answers::InAbide, .. } => Vec::new(),
    }
}

/// The question, if any text answers it.
fn free(item: &Item) -> Option<(TaskId, QuestionId)> {
    match &item.asks {
        Asks::Question { id, answers: Answers::Words, .. } => Some((item.task_id, *id)),
        Asks::Question { .. } | Asks::Approval { .. } => None,
    }
}

#[cfg(test)]
mod tests;
