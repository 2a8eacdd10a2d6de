//! A root task and all tasks beneath it, as recorded.

use super::run::Run;
use abide_engine::{History, Task};
use abide_protocol::{
    CallId, TaskId,
    message::CallOutcome,
    record::{Interruption, Joining, NewRecord, RecordBody, Restarted, TaskStarted},
    task::PauseReason,
    transcript::Entry,
};
use std::collections::{BTreeMap, BTreeSet};

/// Daemon deaths in a row without progress after which a tree is paused.
const CRASH_LOOP: u32 = 3;

#[derive(Default)]
pub(super) struct Tree {
    root: Option<TaskId>,
    /// The parent of each task but the root.
    parents: BTreeMap<TaskId, TaskId>,
    children: BTreeMap<TaskId, Vec<TaskId>>,
    depths: BTreeMap<TaskId, u32>,
    /// The sub-task of each fork: of a call, by its number.
    forks: BTreeMap<(CallId, u32), TaskId>,
    live: BTreeSet<TaskId>,
    runs: BTreeMap<TaskId, Run>,
    /// The sub-tasks of a task whose notes its model has not been sent yet.
    unsent: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// The sub-tasks whose results code has read before their notes were sent.
    read: BTreeSet<TaskId>,
    /// The call of a task that waits for sub-tasks.
    joins: BTreeMap<TaskId, Joining>,
    /// Daemon deaths in a row without progress.
    deaths: u32,
    append: Append,
}

/// Facts about the append being checked.
#[derive(Default)]
struct Append {
    at_work: BTreeSet<TaskId>,
    was_paused: bool,
    ended: Vec<TaskId>,
    delivered: Vec<TaskId>,
    /// Ended tasks for which a call of their parent waits.
    joined: Vec<TaskId>,
    restarted: BTreeSet<TaskId>,
    /// It has reached [`CRASH_LOOP`].
    tired: bool,
    /// It is paused for that. (On a full disk, a person's `Resume` may be in the same append.)
    pauses: bool,
}

impl Tree {
    pub(super) fn begin_append(&mut self, at_work: BTreeSet<TaskId>) {
        let was_paused = self.root.is_some_and(|root| self.runs[&root].is_paused());
        self.append = Append { at_work, was_paused, ..Append::default() };
        self.runs.values_mut().for_each(Run::begin_append);
    }

