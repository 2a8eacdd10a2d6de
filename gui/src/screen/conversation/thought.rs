//! The texts of the phases reason and observe: they lead to an answer, and are quieter than it. Each can be
//! folded to its first line; the newest is open.

use super::{Conversation, Message, markdown};
use crate::{
    emoji::drawable,
    font, rendered,
    theme::{size, space, style},
    widget::{Element, Look, elide::elided, passage::prose, press::press, secondary, yielding},
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        event::EventKind,
        message::{self, MessageKind, Role},
        task::{AgentTask, Phase},
    },
    view::{ConversationView, Entry},
};
use abide_host::text::visible;
use iced::{
    Fill,
    widget::{container, row},
};
use std::collections::{BTreeSet, HashSet};

/// A text of one line up to this length fits nearly every window, so it has nothing to fold, in characters.
const SHORT: usize = 72;
/// The most characters of a folded text. A window shows fewer.
const MAX_LINE: usize = 240;

/// Whether the agent thinks in this phase, without acting.
pub(super) const fn is_thinking(phase: Phase) -> bool {
    matches!(phase, Phase::Reason | Phase::Observe)
}

/// The messages that are texts of reason or observe: the first one of the agent in such a phase, unless the
/// task ended with it. `task` gives a task's state, if it is known.
pub(super) fn thoughts<'a>(
    view: &ConversationView,
    task: impl Fn(TaskId) -> Option<&'a AgentTask>,
) -> BTreeSet<Seq> {
    let mut thinking = HashSet::new();
    let mut thoughts = BTreeSet::new();
    for entry in view.timeline() {
        let Some(id) = entry.task_id() else { continue };
        match entry {
            Entry::Event(event) => match &event.kind {
                EventKind::PhaseBegan(began) if is_thinking(began.phase) => {
                    thinking.insert(id);
                }
                EventKind::PhaseBegan(_) => {
                    thinking.remove(&id);
                }
                _ => {}
            },
            Entry::Message(said) if is_reply(said) && thinking.remove(&id) => {
                let summary = task(id).and_then(|task| task.summary.as_deref());
                if summary.is_none_or(|summary| summary.trim() != said.text.trim()) {
                    thoughts.insert(said.seq);
                }
            }
            Entry::Message(_) | Entry::Call(_) => {}
        }
    }
    thoughts
}

fn is_reply(said: &message::Message) -> bool {
    said.role == Role::Agent && matches!(said.kind, MessageKind::Text | MessageKind::Partial)
}

/// The first line of a text as it is shown, and whether there is more.
fn first_line(text: &str) -> (String, bool) {
    let text = text.trim();
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let start: String = line.chars().take(MAX_LINE).collect();
    let shown = rendered::text(&visible(&start));
    let is_long = !rest.trim().is_empty() || shown.chars().count() > SHORT;
    (shown, is_long)
}

impl Conversation {
    /// The first line of this text, if it is folded.
    pub(super) fn folded(&self, message: &message::Message) -> Option<String> {
        if !self.thoughts.contains(&message.seq) || self.is_open(message.seq) {
            return None;
        }
        let (line, is_long) = first_line(&message.text);
        is_long.then_some(line)
    }

    /// A match of the search in it must be visible.
    fn is_open(&self, thought: Seq) -> bool {
        let is_found = self.found.as_ref().is_some_and(|found| found.seq == thought);
        let by_person = self.open_thoughts.get(&thought).copied();
        is_found || by_person.unwrap_or_else(|| self.all_open || self.thoughts.last() == Some(&thought))
    }

    /// A text of reason or observe.
    pub(super) fn thought<'a>(&'a self, message: &'a message::Message, look: Look) -> Element<'a, Message> {
        let (seq, is_open) = (message.seq, self.is_open(message.seq));
        let (line, is_long) = first_line(&message.text);
        let fold = |is_open| Message::ThoughtToggled(seq, is_open);
        if is_long && !is_open {
            let line = elided(line, size::PROSE, font::PROSE).style(style::muted);
            let line = yielding::row([line.into(), secondary("+").into()], 0, space::S);
            return press(line).padding(0).style(style::quiet).on_press(fold(true)).into();
        }
        let text: Element<'a, Message> = match self.documents.of(seq) {
            Some(document) => markdown::view(document, look.tokens).map(Message::Document),
            None => prose(drawable(visible(&message.text)).into_owned()).into(),
        };
        let text = container(text).width(Fill).style(style::quieter);
        if !is_long {
            return text.into();
        }
        let sign = press(secondary("−")).padding(0).style(style::quiet).on_press(fold(false));
        row![text, sign].spacing(space::S).into()
    }
}
