//! The handle on the store.

use crate::{
    committed::{Append, Committed, HistorySnapshot, Sink, StorageState, TaskProjection},
    error::{AppendError, OpenError, ReadError, WriteError},
    open,
    reader::Readers,
    renew::Projector,
    room::Room,
    rule_book::RuleBook,
    rule_id::RuleId,
    withdrawal::WithdrawnStarts,
    work::{self, Deleted, Forgotten},
    writer::{self, Lane, Queue},
};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp, conversation::Conversation, inbox::TextRule, record::By,
};
use rusqlite::{Connection, ErrorCode};
use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;

/// The database's path, its disk reserve and its reader threads.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database file. Its folder is created if it does not exist.
    pub path: PathBuf,
    /// The size of the reserve file beside the database, 0 for none. The reserve is released when the disk is
    /// full, so that stops and answers can still be committed. 32 MiB is enough.
    pub reserve_bytes: u64,
    /// The number of reader threads; at least one is started.
    pub readers: usize,
}

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) queue: Queue,
    pub(crate) rules: RuleBook,
    readers: Arc<Readers>,
    state: watch::Receiver<StorageState>,
    pub(crate) withdrawn: WithdrawnStarts,
    needs: Room,
}

impl Store {
    /// Opens the database at the path, or creates it. A database of an older schema is backed up and
    /// migrated. Blocks.
    pub fn open(options: Options, sink: Sink) -> Result<Self, OpenError> {
        Self::open_with(options, sink, None)
    }

    /// As [`Self::open`], but if damage outside of records is found, now or later, the database is made anew
    /// from its records.
    pub fn open_repairing(options: Options, sink: Sink, project: Projector) -> Result<Self, OpenError> {
        Self::open_with(options, sink, Some(project))
    }

    fn open_with(options: Options, sink: Sink, project: Option<Projector>) -> Result<Self, OpenError> {
        let Options { path, reserve_bytes, readers } = options;
        let writer_connection = open::writer(&path)?;
        let reader_connections =
            (0..readers.max(1)).map(|_| open::reader(&path)).collect::<Result<Vec<_>, _>>()?;
        let readers = Readers::start(&path, reader_connections)?;
        let needs = Room::of(&path, reserve_bytes);
        let rules = RuleBook::default();
        let (queue, state) =
            writer::start(&path, reserve_bytes, writer_connection, rules.clone(), sink, project)?;
        Ok(Self {
            queue,
            rules,
            readers: Arc::new(readers),
            state,
            withdrawn: WithdrawnStarts::default(),
            needs,
        })
    }

    /// Commits records and the projections that they change, all or nothing.
    ///
    /// On a full disk the append waits for room, unless it is urgent. An append that starts a root task or
    /// creates a conversation is refused there. Dropping the future withdraws a waiting append, but an append
    /// that no longer waits is committed. So after a withdrawal the records have to be read again.
    pub async fn append(&self, append: Append) -> Result<Arc<Committed>, AppendError> {
        let lane = if append.urgent { Lane::Urgent } else { Lane::Ordinary };
        Ok(self.queue.run(lane, |answer| work::Append::new(append, self.withdrawn.clone(), answer)).await?)
    }

    /// Deletes a conversation's records for good: in the database, and in its log as soon as no reader uses
    /// an older state. A tombstone with the given id is left.
    ///
    /// What other conversations have recalled of it is taken out of their records.
    ///
    /// Overwriting the records takes about as much disk space as the records, for a short time.
    pub async fn delete_conversation(
        &self,
        id: ConversationId,
        now: Timestamp,
        id_for_tombstone: RecordId,
    ) -> Result<Deleted, WriteError> {
        let work = |answer| work::Delete::new(id, now, id_for_tombstone, answer);
        Ok(self.queue.run(Lane::Urgent, work).await?)
    }

