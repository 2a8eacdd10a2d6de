//! What state-machine clients are shown: one state, of a conversation's newest task with its sub-tasks.

use abide_protocol::{
    ConversationId, TaskId,
    inbox::{Approval, Pending},
    task::{AgentTask, EndReason, Status},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tasks, and what was shown last.
#[derive(Debug, Default)]
pub(super) struct AgentState {
    tasks: BTreeMap<TaskId, AgentTask>,
    shown: Value,
}

impl AgentState {
    pub(super) fn update(&mut self, task: AgentTask) {
        // The sub-tasks of a new root come after it.
        if task.parent_id.is_none() && !self.tasks.contains_key(&task.id) {
            self.tasks.clear();
        }
        self.tasks.insert(task.id, task);
    }

    /// The message that shows it; `None`: it is as it was.
    pub(super) fn news(&mut self, conversation: Option<ConversationId>) -> Option<Value> {
        let root = self.tasks.values().find(|task| task.parent_id.is_none());
        let waiting = self.tasks.values().filter(|task| task.parent_id.is_some() && !task.pending.is_empty());
        let state = state(conversation, root, waiting.flat_map(|task| &task.pending));
        (state != self.shown).then(|| {
            self.shown = state;
            self.shown.clone()
        })
    }
}

/// `beneath`: what sub-tasks wait for.
fn state<'a>(
    conversation: Option<ConversationId>,
    root: Option<&'a AgentTask>,
    beneath: impl Iterator<Item = &'a Pending>,
) -> Value {
    let mut data = json!({ "agent_id": conversation, "task_id": root.map(|task| task.id) });
    let status = match root {
        None => "Idle",
        Some(task) if let Some(reason) = task.end_reason => {
            data["reason"] = json!(reason_of(reason));
            "Stopped"
        }
        Some(task) => {
            let pending = || task.pending.iter();
            let mut is_waiting = task.status == Status::Paused;
            for pending in pending().chain(beneath) {
                is_waiting = true;
                match pending {
                    Pending::Question(q) if data["question"].is_null() => data["question"] = json!(q.text),
                    Pending::Approval(a) if data["awaiting_permission"].is_null() => {
                        data["awaiting_permission"] = permission(a);
                    }
                    _ => {}
                }
            }
            if is_waiting {
                "Paused"
            } else {
                data["iteration"] = json!(task.step_count);
                "Running"
            }
        }
    };
    json!({ "type": "agent_state", "status": status, "data": data })
}

fn permission(approval: &Approval) -> Value {
    json!({
        "id": approval.id, "tool_name": approval.tool, "command": approval.summary, "tier": approval.risk,
        "description": approval.why.as_ref().unwrap_or(&approval.summary),
    })
}

const fn reason_of(end: EndReason) -> &'static str {
    match end {
        EndReason::Completed | EndReason::Declined => "Completed",
        EndReason::StepLimit | EndReason::TimeLimit => "IterationLimit",
        EndReason::Error => "Error",
        EndReason::Stopped
        | EndReason::Deleted
        | EndReason::QuestionTimeout
        | EndReason::Budget
        | EndReason::ParentEnded => "ManualStop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_was_started_and_each_end_has_a_reason() {
        let mut state = AgentState::default();
        let idle = json!({ "agent_id": null, "task_id": null });
        let shown = json!({ "type": "agent_state", "status": "Idle", "data": idle });
        assert_eq!((state.news(None), state.news(None)), (Some(shown), None));
        let table = [
            (EndReason::Completed, "Completed"),
            (EndReason::Declined, "Completed"),
            (EndReason::StepLimit, "IterationLimit"),
            (EndReason::TimeLimit, "IterationLimit"),
            (EndReason::Error, "Error"),
            (EndReason::Stopped, "ManualStop"),
            (EndReason::Deleted, "ManualStop"),
            (EndReason::QuestionTimeout, "ManualStop"),
            (EndReason::Budget, "ManualStop"),
            (EndReason::ParentEnded, "ManualStop"),
        ];
        for (end, reason) in table {
            assert_eq!(reason_of(end), reason, "{end:?}");
        }
    }
}
