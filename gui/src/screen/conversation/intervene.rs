//! A person's hand in a sub-task at work, at the foot of its timeline: a comment, new instructions, pause,
//! stop, delete. (For root tasks the composer has all of it.) Stop and delete take two acts: the first one
//! arms the second.

mod view;

use super::{Conversation, Message as Thread};
use crate::{
    effect::Effect,
    guard::End,
    request::{self, Request},
    undo::Undo,
    widget::writing::Said,
};
use abide_client::protocol::{TaskId, method::task::InterveneParams, task::AgentTask};
use iced::widget::text_editor;

/// The words for the task, and those under way to it.
#[derive(Debug, Default)]
pub(super) struct Field {
    content: text_editor::Content,
    undo: Undo,
    has_caret: bool,
    sent: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Message {
    Edited(text_editor::Action),
    /// Whether the field has the keyboard.
    Focused(bool),
    Said(Said),
    CommentPressed,
    ModifyPressed,
}

impl Field {
    fn text(&self) -> String {
        self.content.text().trim().to_owned()
    }

    fn show(&mut self, text: &str) {
        self.content = text_editor::Content::with_text(text);
        self.content.perform(text_editor::Action::Move(text_editor::Motion::DocumentEnd));
    }

    fn edit(&mut self, action: text_editor::Action) -> Vec<Effect> {
        if !action.is_edit() {
            self.content.perform(action);
            return Vec::new();
        }
        let before = self.content.text();
        self.content.perform(action);
        self.undo.changed(&before, &self.content.text());
        vec![Effect::Draft]
    }

    fn take_back(&mut self, is_back: bool) -> Vec<Effect> {
        let now = self.content.text();
        let other = if is_back { self.undo.back(&now) } else { self.undo.forth(&now) };
        if let Some(other) = other {
            self.show(&other);
        }
        vec![Effect::Draft]
    }

    fn send(&mut self, task: TaskId, of: fn(TaskId, String) -> Request) -> Vec<Effect> {
        let text = self.text();
        if text.is_empty() || self.sent.is_some() {
            return Vec::new();
        }
        self.sent = Some(text.clone());
        vec![Effect::Ask(of(task, text))]
    }

    /// The daemon has accepted the words; what was written meanwhile stays.
    fn done(&mut self) -> Vec<Effect> {
        if let Some(sent) = self.sent.take() {
            let text = self.text();
            self.show(text.strip_prefix(&sent).unwrap_or(&text).trim_start());
        }
        vec![Effect::Draft]
    }
}

impl Conversation {
    /// The task that can be intervened in: the one whose timeline this is, while it is at work or waits.
    #[must_use]
    pub fn live_task(&self) -> Option<&AgentTask> {
        self.shown_task().filter(|task| !task.status.has_ended())
    }

    /// The unsent words for that task.
    #[must_use]
    pub fn intervention(&self) -> Option<(TaskId, String)> {
        Some((self.shown_task()?.id, self.intervening.text()))
    }

    /// Shows words that were not sent when the window was closed.
    pub fn restore_intervention(&mut self, words: &str) {
        self.intervening.show(words);
    }

    pub(super) fn intervene(&mut self, message: Message) -> Vec<Effect> {
        let task = self.live_task().map(|task| task.id);
        let intervening = &mut self.intervening;
        match (message, task) {
            (Message::Edited(action), _) => intervening.edit(action),
            (Message::Focused(has_caret), _) => {
                intervening.has_caret = has_caret;
                Vec::new()
            }
            (Message::Said(said @ (Said::Back | Said::Forth)), _) => {
                intervening.take_back(said == Said::Back)
            }
            (Message::CommentPressed | Message::Said(Said::Submitted), Some(task)) => {
                intervening.send(task, request::note)
            }
            (Message::ModifyPressed | Message::Said(Said::SubmittedOtherwise), Some(task)) => {
                intervening.send(task, request::modify)
            }
            (Message::CommentPressed | Message::ModifyPressed | Message::Said(_), None) => Vec::new(),
        }
    }

    /// Ends the task. It was asked twice.
    pub(super) fn end(&self, end: End) -> Vec<Effect> {
        let request = |task: &AgentTask| match end {
            End::Stop => Request::StopTask(task.id.into()),
            End::Delete => request::delete_task(task.id),
        };
        self.live_task().map(request).map(Effect::Ask).into_iter().collect()
    }

    /// Whether the request was this task's own.
    pub(super) fn has_intervened(&self, request: &Request) -> bool {
        let is_shown = |id: &str| self.shown_task().is_some_and(|task| task.id.to_string() == id);
        let is_end = |params: &InterveneParams| params.comment.is_empty() && params.content.is_none();
        matches!(request, Request::Intervene(params) if is_shown(&params.task_id) && !is_end(params))
    }

    pub(super) fn intervened(&mut self) -> Vec<Effect> {
        self.intervening.done()
    }

    /// The words stay, to be sent again.
    pub(super) fn failed_to_intervene(&mut self) {
        self.intervening.sent = None;
    }
}

/// Wraps a message of this field.
const fn to_thread(message: Message) -> Thread {
    Thread::Intervene(message)
}
