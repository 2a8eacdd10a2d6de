//! The steps of an ended task, folded to one line: its answer is what a person looks for.
//!
//! What people said stays, and so does the reply after the last call. A task that only replied has nothing to
//! fold.

use super::{Conversation, Message, Row};
use crate::{
    effect::Effect,
    theme::style,
    widget::{Element, beside, press::press},
    words,
};
use abide_client::{
    protocol::{
        TaskId,
        event::EventKind,
        message::{MessageKind, Role},
        task::AgentTask,
    },
    view::{ConversationView, Entry},
};

/// Puts a line above the steps of each ended task, and drops the steps unless they are unfolded.
pub(super) fn fold(rows: &mut Vec<Row>, view: &ConversationView, is_open: impl Fn(TaskId) -> bool) {
    let mut from = 0;
    while let Some((at, id)) = rows.iter().enumerate().skip(from).find_map(|(at, row)| match row {
        Row::End(id) => Some((at, *id)),
        _ => None,
    }) {
        let of_task = rows.get(from..at).unwrap_or_default();
        let answer = answer(of_task, view, id);
        let is_folded: Vec<bool> = of_task
            .iter()
            .enumerate()
            .map(|(at, row)| Some(at) != answer && is_step(*row, view, id))
            .collect();
        let has_work = of_task.iter().any(|row| matches!(row, Row::Phase(_)) || is_call(*row, view));
        let first = is_folded.iter().position(|is_folded| *is_folded).filter(|_| has_work);
        from = at + 1;
        if let Some(first) = first {
            let line = [Row::Worked(id)];
            let steps = of_task.iter().zip(&is_folded).skip(first);
            let steps = steps.filter(|(_, is_folded)| is_open(id) || !**is_folded).map(|(row, _)| *row);
            let kept: Vec<Row> =
                of_task.iter().take(first).copied().chain(line).chain(steps).chain([Row::End(id)]).collect();
            let start = at - of_task.len();
            from = start + kept.len();
            rows.splice(start..=at, kept);
        }
    }
}

/// The reply after the last call.
fn answer(rows: &[Row], view: &ConversationView, task: TaskId) -> Option<usize> {
    let is_reply = |row: &Row| match row {
        Row::Entry(seq) => matches!(
            view.entry(*seq),
            Some(Entry::Message(said)) if said.task_id == Some(task) && said.role == Role::Agent
        ),
        _ => false,
    };
    let last = rows.iter().rposition(is_reply)?;
    rows.iter().rposition(|row| is_call(*row, view)).is_none_or(|call| call < last).then_some(last)
}

/// Whether the row shows how the task came to its answer.
fn is_step(row: Row, view: &ConversationView, task: TaskId) -> bool {
    let seq = match row {
        Row::Phase(seq) | Row::Entry(seq) | Row::Failed { last: seq, .. } => seq,
        Row::Child(_) => return true,
        _ => return false,
    };
    let Some(entry) = view.entry(seq).filter(|entry| entry.task_id() == Some(task)) else { return false };
    match entry {
        Entry::Message(said) => said.role != Role::User && said.kind != MessageKind::Question,
        Entry::Call(_) => true,
        Entry::Event(event) => !matches!(event.kind, EventKind::TaskStarted(_) | EventKind::Undone(_)),
    }
}

/// Whether the row shows what was done: a call or a sub-task.
fn is_call(row: Row, view: &ConversationView) -> bool {
    match row {
        Row::Child(_) => true,
        Row::Entry(seq) => matches!(view.entry(seq), Some(Entry::Call(_))),
        _ => false,
    }
}

/// `4 s`, `5 steps`, tokens and money of an ended task, as far as they are known.
pub(super) fn numbers(task: &AgentTask) -> impl Iterator<Item = String> {
    let took = task.ended_at.map(|ended| words::duration(task.worked(ended)));
    let steps = (task.step_count > 0).then(|| words::counted(u64::from(task.step_count), "step"));
    [took, steps, words::usage(&task.usage_of_all())].into_iter().flatten()
}

impl Conversation {
    /// Whether the steps of an ended task are shown.
    pub(super) fn shows_steps(&self, task: TaskId) -> bool {
        self.unfolded.get(&task).copied().unwrap_or(self.all_open)
    }

    /// Whether a line stands for the steps of the task, or is above them.
    pub(super) fn has_steps(&self, task: TaskId) -> bool {
        self.rows.contains(&Row::Worked(task))
    }

    pub(super) fn toggle_steps(&mut self, task: TaskId) -> Vec<Effect> {
        self.unfolded.insert(task, !self.shows_steps(task));
        self.hold(Some(Row::Worked(task)));
        self.project();
        Vec::new()
    }

    /// Shows the steps of the task that this row is of, if they are folded.
    pub(super) fn unfold_to(&mut self, row: Row) {
        let Row::Entry(seq) = row else { return };
        let task = self.view.entry(seq).and_then(Entry::task_id);
        if let Some(task) = task.filter(|task| self.has_steps(*task) && !self.rows.contains(&row)) {
            self.unfolded.insert(task, true);
            self.project();
        }
    }

    /// `Worked 4 s · 5 steps`
    pub(super) fn worked_words(&self, task: TaskId) -> String {
        let numbers: Vec<String> = self.task(task).map(numbers).into_iter().flatten().collect();
        format!("Worked {}", numbers.join(" · "))
    }

    pub(super) fn worked(&self, task: TaskId) -> Element<'_, Message> {
        let sign = if self.shows_steps(task) { "−" } else { "+" };
        let line = beside(format!("{} {sign}", self.worked_words(task)));
        press(line).padding(0).style(style::quiet).on_press(Message::StepsToggled(task)).into()
    }
}
