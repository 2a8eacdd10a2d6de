//! The code of unsafe calls, as far as it speaks with the daemon: it asks for sub-tasks, repeats its
//! requests, and speaks after its end. Each reply is checked against the disk.

use super::{
    life::Life,
    people::{Failure, Request},
};
use abide_engine::{CallStage, Fork, Refusal, Task};
use abide_protocol::{
    CallId, TaskId,
    record::{ForkedBy, TaskStarted},
    transcript::EffectClass,
};
use std::collections::BTreeMap;

/// What has to occur in some life.
pub(super) const GOALS: [&str; 7] = [
    "a fork asked for again",
    "a fork by line over a cap",
    "a fork of a call that does not run",
    "a fork tried again after a failed append",
    "a result read by code",
    "a sub-task by line",
    "sub-tasks named by an interrupted call",
];

/// The sub-task that each acknowledged fork was given.
#[derive(Default)]
pub(super) struct Code {
    handles: BTreeMap<(CallId, u32), TaskId>,
}

impl Life {
    /// Code runs: it may ask for sub-tasks. Some of its requests come after its end.
    pub(super) fn run_code(&mut self, parent: TaskId, call: CallId, attempt: u32) {
        if !self.one_in(self.nature.forks) {
            return;
        }
        for _ in 0..=self.roll(4) {
            let index = self.pick(&[0, 0, 1, 2]);
            let attempt = if self.one_in(12) { attempt + 1 } else { attempt };
            let (task, prompt) = (TaskId(self.mint().uuid()), format!("Do part {index}."));
            let within = self.pick(&[20, 20, 2 * self.nature.pace]);
            let fork = Fork { parent, call, attempt, index, task, prompt, tools: None, place: None };
            self.send_request_within(within, Request::Fork(fork));
        }
    }

    /// The sub-tasks whose results the code of a call has read, at its end.
    pub(super) fn results_read(&mut self, parent: TaskId, call: CallId) -> Vec<TaskId> {
        let published = &self.disk.published;
        let runs_code =
            |task: &Task| task.call(call).is_some_and(|call| call.effect() == EffectClass::Unsafe);
        let Some(task) = published.task(parent).filter(|task| runs_code(task)) else { return Vec::new() };
        let has_ended = |child: &TaskId| published.task(*child).is_some_and(Task::has_ended);
        let ended: Vec<TaskId> = task.children.iter().copied().filter(has_ended).collect();
        ended.into_iter().filter(|_| !self.one_in(3)).collect()
    }

    pub(super) fn check_fork_reply(&mut self, fork: Fork, answer: Result<Option<TaskId>, Failure>) {
        let published = &self.disk.published;
        let by = ForkedBy { call_id: fork.call, index: fork.index };
        let of_fork = |task: &&Task| task.head.forked_by == Some(by);
        let child = published.tasks().iter().find(of_fork).map(|task| task.id);
        let call = published.task(fork.parent).and_then(|task| task.call(fork.call));
        match answer {
            Ok(task) => {
                let named = task.expect("the reply has the sub-task");
                let is_deleted = published.task(fork.parent).is_none();
                assert!(is_deleted || child == Some(named), "an acknowledged sub-task is on disk");
                let first = *self.outside.code.handles.entry((fork.call, fork.index)).or_insert(named);
                assert_eq!(first, named, "a fork has one sub-task, however often it is asked for");
                if named != fork.task {
                    self.cover("a fork asked for again");
                }
            }
            Err(Failure::Refused(Refusal::NotForked(words))) => {
                assert_eq!(child, None, "a fork is refused, and has a sub-task");
                assert!(words.starts_with("No sub-task was started: "), "{words}");
                self.cover("a fork by line over a cap");
            }
            Err(Failure::Refused(Refusal::Stale)) => {
                let runs = |stage: &CallStage| matches!(stage, CallStage::Started { attempt, .. } if *attempt == fork.attempt);
                assert!(!call.is_some_and(|call| runs(&call.stage)), "a running call's fork is refused");
                self.cover("a fork of a call that does not run");
            }
            // It is sure neither that it was stored nor that it was not.
            Err(Failure::Failed(_)) if !self.nature.calm => {
                self.cover("a fork tried again after a failed append");
                self.send_request_within(20, Request::Fork(fork));
            }
            Err(_) => {}
        }
    }

    pub(super) fn cover_fork(&mut self, head: &TaskStarted) {
        let call = head.parent_id.and_then(|id| self.disk.published.task(id)?.call(head.forked_by?.call_id));
        let is_control = call.is_none_or(|call| call.effect() == EffectClass::Control);
        self.cover(if is_control { "a sub-task of a call" } else { "a sub-task by line" });
    }
}
