//! A sub-task in the timeline of the task above it: one line, which opens its own timeline.

use super::{Conversation, Message};
use crate::{
    font,
    screen::tree::line,
    theme::{size, space, style},
    widget::{Element, Look, dot, elide::elided, press::press, secondary, word, yielding},
    words,
};
use abide_client::{
    protocol::{CallId, TaskId, message::CallView, task::AgentTask},
    view::{ConversationView, Entry},
};
use abide_host::text::visible_line;
use iced::{
    Fill, FillPortion,
    widget::{container, row},
};
use std::collections::HashMap;

/// The sub-tasks that each call has started, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Forks(HashMap<CallId, Vec<TaskId>>);

impl Forks {
    /// Those of the calls of this sub-task, or of all root tasks. A `fork` says in its result which sub-task
    /// it started; one that code started is known by its time. `earlier` are tasks that the fold lacks.
    pub(super) fn of(view: &ConversationView, earlier: &[AgentTask], of: Option<TaskId>) -> Self {
        let mut forks = Self::default();
        let is_below = |task: &&AgentTask| match of {
            Some(of) => task.parent_id == Some(of),
            None => task.depth == 1,
        };
        let all = view.tasks().chain(earlier.iter().filter(|task| view.task(task.id).is_none()));
        let mut below: Vec<&AgentTask> = all.filter(is_below).collect();
        if below.is_empty() {
            return forks;
        }
        below.sort_by_key(|task| (task.started_at, task.id));
        let calls = view.timeline().filter_map(|entry| match entry {
            Entry::Call(call) if matches!(&*call.tool, "fork" | "python") => Some(call),
            _ => None,
        });
        let (named, code): (Vec<&CallView>, Vec<&CallView>) = calls.partition(|call| call.tool == "fork");
        for task in below {
            let handle = task.id.short();
            let is_its = |call: &&&CallView| task.parent_id == Some(call.task_id);
            let ran = || code.iter().rev().filter(is_its).find(|call| ran_at(call, task));
            let starter = named.iter().filter(is_its).find(|call| has_started(call, &handle)).or_else(ran);
            if let Some(call) = starter {
                forks.0.entry(call.call_id).or_default().push(task.id);
            }
        }
        forks
    }

    pub(super) fn by(&self, call: &CallView) -> &[TaskId] {
        self.0.get(&call.call_id).map_or(&[], Vec::as_slice)
    }
}

fn has_started(call: &CallView, handle: &str) -> bool {
    let said = |text: &str| text.contains(handle);
    let result = call.result.as_ref().filter(|result| result.ok);
    result.is_some_and(|r| said(&r.message) || r.data.as_ref().is_some_and(|data| said(data.as_str())))
}

fn ran_at(call: &CallView, task: &AgentTask) -> bool {
    let has_begun = call.started_at.is_some_and(|began| began <= task.started_at);
    has_begun && call.ended_at.is_none_or(|ended| task.started_at <= ended)
}

impl Conversation {
    /// The line of a sub-task.
    pub(super) fn child<'a>(&self, task: &AgentTask, look: Look) -> Element<'a, Message> {
        let is_amber = waits(&self.view, task);
        let title = elided(line::title(task, ""), size::PROSE, font::MEDIUM);
        let ink = if is_amber { style::needs_you } else { style::muted };
        let doing = words::as_known(line::doing(task), task, look);
        let doing = elided(doing, size::SECONDARY, font::PROSE).style(ink);
        let words = row![container(title).width(FillPortion(3)), container(doing).width(FillPortion(2))];
        let parts = [
            dot(line::mark(task, is_amber)),
            words.spacing(space::M).align_y(iced::Center).width(Fill).into(),
            // As wide in each line, so that all columns are straight.
            container(secondary(line::figures(task)))
                .width(space::FIGURES)
                .align_right(space::FIGURES)
                .into(),
            secondary("›").into(),
        ];
        let head = press(yielding::row(parts, 1, space::M)).padding([space::S, space::M]).width(Fill);
        let head = head.style(style::child).on_press(Message::TaskOpened(task.id));
        container(head).padding(1).width(Fill).style(style::tool).into()
    }

    /// Above the card of a task below: which one asks, and a way to it.
    pub(super) fn asker<'a>(&self, id: TaskId, words: String) -> Element<'a, Message> {
        let words = elided(words, size::SECONDARY, font::PROSE).style(style::needs_you);
        yielding::row([words.into(), word("Open", Message::TaskOpened(id)).into()], 0, space::S)
    }

    pub(super) fn child_as_text(&self, id: TaskId) -> Option<String> {
        let task = self.task(id)?;
        Some(format!("[sub-task] {} — {}", visible_line(&line::title(task, "")), line::doing(task)))
    }
}

/// Whether the task or one below it waits for a person.
fn waits(view: &ConversationView, task: &AgentTask) -> bool {
    let is_asked = |id: TaskId| view.is_within(id, task.id);
    task.needs_person()
        || view.inbox().items().iter().any(|item| is_asked(item.task_id))
        || view.tasks().any(|other| other.needs_person() && is_asked(other.id))
}