    /// Makes a person's note for a workspace, or for all, by a record with the given id. Returns its seq.
    pub async fn add_note(
        &self,
        text: String,
        workspace: Option<String>,
        by: By,
        now: Timestamp,
        id: RecordId,
    ) -> Result<Seq, WriteError> {
        let work = |answer| work::AddNote::new((text, workspace), by, now, id, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Takes what a record says out of the memory, by a record with the given id, and out of what tasks have
    /// recalled of it. Without passages of it, nothing is done.
    pub async fn forget(
        &self,
        seq: Seq,
        by: By,
        now: Timestamp,
        id: RecordId,
    ) -> Result<Forgotten, WriteError> {
        let work = |answer| work::Forget::new(seq, by, now, id, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Keeps a snapshot of a conversation's history in place of the earlier one. A full disk refuses the
    /// snapshot, which only saves time.
    ///
    /// # Errors
    /// The task is not, or no longer, in the store; or the database cannot be written.
    pub async fn keep_history_snapshot(&self, snapshot: HistorySnapshot) -> Result<(), WriteError> {
        let work = |answer| work::KeepHistorySnapshot::new(snapshot, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Marks the messages up to and including `seq` as read. The mark never moves back.
    pub async fn mark_read(&self, id: ConversationId, seq: Seq) -> Result<Conversation, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, |answer| work::MarkRead::new(id, seq, answer)).await?)
    }

    /// Remembers a rule for a workspace, by a record with the given id. Returns the rule's id.
    pub async fn add_rule(
        &self,
        rule: TextRule,
        by: By,
        now: Timestamp,
        id: RecordId,
    ) -> Result<RuleId, WriteError> {
        let work = |answer| work::AddRule::new(rule, by, now, id, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Forgets the remembered decision on a call, by a record with the given id. `false`: no decision is
    /// remembered.
    pub async fn forget_rule(
        &self,
        rule: RuleId,
        by: By,
        now: Timestamp,
        id: RecordId,
    ) -> Result<bool, WriteError> {
        let work = |answer| work::ForgetRule::new(rule, by, now, id, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Rebuilds all projections of a conversation: its tasks as given, all others from its records. Nothing
    /// is published. Returns whether any projection was different.
    ///
    /// The caller folds the tasks from [`Self::conversation_records`], for each of
    /// [`Self::recorded_conversations`].
    pub async fn replace_projections(
        &self,
        id: ConversationId,
        tasks: Vec<TaskProjection>,
    ) -> Result<bool, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, |answer| work::Rebuild::new(id, tasks, answer)).await?)
    }

    /// Makes the whole database anew from its records. If a record cannot be read, nothing is changed.
    pub async fn repair(&self) -> Result<(), WriteError> {
        Ok(self.queue.run(Lane::Ordinary, work::Repair::new).await?)
    }

    /// Rebuilds the remembered decisions from their records. Returns whether any was different.
    pub async fn replace_rules(&self) -> Result<bool, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, work::RebuildRules::new).await?)
    }

    /// The room that is needed if the disk is full now. `None`: the disk is not full.
    #[must_use]
    pub fn lacks_room(&self) -> Option<Room> {
        self.state.borrow().full.then(|| self.needs.clone())
    }

    /// Watches whether the disk is full.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<StorageState> {
        self.state.clone()
    }

    /// The number of transactions committed since the database was opened.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.queue.transactions()
    }

    /// Finishes the queued work, writes the log into the database, and ends all threads. Appends that wait
    /// for room on a full disk are refused.
    pub async fn close(self) {
        self.readers.close().await;
        self.queue.close().await;
    }

    /// Runs queries on a reader thread, within one read transaction. If the queries meet a damaged page, the
    /// database is repaired and the queries run again.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Clone + Send + 'static,
    ) -> Result<T, ReadError> {
        match self.read_once(query.clone()).await {
            Err(ReadError::Sqlite(error)) if is_damage(&error) && self.repair().await.is_ok() => {
                self.read_once(query).await
            }
            read => read,
        }
    }

    /// The same, without a repair.
    pub(crate) async fn read_once<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        self.readers
            .run(|connection| {
                let transaction = connection.transaction()?;
                query(&transaction)
            })
            .await
    }

    /// Runs something that cannot be inside a transaction, or needs none.
    pub(crate) async fn read_outside<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        self.readers.run(query).await
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}
