//! The simulated store: committed appends survive every daemon, others are lost with theirs. On a full disk
//! only urgent appends commit.

use super::{
    actor::CONVERSATION,
    life::{Event, Life},
    outside,
};
use abide_engine::{History, HistorySnapshot, Projection, Tail, project};
use abide_protocol::{
    RecordId, TaskId,
    record::{ClientMessage, Intervener, ModelErrorKind, NewRecord, RecordBody},
    task::Mode,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Disk {
    pub(super) records: Vec<NewRecord>,
    /// Where a load begins: the index of a record, and the encoded state before it.
    pub(super) snapshot: Option<(usize, Vec<u8>)>,
    /// The committed records, folded: the state that clients know.
    pub(super) published: History,
    ids: BTreeSet<RecordId>,
    /// The projection of each task, as committed with the records.
    pub(super) projections: BTreeMap<TaskId, Projection>,
    pub(super) client_messages: BTreeMap<String, (String, TaskId)>,
    pub(super) full: bool,
    /// Every write fails, and the daemon ends.
    pub(super) broken: bool,
    /// The writer's queue, in the order in which the appends came.
    queue: BTreeMap<u64, Append>,
    appends: u64,
}

struct Append {
    records: Vec<NewRecord>,
    tasks: Vec<Projection>,
    urgent: bool,
    /// The tasks' next actions are in it.
    acts: bool,
    /// The actor no longer waits for it.
    withdrawn: bool,
    stored: Option<Result<(), AppendError>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AppendError {
    DuplicateClientMessage,
    /// It contradicts stored records.
    Invalid,
    /// The store refuses it as a defect.
    Refused,
    /// The disk is broken.
    Failed,
}

impl Disk {
    /// The task that this client message has started; an error if the id was used with another digest.
    pub(super) fn started(&self, message: &ClientMessage) -> Option<Result<TaskId, ()>> {
        let (digest, task) = self.client_messages.get(&message.id)?;
        Some(if *digest == message.digest { Ok(*task) } else { Err(()) })
    }

    fn store(&mut self, records: &[NewRecord], tasks: &[Projection]) -> Result<(), AppendError> {
        if records.iter().any(|record| self.ids.contains(&record.id)) {
            return Err(AppendError::Invalid);
        }
        for record in records {
            let RecordBody::TaskStarted(head) = &record.body else { continue };
            let (Some(message), Some(task)) = (&head.client_message, record.task_id) else { continue };
            if self.client_messages.contains_key(&message.id) {
                return Err(AppendError::DuplicateClientMessage);
            }
            self.client_messages.insert(message.id.clone(), (message.digest.clone(), task));
        }
        for record in records {
            assert!(self.ids.insert(record.id), "no two records have one id");
            self.published.fold(record);
            self.records.push(record.clone());
        }
        self.projections.extend(tasks.iter().map(|task| (task.task.id, task.clone())));
        Ok(())
    }

    /// All committed records, folded again.
    pub(super) fn replay(&self) -> History {
        let mut history = History::default();
        self.records.iter().for_each(|record| history.fold(record));
        history
    }

    /// The history, folded from the snapshot on, and a count of the folded records.
    pub(super) fn read(&self) -> (History, Tail) {
        let (from, mut history) = match &self.snapshot {
            Some((from, state)) => (*from, History::from_snapshot(state).expect("it was encoded")),
            None => (0, History::default()),
        };
        let mut tail = Tail::default();
        for record in &self.records[from..] {
            history.fold(record);
            tail.count(&record.body);
        }
        (history, tail)
    }

    pub(super) fn keep_snapshot(&mut self, snapshot: &HistorySnapshot) {
        let begins = |record: &NewRecord| {
            matches!(record.body, RecordBody::TaskStarted(_)) && record.task_id == Some(snapshot.root)
        };
        let from = self.records.iter().position(begins).expect("a snapshot is of committed records");
        self.snapshot = Some((from, snapshot.encode().expect("it can be encoded")));
    }

    pub(super) fn check_at_end(&self) {
        assert_eq!(self.replay(), self.published, "the records fold to the published state");
        assert_eq!(
            self.read().0,
            self.published,
            "a snapshot and the records after it fold to the same state"
        );
        for task in self.published.tasks() {
            let stored = self.projections.get(&task.id);
            assert_eq!(
                stored,
                Some(&project(CONVERSATION, &self.published, task)),
                "the stored projection is that of the task's state"
            );
        }
    }

    /// Whether the task is a sub-task.
    pub(super) fn is_sub_task(&self, task: TaskId) -> bool {
        self.projections.get(&task).is_some_and(|stored| stored.task.parent_id.is_some())
    }

    /// Deletes the conversation's records.
    pub(super) fn erase(&mut self) -> u64 {
        assert!(self.published.live().next().is_none(), "all tasks have ended before a deletion");
        self.records.clear();
        self.snapshot = None;
        self.projections.clear();
        self.client_messages.clear();
        self.published = History::default();
        0
    }

    /// Empties the queue of a daemon that has died. Returns the appends in it that were not committed.
    pub(super) fn take_uncommitted(&mut self) -> Vec<Vec<NewRecord>> {
        let queue = std::mem::take(&mut self.queue).into_values();
        queue.filter(|append| append.stored.is_none()).map(|append| append.records).collect()
    }
}

impl Life {
    /// Queues an append for the writer.
    pub(super) fn append(
        &mut self,
        records: Vec<NewRecord>,
        tasks: Vec<Projection>,
        urgent: bool,
        may_fail: bool,
    ) -> u64 {
        self.disk.appends += 1;
        let number = self.disk.appends;
        let fails = may_fail && self.one_in(self.nature.refusals);
        let stored = fails.then_some(Err(AppendError::Refused));
        let acts = self.actor().is_none_or(super::actor::Actor::takes_acts);
        self.disk.queue.insert(number, Append { records, tasks, urgent, acts, withdrawn: false, stored });
        // While a slow commit is under way, outcomes come together.
        let within = self.pick(&[20, 20, 20, 200]);
        self.in_this_daemon(within, Event::Commit(number));
        number
    }

    /// Withdraws an append. It may have committed already, or still commit.
    pub(super) fn withdraw(&mut self, append: u64) {
        let too_late = self.one_in(3);
        let Some(withdrawn) = self.disk.queue.get_mut(&append) else { return };
        withdrawn.withdrawn = true;
        let acts = withdrawn.acts;
        match withdrawn.stored {
            Some(Ok(())) => self.cover("a withdrawn append that committed"),
            // The actor ignores the answer.
            None if too_late && !self.disk.broken => {
                self.store(append);
                self.in_this_daemon(20, Event::Answer(append));
            }
            None | Some(Err(_)) => drop(self.disk.queue.remove(&append)),
        }
        self.running_actor().withdrew(acts);
    }

    /// The writer commits an append; on a full disk only an urgent one.
    pub(super) fn commit(&mut self, append: u64) {
        let held = self.disk.full;
        let Some(queued) = self.disk.queue.get_mut(&append).filter(|a| a.urgent || !held) else { return };
        if self.disk.broken {
            queued.stored.get_or_insert(Err(AppendError::Failed));
        }
        if queued.stored.is_some() {
            if !queued.withdrawn {
                self.in_this_daemon(20, Event::Answer(append));
            }
        } else if self.one_in(self.nature.broken_disks) {
            self.disk.broken = true;
            self.cover("a disk that broke");
            self.commit(append);
            self.in_this_daemon(500, Event::Crash);
        } else {
            self.store(append);
            // The writer answers later. If the daemon dies in between, the append is committed and the client
            // has no reply.
            self.in_this_daemon(20, Event::Answer(append));
        }
    }

    fn store(&mut self, number: u64) {
        let append = self.disk.queue.get_mut(&number).expect("it is in the queue");
        let records = append.records.clone();
        let (tasks, acts, withdrawn) = (append.tasks.clone(), append.acts, append.withdrawn);
        self.log(|| format!("    {}", records.iter().map(outside::short).collect::<Vec<_>>().join(", ")));
        self.check_stops(&records);
        let stored = self.disk.store(&records, &tasks);
        if let Some(append) = self.disk.queue.get_mut(&number) {
            append.stored = Some(stored.clone());
        }
        match stored {
            Ok(()) => {
                self.check_causes(&records);
                // After a move of the clock comes the message that was to be handled.
                let is_clock = |record: &NewRecord| matches!(record.body, RecordBody::ClockMoved(_));
                let acts = acts && !records.iter().all(is_clock);
                let whole = acts && self.daemon.as_ref().is_some_and(|daemon| !daemon.draining);
                self.audit.append(&records, &self.disk.published, whole);
                self.check_starts(&records);
                records.iter().for_each(|record| self.cover_record(record));
                self.cover_compactions(&records);
            }
            Err(e) => self.cover(&format!("{e:?}")),
        }
        if withdrawn {
            self.cover("a withdrawn append that committed");
        }
    }

    fn cover_record(&mut self, record: &NewRecord) {
        let mode = record.task_id.and_then(|id| self.disk.published.task(id)).map(|task| task.head.mode);
        match &record.body {
            RecordBody::ResultsDelivered(_) => self.cover("a result delivered"),
            RecordBody::TaskStarted(head) if head.forked_by.is_some() => self.cover_fork(head),
            RecordBody::Intervened(intervened) => {
                let Intervener::Task(from) = intervened.by else { return };
                let from_child =
                    self.disk.published.task(from).is_some_and(|task| task.head.parent_id == record.task_id);
                self.cover(if from_child { "a message to a parent" } else { "a message to a sub-task" });
            }
            RecordBody::Nudge(nudge) if nudge.names_children => {
                self.cover(&format!("{:?}: kept from its end by sub-tasks", mode.expect("of a task")));
            }
            RecordBody::CallFinished(f) => {
                if !f.read_results.is_empty() {
                    self.cover("a result read by code");
                }
                let text = f.result.text();
                for (part, goal) in [
                    ("No sub-task was started: ", "a fork over a cap"),
                    ("sub-tasks are still at work", "an end refused because of sub-tasks"),
                    ("\"endReason\":", "a result of a wait"),
                    ("It had started sub-tasks: ", "sub-tasks named by an interrupted call"),
                ] {
                    if text.contains(part) {
                        self.cover(goal);
                    }
                }
            }
            RecordBody::PhaseBegan(began) if began.asks => self.cover(&format!("{:?}", began.phase)),
            RecordBody::PhaseBegan(_) => self.cover("a phase without a model call"),
            RecordBody::Reply(reply) if !reply.calls.is_empty() => self.cover("calls read in a text"),
            RecordBody::AgentMessage(_) => self.cover("an answer as a message"),
            RecordBody::Imported(_) => self.cover("an imported message"),
            RecordBody::Recalled(_) => self.cover("a recall"),
            RecordBody::TaskEnded(end) => {
                if let Some(mode @ (Mode::Auto | Mode::Roa | Mode::Plan | Mode::Tree)) = mode {
                    self.cover(&format!("{mode:?}: {:?}", end.reason));
                }
            }
            _ => {}
        }
    }

    fn cover_compactions(&mut self, records: &[NewRecord]) {
        let is_overflow = |body: &RecordBody| matches!(body, RecordBody::ModelFailed(f) if f.kind == ModelErrorKind::ContextOverflow);
        for record in records {
            let RecordBody::Compacted(compacted) = &record.body else { continue };
            let overflow =
                records.iter().any(|other| other.task_id == record.task_id && is_overflow(&other.body));
            let when = if overflow { "after an overflow" } else { "before a step" };
            let mode = record.task_id.and_then(|id| self.disk.published.task(id)).map(|task| task.head.mode);
            match mode {
                Some(mode) if !compacted.steps.is_empty() => {
                    self.cover(&format!("steps shortened {when}: {mode:?}"));
                }
                _ => self.cover(&format!("outputs left out {when}")),
            }
        }
    }

    /// The writer's answer to an append, taken out of the queue.
    pub(super) fn stored(&mut self, append: u64) -> Option<Result<(), AppendError>> {
        self.disk.queue.remove(&append)?.stored
    }

    pub(super) fn free_disk(&mut self) {
        self.disk.full = false;
        let held: Vec<u64> = self.disk.queue.keys().copied().collect();
        for append in held {
            self.in_this_daemon(20, Event::Commit(append));
        }
    }
}
