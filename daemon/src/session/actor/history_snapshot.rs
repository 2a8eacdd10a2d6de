//! Reads a conversation from its snapshot on, and keeps snapshots.

use super::Actor;
use abide_engine::{History, HistorySnapshot, Tail};
use abide_protocol::{ConversationId, record::Record};
use abide_store::{ReadError, Store};

/// A snapshot is kept when it saves the next reading this many records: they take about 7 ms to fold.
pub(super) const SPACING: usize = 2000;

/// The conversation's state, and the records that it took to fold.
pub(in crate::session) async fn load(
    store: &Store,
    id: ConversationId,
) -> Result<(History, Tail), ReadError> {
    let resume = move |form: u32, body: &[u8]| {
        if form != HistorySnapshot::FORM {
            return None;
        }
        let read = History::from_snapshot(body);
        let read = read
            .inspect_err(|error| tracing::error!(conversation = %id, "a snapshot cannot be read: {error}"));
        Some((read.ok()?, Tail::default()))
    };
    let fold = |(history, tail): &mut (History, Tail), record: &Record| {
        history.see(record);
        tail.count(&record.body);
    };
    store.fold_records(id, resume, fold).await
}

impl Actor {
    /// Keeps it while the actor goes on. Whether that succeeds changes only how long the next reading takes.
    pub(super) fn keep_history_snapshot(&self, snapshot: HistorySnapshot) {
        let (id, store) = (self.id, self.sessions.inner.store.clone());
        self.sessions.inner.supervisor.spawn("history snapshot", async move {
            let task_id = snapshot.root;
            let encoded = tokio::task::spawn_blocking(move || snapshot.encode()).await;
            let kept = async {
                let body = encoded??;
                let form = HistorySnapshot::FORM;
                store
                    .keep_history_snapshot(abide_store::HistorySnapshot {
                        conversation_id: id,
                        task_id,
                        form,
                        body,
                    })
                    .await?;
                anyhow::Ok(())
            };
            if let Err(error) = kept.await {
                tracing::debug!(conversation = %id, "a snapshot was not kept: {error}");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::{CONVERSATION, facts, head, open, sessions};
    use abide_engine::{Command, Mint, Start, handle};
    use abide_protocol::{
        RecordId, TaskId, Timestamp,
        record::{ConversationUpdated, NewRecord, RecordBody},
    };
    use abide_store::Append;
    use tempfile::TempDir;
    use uuid::Uuid;

    /// A task that ended, as many other records as a snapshot has to save, and another task.
    fn long_conversation() -> Vec<NewRecord> {
        let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
        let mut records = Vec::new();
        for task in [1, 2].map(|n| TaskId(Uuid::from_u128(n))) {
            let start = Start {
                task,
                conversation: Some(facts()),
                head: head(""),
                imported: Vec::new(),
                recalled: None,
                setup: None,
            };
            records.extend(handle(&mut history, Command::Start(Box::new(start)), &mut mint).unwrap());
            records.extend(handle(&mut history, Command::Pause { task }, &mut mint).unwrap());
            if task.0.as_u128() == 1 {
                records.extend(handle(&mut history, Command::Stop { task }, &mut mint).unwrap());
                records.extend((0..SPACING).map(|_| renamed(&mut mint)));
            }
        }
        records
    }

    fn renamed(mint: &mut Mint) -> NewRecord {
        let title = Some("another".to_owned());
        let update = ConversationUpdated { title, ..ConversationUpdated::default() };
        let body = RecordBody::ConversationUpdated(update);
        NewRecord { id: RecordId(mint.uuid()), task_id: None, at: mint.at(), body }
    }

    #[tokio::test]
    async fn a_long_conversation_is_read_from_its_snapshot_on() {
        let folder = TempDir::new().unwrap();
        let store = open(folder.path(), 0);
        let records = long_conversation();
        let append = Append { conversation_id: CONVERSATION, records, tasks: Vec::new(), urgent: false };
        store.append(append).await.unwrap();
        let (_, tail) = load(&store, CONVERSATION).await.unwrap();
        assert!(tail.saved() > SPACING, "{tail:?}");

        let sessions = sessions(&store, folder.path());
        sessions.command(CONVERSATION, Command::Archive { archived: true }).await.unwrap();
        let (mut resumed, mut tail) = load(&store, CONVERSATION).await.unwrap();
        // The snapshot is kept while the actor goes on.
        while tail.saved() > 0 {
            tokio::task::yield_now().await;
            (resumed, tail) = load(&store, CONVERSATION).await.unwrap();
        }
        let mut whole = History::default();
        store.conversation_records(CONVERSATION).await.unwrap().iter().for_each(|record| whole.see(record));
        assert_eq!(resumed, whole);
    }
}
