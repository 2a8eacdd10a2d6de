//! Sub-tasks: each is started once, its result is delivered once, and none lives beneath an ended task.

use super::{Account, key};
use crate::model_server::ModelServer;
use abide_client::protocol::{
    CallId, TaskId,
    message::CallOutcome,
    record::{CallFinished, ForkedBy, RecordBody, TaskStarted},
    task::EndReason,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All tasks, from their records in order.
#[derive(Default)]
pub(super) struct Forest {
    tasks: BTreeMap<TaskId, Node>,
    /// The keys of all tasks. The scripts give each sub-task one of its own, whatever id its fork has.
    keys: BTreeSet<String>,
    /// The sub-tasks that each call has started, with their numbers.
    forks: HashMap<CallId, BTreeMap<u32, TaskId>>,
    /// The sub-tasks at work that a call waits for.
    joins: HashMap<CallId, Vec<TaskId>>,
}

struct Node {
    key: String,
    parent: Option<TaskId>,
    children: Vec<TaskId>,
    end: Option<EndReason>,
    /// How often its result was delivered as a note.
    notes: usize,
    /// How often it was the result of a call that waited for its end.
    joined: usize,
    /// Code has read it, and so the note is not sent.
    is_read: bool,
}

impl Forest {
    pub(super) fn enter(&mut self, task: TaskId, body: &RecordBody) {
        match body {
            RecordBody::TaskStarted(head) => self.start(task, head),
            RecordBody::TaskEnded(end) => {
                for child in &self.tasks[&task].children {
                    assert!(
                        self.tasks[child].end.is_some(),
                        "{} lives on beneath {task}",
                        self.tasks[child].key
                    );
                }
                self.node(task).end = Some(end.reason);
            }
            RecordBody::ResultsDelivered(delivered) => {
                assert_eq!(self.tasks[&task].end, None, "results are delivered to an ended task");
                for child in &delivered.tasks {
                    let node = self.node(*child);
                    assert_eq!(node.parent, Some(task), "the result of {} goes to its parent", node.key);
                    assert!(node.end.is_some(), "{} has a result and has not ended", node.key);
                    node.notes += 1;
                }
            }
            RecordBody::Joining(joining) => {
                let at_work = joining.tasks.iter().filter(|child| self.tasks[child].end.is_none());
                self.joins.insert(joining.call_id, at_work.copied().collect());
            }
            RecordBody::CallFinished(finished) => self.call_finished(finished),
            _ => {}
        }
    }

    fn start(&mut self, task: TaskId, head: &TaskStarted) {
        let key = key(&head.original_prompt);
        assert!(self.keys.insert(key.clone()), "{key} was started twice");
        if let Some(parent) = head.parent_id {
            let above = self.node(parent);
            assert_eq!(above.end, None, "{key} is started beneath an ended task");
            above.children.push(task);
            let ForkedBy { call_id, index } = head.forked_by.expect("it was forked by a call");
            let first = self.forks.entry(call_id).or_default().insert(index, task);
            assert_eq!(first, None, "fork {index} of call {call_id} has two sub-tasks");
        }
        let node = Node {
            key,
            parent: head.parent_id,
            children: Vec::new(),
            end: None,
            notes: 0,
            joined: 0,
            is_read: false,
        };
        self.tasks.insert(task, node);
    }

    fn call_finished(&mut self, finished: &CallFinished) {
        let text = finished.result.text();
        let joined = self.joins.remove(&finished.call_id).unwrap_or_default();
        for child in &finished.read_results {
            let by = &self.forks[&finished.call_id];
            assert!(by.values().any(|forked| forked == child), "code reads the results of its own sub-tasks");
            let node = self.node(*child);
            assert!(
                node.end.is_some() && finished.result.ok,
                "{} has a result, and code has read it",
                node.key
            );
            node.is_read = true;
        }
        if finished.outcome == CallOutcome::Done {
            for child in joined {
                assert!(text.contains(&child.short()), "the result of a wait names all: {text}");
                self.node(child).joined += 1;
            }
        }
        if finished.outcome == CallOutcome::Interrupted {
            for child in self.forks.get(&finished.call_id).into_iter().flat_map(BTreeMap::values) {
                assert!(
                    text.contains(&child.short()),
                    "a call that was cut short names its sub-tasks: {text}"
                );
            }
        }
    }

    /// All tasks have ended: checks the deliveries by the records, and by what the model was sent.
    pub(super) fn check(&self, model: &ModelServer, account: &mut Account) {
        for (id, task) in self.tasks.iter().filter(|(_, task)| task.parent.is_some()) {
            let parent = &self.tasks[&task.parent.expect("it has one")];
            let delivered = task.notes + task.joined;
            let (key, is_cut_off) = (&task.key, task.end == Some(EndReason::ParentEnded));
            assert!(delivered <= 1, "the result of {key} is delivered {delivered} times");
            assert!(!is_cut_off || delivered == 0, "{key} ended with its parent, and has a delivery");
            account.sub_tasks += 1;
            account.ended_with_parent += usize::from(is_cut_off);
            account.delivered_as_notes += task.notes - usize::from(task.is_read);
            account.read_by_code += usize::from(task.is_read);
            account.delivered_to_waits += task.joined;
            if parent.end != Some(EndReason::Completed) || is_cut_off {
                continue;
            }
            assert_eq!(delivered, 1, "{} never got the result of {key}", parent.key);
            let last = model.last_request(&parent.key).expect("a completed task has asked the model").text();
            let noted = last.matches(&format!("Sub-task {} has ended", id.short())).count();
            let expected = task.notes - usize::from(task.is_read);
            assert_eq!(noted, expected, "the notes of {key} that the model of {} was sent", parent.key);
            if task.end == Some(EndReason::Completed) {
                let result = crate::crowd::result(key);
                assert!(last.contains(&result), "{} has not read `{result}`: {last}", parent.key);
            }
        }
    }

    /// How many sub-tasks such calls have started.
    pub(super) fn forked_by(&self, is_such: impl Fn(CallId) -> bool) -> usize {
        self.forks.iter().filter(|(call, _)| is_such(**call)).map(|(_, forked)| forked.len()).sum()
    }

    fn node(&mut self, task: TaskId) -> &mut Node {
        self.tasks.get_mut(&task).expect("a task has begun")
    }
}