    pub(super) fn record(&mut self, record: &NewRecord) {
        let Some(task) = record.task_id else { return };
        if let RecordBody::TaskStarted(head) = &record.body {
            return self.start(task, head);
        }
        match &record.body {
            RecordBody::TaskEnded(_) => self.end(task),
            RecordBody::ResultsDelivered(delivered) => {
                assert!(self.live.contains(&task), "a result is delivered to a live task");
                for child in &delivered.tasks {
                    assert_eq!(self.parents.get(child), Some(&task), "a result is delivered to the parent");
                }
                self.append.delivered.extend(&delivered.tasks);
                self.unsent.entry(task).or_default().extend(&delivered.tasks);
            }
            RecordBody::ModelRequested(_) | RecordBody::CallStarted(_) => {
                assert!(!self.is_held(task), "nothing starts beneath a paused task");
                if matches!(&record.body, RecordBody::ModelRequested(_)) {
                    self.unsent.remove(&task);
                }
                if matches!(&record.body, RecordBody::ModelRequested(r) if r.attempt == 1) {
                    self.check_budget();
                }
            }
            RecordBody::Joining(joining) => {
                let mut children = joining.tasks.iter();
                assert!(
                    children.all(|child| self.parents.get(child) == Some(&task)),
                    "a task waits for its own sub-tasks"
                );
                assert!(
                    joining.tasks.iter().any(|child| self.live.contains(child)),
                    "it waits for one at work"
                );
                self.joins.insert(task, joining.clone());
            }
            RecordBody::CallFinished(f)
                if self.joins.get(&task).is_some_and(|join| join.call_id == f.call_id) =>
            {
                let join = self.joins.remove(&task).expect("it waits");
                if f.outcome == CallOutcome::Done {
                    self.deaths = 0;
                    let text = f.result.text();
                    let ended = join.tasks.iter().filter(|child| !self.live.contains(child)).count();
                    let is_interrupted = text.starts_with("Interrupted by the user.");
                    assert!(is_interrupted || ended == join.tasks.len(), "all that it waits for have ended");
                    assert_eq!(
                        text.matches("\"endReason\":").count(),
                        ended,
                        "the results of those that have ended"
                    );
                    assert!(
                        join.tasks.iter().all(|child| text.contains(&child.short())),
                        "a result of each: {text}"
                    );
                }
            }
            RecordBody::CallFinished(f) if f.outcome == CallOutcome::Interrupted => {
                let text = f.result.text();
                let mut forked = self.forks.range((f.call_id, 0)..=(f.call_id, u32::MAX));
                assert!(forked.all(|(_, child)| text.contains(&child.short())), "it names its forks: {text}");
            }
            RecordBody::Restarted(restarted) => self.restarted(task, record, restarted),
            RecordBody::Paused(p) => self.append.pauses |= p.reason == PauseReason::CrashLoop,
            RecordBody::Reply(_)
            | RecordBody::ApprovalDecided(_)
            | RecordBody::QuestionAnswered(_)
            | RecordBody::Resumed(_) => self.deaths = 0,
            RecordBody::CallFinished(f) if f.outcome == CallOutcome::Done => {
                self.deaths = 0;
                for child in &f.read_results {
                    assert_eq!(
                        self.parents.get(child),
                        Some(&task),
                        "code reads results of its own sub-tasks"
                    );
                    assert!(f.result.ok && !self.live.contains(child), "code has read a result");
                    if self.unsent.get_mut(&task).is_some_and(|unsent| unsent.remove(child)) {
                        self.read.insert(*child);
                    }
                }
            }
            _ => {}
        }
        if let RecordBody::ClockMoved(moved) = &record.body {
            self.runs.values_mut().for_each(|run| run.clock_moved(*moved));
        }
        self.runs.get_mut(&task).expect("a record is of a task of the tree").record(record);
    }

    fn start(&mut self, task: TaskId, head: &TaskStarted) {
        let (depth, mut before) = (head.depth, 0);
        if let Some(parent) = head.parent_id {
            assert!(self.live.contains(&parent), "a task is started beneath a live one");
            assert_eq!(depth, self.depths[&parent] + 1);
            self.parents.insert(task, parent);
            self.children.entry(parent).or_default().push(task);
            if let Some(by) = head.forked_by {
                assert!(self.runs[&parent].may_fork(by.call_id), "a call forks that does not run: {by:?}");
                let first = self.forks.insert((by.call_id, by.index), task);
                assert_eq!(first, None, "a fork starts one sub-task: {by:?}");
                let (limits, siblings) = (*self.runs[&parent].limits(), &self.children[&parent]);
                let live = siblings.iter().filter(|child| self.live.contains(child)).count();
                let is_within = |count: usize, most: u32| most == 0 || count <= most as usize;
                assert!(is_within(live + 1, limits.max_children), "too many sub-tasks at work");
                assert!(is_within(depth as usize, limits.max_depth), "too deep");
                assert!(is_within(self.runs.len() + 1, limits.max_tasks), "too many tasks");
            }
        } else {
            assert!(self.live.is_empty(), "one root task at a time");
            assert_eq!(depth, 0);
            before = self.root.map_or(0, |root| self.runs[&root].replies());
            *self = Self { root: Some(task), append: std::mem::take(&mut self.append), ..Self::default() };
        }
        self.depths.insert(task, depth);
        self.live.insert(task);
        self.runs.insert(task, Run::new(head.clone(), before));
    }

    /// The root's limit is that of the whole tree.
    fn check_budget(&self) {
        let Some(root) = self.root.map(|root| &self.runs[&root]) else { return };
        let (spent, limit) = (self.runs.values().map(Run::tokens).sum::<u64>(), root.limits().max_tokens);
        assert!(limit == 0 || spent < limit, "a request without the tokens for it");
    }

