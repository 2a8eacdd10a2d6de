//! The handle on the store.

use crate::{
    committed::{Append, Checkpoint, Committed, Sink, StorageState, TaskProjection},
    error::{AppendError, OpenError, ReadError, WriteError},
    open,
    reader::Readers,
    rule_book::RuleBook,
    rule_id::RuleId,
    work,
    writer::{self, Lane, Queue},
};
use abide_protocol::{ConversationId, RecordId, Seq, Timestamp, conversation::Conversation, record::By};
use rusqlite::Connection;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;

/// Where the database is and how it is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// Of the database file; its folder is created if it is not there.
    pub path: PathBuf,
    /// Room kept beside the database, to be released when the disk is full so that stops and answers can still be written;
    /// in bytes, 0 for none. 32 MiB is good.
    pub reserve_bytes: u64,
    /// Threads that read; at least one.
    pub readers: usize,
}

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) queue: Queue,
    pub(crate) rules: RuleBook,
    readers: Arc<Readers>,
    state: watch::Receiver<StorageState>,
}

impl Store {
    /// Opens the database at the path, creates it if there is none, and brings an older one up to date after a backup.
    /// Blocks.
    pub fn open(options: Options, sink: Sink) -> Result<Self, OpenError> {
        let Options { path, reserve_bytes, readers } = options;
        let writer_connection = open::writer(&path)?;
        let reader_connections =
            (0..readers.max(1)).map(|_| open::reader(&path)).collect::<Result<Vec<_>, _>>()?;
        let readers = Readers::start(&path, reader_connections)?;
        let rules = RuleBook::default();
        let (queue, state) = writer::start(&path, reserve_bytes, writer_connection, rules.clone(), sink)?;
        Ok(Self { queue, rules, readers: Arc::new(readers), state })
    }

    /// Stores records and what they make of the conversation and its tasks, all or nothing.
    ///
    /// While the disk is full this waits, unless the append is urgent. Dropping the future withdraws an append that waits; one
    /// that does not wait (any more) is stored all the same, so look at the records before you go on.
    pub async fn append(&self, append: Append) -> Result<Arc<Committed>, AppendError> {
        let lane = if append.urgent { Lane::Urgent } else { Lane::Ordinary };
        Ok(self.queue.run(lane, |answer| work::Append::new(append, answer)).await?)
    }

    /// Deletes a conversation's records for good, in the database and (as soon as nobody reads what was before) in its log.
    /// A tombstone is left, which gets that id.
    /// Answers with the number of records deleted. Overwriting them takes about as much room as they do, for a moment.
    pub async fn delete_conversation(
        &self,
        id: ConversationId,
        now: Timestamp,
        id_for_tombstone: RecordId,
    ) -> Result<u64, WriteError> {
        let work = |answer| work::Delete::new(id, now, id_for_tombstone, answer);
        Ok(self.queue.run(Lane::Urgent, work).await?)
    }

    /// Keeps a checkpoint in place of the conversation's earlier one. It saves time, and nothing is lost without it: on a full disk it is
    /// refused.
    ///
    /// # Errors
    /// The task is not, or no longer, in the store; or the database cannot be written.
    pub async fn keep_checkpoint(&self, checkpoint: Checkpoint) -> Result<(), WriteError> {
        let work = |answer| work::KeepCheckpoint::new(checkpoint, answer);
        Ok(self.queue.run(Lane::Ordinary, work).await?)
    }

    /// Marks messages up to and including that one as read. Marks never go back.
    pub async fn mark_read(&self, id: ConversationId, seq: Seq) -> Result<Conversation, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, |answer| work::MarkRead::new(id, seq, answer)).await?)
    }

    /// Forgets the remembered decision on that call, by a record with this id. `false`: none is remembered.
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

    /// Derives everything about a conversation anew: its tasks as given, the rest from its records. The sink hears nothing.
    /// Says whether anything was different before.
    ///
    /// For a rebuild go through [`Self::recorded_conversations`] and [`Self::conversation_records`], and fold the tasks.
    pub async fn replace_projections(
        &self,
        id: ConversationId,
        tasks: Vec<TaskProjection>,
    ) -> Result<bool, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, |answer| work::Rebuild::new(id, tasks, answer)).await?)
    }

    /// Derives the remembered decisions anew from their records. Says whether anything was different before.
    pub async fn replace_rules(&self) -> Result<bool, WriteError> {
        Ok(self.queue.run(Lane::Ordinary, work::RebuildRules::new).await?)
    }

    /// Whether there is room, now and whenever it changes.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<StorageState> {
        self.state.clone()
    }

    /// Transactions committed since the database was opened.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.queue.transactions()
    }

    /// Finishes what was asked before, empties the log into the database and ends all threads.
    /// What waits for room on a full disk is refused.
    pub async fn close(self) {
        self.readers.close().await;
        self.queue.close().await;
    }

    /// Runs queries on a reader thread, all on one state of the database.
    pub(crate) async fn read<T: Send + 'static>(
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
