//! The store: what is committed stays, what was not is gone with the daemon. A full disk holds what is not urgent.

use super::{
    actor::CONVERSATION,
    life::{Event, Life},
    outside,
};
use abide_engine::{Checkpoint, History, Projection, Tail, project};
use abide_protocol::{
    RecordId, TaskId,
    record::{ClientMessage, NewRecord, RecordBody},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Disk {
    pub(super) records: Vec<NewRecord>,
    /// Where a reading begins: the place of a record, and the encoded state before it.
    pub(super) checkpoint: Option<(usize, Vec<u8>)>,
    /// What clients have been told: the same records, folded.
    pub(super) told: History,
    ids: BTreeSet<RecordId>,
    /// How each task stands, as it was appended beside the records.
    pub(super) projections: BTreeMap<TaskId, Projection>,
    pub(super) client_messages: BTreeMap<String, (String, TaskId)>,
    pub(super) full: bool,
    /// Nothing can be written any more; the daemon ends.
    pub(super) broken: bool,
    /// What the writer has, in the order in which it came.
    queue: BTreeMap<u64, Append>,
    appends: u64,
}

struct Append {
    records: Vec<NewRecord>,
    tasks: Vec<Projection>,
    urgent: bool,
    /// Nobody waits for it any more.
    withdrawn: bool,
    stored: Option<Result<(), AppendError>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AppendError {
    DuplicateClientMessage,
    /// It contradicts what is stored.
    Invalid,
    /// The store takes it for a defect.
    Refused,
    /// Nothing can be written any more.
    Failed,
}

impl Disk {
    /// The task that this client message has started; an error if it was another message.
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
            self.told.fold(record);
            self.records.push(record.clone());
        }
        self.projections.extend(tasks.iter().map(|task| (task.task.id, task.clone())));
        Ok(())
    }

    /// What all the records tell.
    pub(super) fn replayed(&self) -> History {
        let mut history = History::default();
        self.records.iter().for_each(|record| history.fold(record));
        history
    }

    /// The state from the checkpoint on, and the records that it took.
    pub(super) fn read(&self) -> (History, Tail) {
        let (from, mut history) = match &self.checkpoint {
            Some((from, state)) => (*from, History::from_checkpoint(state).expect("it was encoded")),
            None => (0, History::default()),
        };
        let mut tail = Tail::default();
        for record in &self.records[from..] {
            history.fold(record);
            tail.count(&record.body);
        }
        (history, tail)
    }

    pub(super) fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        let begins = |record: &NewRecord| {
            matches!(record.body, RecordBody::TaskStarted(_)) && record.task_id == Some(checkpoint.root)
        };
        let from = self.records.iter().position(begins).expect("a checkpoint is of committed records");
        self.checkpoint = Some((from, checkpoint.encode().expect("it can be encoded")));
    }

    pub(super) fn look_back(&self) {
        assert_eq!(self.replayed(), self.told, "the records tell the state");
        assert_eq!(self.read().0, self.told, "a checkpoint and the records after it tell the state");
        for task in self.told.tasks() {
            let stored = self.projections.get(&task.id);
            assert_eq!(stored, Some(&project(CONVERSATION, task)), "a task is stored as it stands");
        }
    }

    /// The task is or was beneath another one.
    pub(super) fn is_child(&self, task: TaskId) -> bool {
        self.projections.get(&task).is_some_and(|stored| stored.task.parent_id.is_some())
    }

    /// Deletes the conversation's records.
    pub(super) fn erase(&mut self) -> u64 {
        assert!(self.told.live().next().is_none(), "what is deleted was stopped first");
        self.records.clear();
        self.checkpoint = None;
        self.projections.clear();
        self.client_messages.clear();
        self.told = History::default();
        0
    }

    /// The daemon has gone, and what it had not committed with it.
    pub(super) fn forget_uncommitted(&mut self) -> bool {
        let lost = self.queue.values().any(|append| append.stored.is_none());
        self.queue.clear();
        lost
    }
}

impl Life {
    /// Hands an append to the writer.
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
        self.disk.queue.insert(number, Append { records, tasks, urgent, withdrawn: false, stored });
        self.in_this_daemon(20, Event::Commit(number));
        number
    }

    /// The actor does not wait for it any more. It may be too late for that.
    pub(super) fn withdraw(&mut self, append: u64) {
        let too_late = self.one_in(3);
        let Some(withdrawn) = self.disk.queue.get_mut(&append) else { return };
        withdrawn.withdrawn = true;
        match withdrawn.stored {
            Some(Ok(())) => self.came_by("a withdrawn append was stored after all"),
            // Somebody may hear of it, and nobody waits for that.
            None if too_late && !self.disk.broken => {
                self.store(append);
                self.in_this_daemon(20, Event::Answer(append));
            }
            None | Some(Err(_)) => drop(self.disk.queue.remove(&append)),
        }
    }

    /// The writer commits; on a full disk only what is urgent.
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
            self.came_by("a disk that broke");
            self.commit(append);
            self.in_this_daemon(500, Event::Crash);
        } else {
            self.store(append);
            // The writer answers later; a daemon that dies in between has said nothing to who asked, and yet it is done.
            self.in_this_daemon(20, Event::Answer(append));
        }
    }

    fn store(&mut self, number: u64) {
        let append = self.disk.queue.get_mut(&number).expect("it is in the queue");
        let records = append.records.clone();
        let (tasks, withdrawn) = (append.tasks.clone(), append.withdrawn);
        self.say(|| format!("    {}", records.iter().map(outside::short).collect::<Vec<_>>().join(", ")));
        self.check_stops(&records);
        let stored = self.disk.store(&records, &tasks);
        if let Some(append) = self.disk.queue.get_mut(&number) {
            append.stored = Some(stored.clone());
        }
        match stored {
            Ok(()) => {
                self.check_causes(&records);
                let whole = self.daemon.as_ref().is_some_and(|daemon| !daemon.draining);
                self.audit.append(&records, &self.disk.told, whole);
                self.check_starts(&records);
                if records.iter().any(|record| matches!(record.body, RecordBody::ResultsDelivered(_))) {
                    self.came_by("a result delivered");
                }
            }
            Err(e) => self.came_by(&format!("{e:?}")),
        }
        if withdrawn {
            self.came_by("a withdrawn append was stored after all");
        }
    }

    /// What the writer says of it.
    pub(super) fn stored(&mut self, append: u64) -> Option<Result<(), AppendError>> {
        self.disk.queue.remove(&append)?.stored
    }

    pub(super) fn room(&mut self) {
        self.disk.full = false;
        let held: Vec<u64> = self.disk.queue.keys().copied().collect();
        for append in held {
            self.in_this_daemon(20, Event::Commit(append));
        }
    }
}
