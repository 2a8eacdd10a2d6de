//! What a line about a task shows: in the tree, and in the timeline of the task above it.

use crate::{theme::Tokens, words};
use abide_client::protocol::{
    conversation::LatestTask,
    task::{AgentTask, Status},
};
use abide_host::text::visible_line;
use iced::Color;

/// The longest activity, in characters; the panel shows less.
const MAX_DOING: usize = 90;

/// The mark's colour. It does not move: sixty moving marks would cost more than they tell.
#[must_use]
pub fn mark(task: &AgentTask, is_amber: bool) -> fn(&Tokens) -> Color {
    match task.status {
        _ if is_amber => |tokens| tokens.needs_you,
        Status::Running | Status::Thinking | Status::ToolExecuting => |tokens| tokens.accent,
        Status::WaitingChildren | Status::Paused | Status::Cancelled => |tokens| tokens.faint,
        Status::Completed if LatestTask::from(task).is_whole() => |tokens| tokens.ok,
        Status::Completed | Status::Error => |tokens| tokens.bad,
        Status::WaitingUser | Status::WaitingApproval => |tokens| tokens.needs_you,
    }
}

/// Whether nothing below it is at work, so that it goes on only when a person acts.
#[must_use]
pub fn stands(task: &AgentTask) -> bool {
    task.status == Status::WaitingChildren && task.work.since.is_none()
}

/// Its title; `conversation` is that of a root.
#[must_use]
pub fn title(task: &AgentTask, conversation: &str) -> String {
    if task.parent_id.is_none() {
        return words::title(conversation);
    }
    words::title(&words::first_line(&task.title, MAX_DOING))
}

/// What it does, and how many below it wait for the person.
#[must_use]
pub fn doing(task: &AgentTask) -> String {
    let tree = task.tree.as_deref().copied().filter(|_| !task.status.has_ended()).unwrap_or_default();
    let doing = match task.status {
        Status::WaitingChildren if tree.waiting > 0 => {
            let needs = if tree.waiting == 1 { "needs" } else { "need" };
            return format!("{} of {} {needs} you", tree.waiting, tree.live);
        }
        _ => visible_line(&words::first_line(&words::doing(task), MAX_DOING)).into_owned(),
    };
    if tree.waiting > 0 { format!("{doing}, {}", words::need_you(tree.waiting.into())) } else { doing }
}

/// `step 3 of 50 · 22k`
#[must_use]
pub fn figures(task: &AgentTask) -> String {
    let steps = (task.step_count > 0).then(|| words::step(task));
    let tokens = Some(task.usage.tokens()).filter(|tokens| *tokens > 0).map(words::tokens);
    [steps, tokens].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