    fn end(&mut self, task: TaskId) {
        let beneath = self.live.iter().find(|other| self.ancestors(**other).any(|above| above == task));
        assert_eq!(beneath, None, "a task ends before all that is beneath it has ended");
        assert!(self.live.remove(&task), "a live task ends");
        let join = self.parents.get(&task).and_then(|parent| self.joins.get(parent));
        if join.is_some_and(|join| join.tasks.contains(&task)) {
            self.append.joined.push(task);
        }
        self.append.ended.push(task);
    }

    /// All tasks that were at work are restarted, and the root, which keeps the count.
    fn restarted(&mut self, task: TaskId, record: &NewRecord, restarted: &Restarted) {
        let append = &mut self.append;
        if append.restarted.is_empty() && restarted.cause == Interruption::DaemonRestarted {
            let at_fault = |task: &TaskId| !self.runs[task].backs_off(record.at);
            self.deaths += u32::from(append.at_work.iter().any(at_fault));
            append.tired = !append.was_paused && self.deaths >= CRASH_LOOP;
        }
        append.restarted.insert(task);
        assert_eq!(restarted.without_progress, self.deaths, "deaths without progress are counted");
    }

    pub(super) fn end_append(&self) {
        self.runs.values().for_each(Run::end_append);
        let append = &self.append;
        for task in &append.ended {
            let tells = self.parents.get(task).is_some_and(|parent| self.live.contains(parent));
            let told = append.delivered.iter().filter(|delivered| *delivered == task).count();
            // On a full disk, a person's stop of the parent may be in the same append.
            let is_awaited = self.append.joined.contains(task);
            assert!(
                told == usize::from(!is_awaited) || (told == 0 && !tells),
                "the result of {task} is delivered {told} times"
            );
        }
        let late = self.joins.values().find(|join| join.tasks.iter().all(|child| !self.live.contains(child)));
        assert_eq!(late, None, "a call gets its results in the append of the last end");
        let early = append.delivered.iter().find(|task| !append.ended.contains(task));
        assert_eq!(early, None, "a result is delivered only in the append of the end");
        let orphan =
            self.live.iter().find(|task| self.ancestors(**task).any(|above| !self.live.contains(&above)));
        assert_eq!(orphan, None, "no task lives beneath an ended one");
        if !append.restarted.is_empty() {
            let expected = append.at_work.iter().copied().chain(self.root).collect();
            assert_eq!(append.restarted, expected, "the tasks at work are restarted, and the root");
            let goes_on = self.root.is_some_and(|root| self.live.contains(&root));
            assert!(!goes_on || append.tired == append.pauses, "a tree in a crash loop is paused");
        }
    }

    /// Checks each task's state against its records.
    pub(super) fn check(&self, history: &History) {
        for task in history.tasks() {
            let run = &self.runs[&task.id];
            run.is_frozen(task);
            assert_eq!(task.has_ended(), !self.live.contains(&task.id));
            let held = !task.has_ended() && self.is_held(task.id);
            assert_eq!(task.held.is_some(), held, "a task is held by an ancestor");
            let children = self.children.get(&task.id).map(Vec::as_slice).unwrap_or_default();
            assert_eq!(task.children, children);
        }
        assert_eq!(history.tasks().len(), self.runs.len(), "the history has every task of the tree");
    }

    /// Checks that the transcript is the task's own, and that an ended sub-task has none.
    pub(super) fn check_transcript(&self, task: &Task) {
        if task.has_ended() && task.head.parent_id.is_some() {
            assert_eq!(task.entries(), []);
        } else {
            self.runs[&task.id].is_own(task.entries());
            for child in task.children.iter().filter(|child| self.read.contains(child)) {
                let beginning = format!("Sub-task {} has ended", child.short());
                let is_noted =
                    |entry: &Entry| matches!(entry, Entry::Note(text) if text.starts_with(&beginning));
                assert!(!task.entries().iter().any(is_noted), "code has read it, and it is sent as a note");
            }
        }
    }

    fn is_held(&self, task: TaskId) -> bool {
        self.ancestors(task).any(|above| self.runs[&above].holds())
    }

    fn ancestors(&self, task: TaskId) -> impl Iterator<Item = TaskId> {
        std::iter::successors(self.parents.get(&task), |task| self.parents.get(task)).copied()
    }
}
