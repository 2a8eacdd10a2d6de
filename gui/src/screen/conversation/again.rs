//! Begins anew: a task that goes on where the last one ended.

use super::{Conversation, Message};
use crate::{
    effect::Effect,
    guard::{Deed, Guard},
    screen::composer::Stance,
    theme::style,
    widget::{Element, Look, action, key},
};
use abide_client::{
    protocol::{
        Seq,
        message::{self, MessageKind, Role},
        task::{AgentTask, EndReason, Mode},
    },
    view::Entry,
};
use iced::widget::row;

/// What a new task with the same history is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    GoOn,
    TryAgain,
}

impl Again {
    const fn label(self) -> &'static str {
        match self {
            Self::GoOn => "Go on",
            Self::TryAgain => "Try again",
        }
    }

    /// Its prompt, shown as the person's message.
    const fn prompt(self) -> &'static str {
        match self {
            Self::GoOn => "Go on.",
            Self::TryAgain => "Try again.",
        }
    }

    /// Whether this is the prompt of one of these, which says nothing without the history before it.
    fn is_prompt(text: &str) -> bool {
        [Self::GoOn, Self::TryAgain].iter().any(|again| again.prompt() == text)
    }

    /// For a task with this end; `None` if it is complete.
    const fn after(task: &AgentTask) -> Option<Self> {
        match (task.end_reason, task.incomplete) {
            (Some(EndReason::Error), _) => Some(Self::TryAgain),
            (Some(EndReason::Completed | EndReason::Deleted) | None, None) => None,
            (Some(_), _) | (None, Some(_)) => Some(Self::GoOn),
        }
    }
}

impl Conversation {
    /// For the last task, if it ended incomplete and another one can begin.
    fn again(&self) -> Option<(Again, &AgentTask)> {
        let task = self.current().filter(|_| self.stance() == Stance::Ready)?;
        let again = Again::after(task).filter(|_| !self.composer.is_sending())?;
        Some((again, task))
    }

    /// The button below the end of this task.
    pub(super) fn again_button<'a>(
        &self,
        task: &AgentTask,
        guard: &Guard,
        look: Look,
    ) -> Option<Element<'a, Message>> {
        let (again, _) = self.again().filter(|(_, last)| last.id == task.id)?;
        let button = action(again.label(), Some(key("Ctrl R"))).style(style::secondary);
        let is_steady = guard.allows(Deed::AtFoot, look.now);
        Some(row![button.on_press_maybe(is_steady.then_some(Message::AgainPressed))].into())
    }

    /// Starts a new task with the same history, in the same mode: one that had become an agent stays one. A
    /// chat takes the mode of the conversation: it may be one only because its first reply was empty, and a
    /// chat has no tools.
    pub(super) fn begin_again(&mut self) -> Vec<Effect> {
        let Some((again, task)) = self.again() else { return Vec::new() };
        let mode = Some(task.mode).filter(|mode| *mode != Mode::Chat);
        vec![self.composer.say(again.prompt(), self.id, mode)]
    }

    /// The prompts and comments of the person that are loaded, from the first on.
    fn prompts(&self) -> impl DoubleEndedIterator<Item = &message::Message> {
        self.view.timeline().filter_map(|entry| match entry {
            Entry::Message(message) if is_prompt(message) => Some(message),
            _ => None,
        })
    }

    /// The person's last prompt, other than *Go on* and *Try again* if another one is loaded.
    pub(super) fn last_prompt(&self) -> Option<Seq> {
        let last = self.prompts().rfind(|prompt| !Again::is_prompt(&prompt.text));
        last.or_else(|| self.prompts().next_back()).map(|prompt| prompt.seq)
    }
}

/// Whether the message began a task. (An answer is meaningless without its question.)
pub(super) fn is_prompt(message: &message::Message) -> bool {
    message.role == Role::User && message.kind == MessageKind::Text
}
