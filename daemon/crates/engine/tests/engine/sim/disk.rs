//! The store: what is committed stays, what was not is gone with the daemon. A full disk holds what is not urgent.

use super::{
    life::{Event, Life},
    outside,
};
use abide_engine::History;
use abide_protocol::{
    RecordId, TaskId,
    record::{ClientMessage, NewRecord, RecordBody},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Disk {
    pub(super) records: Vec<NewRecord>,
    /// What clients have been told: the same records, folded.
    pub(super) told: History,
    ids: BTreeSet<RecordId>,
    pub(super) client_messages: BTreeMap<String, (String, TaskId)>,
    pub(super) full: bool,
    /// What the writer has, in the order in which it came.
    queue: BTreeMap<u64, Append>,
    appends: u64,
}

struct Append {
    records: Vec<NewRecord>,
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
}

impl Disk {
    /// The task that this client message has started; an error if it was another message.
    pub(super) fn started(&self, message: &ClientMessage) -> Option<Result<TaskId, ()>> {
        let (digest, task) = self.client_messages.get(&message.id)?;
        Some(if *digest == message.digest { Ok(*task) } else { Err(()) })
    }

    fn store(&mut self, records: &[NewRecord]) -> Result<(), AppendError> {
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
        Ok(())
    }

    /// What all the records tell.
    pub(super) fn replayed(&self) -> History {
        let mut history = History::default();
        self.records.iter().for_each(|record| history.fold(record));
        history
    }

    pub(super) fn look_back(&self) {
        assert_eq!(self.replayed(), self.told, "the records tell the state");
    }

    /// The daemon has gone, and what it had not committed with it.
    pub(super) fn forget_uncommitted(&mut self) -> bool {
        let lost = self.queue.values().any(|append| append.stored.is_none());
        self.queue.clear();
        lost
    }

    pub(super) fn is_on_disk(&self, append: u64) -> bool {
        self.queue.get(&append).is_some_and(|append| append.stored.is_some())
    }
}

impl Life {
    /// Hands an append to the writer.
    pub(super) fn append(&mut self, records: Vec<NewRecord>, urgent: bool) -> u64 {
        self.disk.appends += 1;
        let number = self.disk.appends;
        self.disk.queue.insert(number, Append { records, urgent, withdrawn: false, stored: None });
        self.in_this_daemon(20, Event::Commit(number));
        number
    }

    /// The actor does not wait for it any more. It may be too late for that.
    pub(super) fn withdraw(&mut self, append: u64) {
        let too_late = self.one_in(3);
        if too_late {
            self.disk.queue.get_mut(&append).expect("it is in the queue").withdrawn = true;
            self.store(append);
        } else {
            self.disk.queue.remove(&append);
        }
    }

    /// The writer commits; on a full disk only what is urgent.
    pub(super) fn commit(&mut self, append: u64) {
        let held = self.disk.full;
        if self.disk.queue.get(&append).is_some_and(|a| a.stored.is_none() && (a.urgent || !held)) {
            self.store(append);
            // The writer answers later; a daemon that dies in between has said nothing to who asked, and yet it is done.
            self.in_this_daemon(20, Event::Answer(append));
        }
    }

    fn store(&mut self, number: u64) {
        let append = self.disk.queue.get_mut(&number).expect("it is in the queue");
        let records = append.records.clone();
        let withdrawn = append.withdrawn;
        let stored = self.disk.store(&records);
        if let Some(append) = self.disk.queue.get_mut(&number) {
            append.stored = Some(stored.clone());
        }
        self.say(|| format!("    {}", records.iter().map(outside::short).collect::<Vec<_>>().join(", ")));
        match stored {
            Ok(()) => {
                let whole = self.daemon.as_ref().is_some_and(|daemon| !daemon.draining);
                self.audit.append(&records, &self.disk.told, whole);
                self.check_starts(&records);
            }
            Err(e) => self.came_by(&format!("{e:?}")),
        }
        if withdrawn {
            self.came_by("a withdrawn append was stored after all");
            self.disk.queue.remove(&number);
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
