use crate::instance::{Instance, InstanceError};
use abide_engine::{History, Projection, project};
use abide_host::home::Home;
use abide_protocol::{
    ConversationId,
    record::{Record, RecordBody},
};
use abide_store::{OpenError, Options, ReadError, Store, TaskProjection, WriteError};
use serde::Serialize;

/// The result of a rebuild.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    pub conversations: u64,
    /// Conversations whose projections differed before: none, unless another program changed the database,
    /// this version of Abide derives something otherwise from the same records, or there is a defect.
    pub different: Vec<ConversationId>,
    /// The remembered decisions differed before.
    pub rules_differed: bool,
}

/// Why a rebuild failed. Each conversation, and the remembered decisions, are either unchanged or rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("{}{}", .0, .0.advice())]
    Instance(#[from] InstanceError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Rebuilds all projections from the records. No daemon may run meanwhile.
///
/// # Errors
/// See [`RebuildError`].
pub async fn rebuild(home: &Home) -> Result<Rebuilt, RebuildError> {
    let _instance = Instance::take(home.lock_file())?;
    let options = Options { path: home.database(), reserve_bytes: 0, readers: 1 };
    let store = Store::open_repairing(options, Box::new(|_| {}), projected)?;
    let rebuilt = everything(&store).await;
    store.close().await;
    rebuilt
}

/// Compares first, so that what differed can be told; the search index and all other tables are made anew
/// after that.
async fn everything(store: &Store) -> Result<Rebuilt, RebuildError> {
    let compared = projections(store).await;
    store.repair().await?;
    // What was damaged is repaired now.
    if compared.is_err() { projections(store).await } else { compared }
}

async fn projections(store: &Store) -> Result<Rebuilt, RebuildError> {
    let mut rebuilt = Rebuilt { rules_differed: store.replace_rules().await?, ..Rebuilt::default() };
    for id in store.recorded_conversations().await? {
        let records = store.conversation_records(id).await?;
        if store.replace_projections(id, projected(id, &records)).await? {
            rebuilt.different.push(id);
        }
        rebuilt.conversations += 1;
    }
    Ok(rebuilt)
}

/// The projection of each task after its last record. A history keeps only the newest root task and its
/// sub-tasks, so earlier roots are taken before the next one starts.
pub(crate) fn projected(id: ConversationId, records: &[Record]) -> Vec<TaskProjection> {
    let mut history = History::default();
    let mut tasks = Vec::new();
    for record in records {
        if matches!(&record.body, RecordBody::TaskStarted(head) if head.parent_id.is_none()) {
            tasks.extend(task_projections(id, &history));
        }
        history.see(record);
    }
    tasks.extend(task_projections(id, &history));
    tasks
}

fn task_projections(id: ConversationId, history: &History) -> impl Iterator<Item = TaskProjection> {
    history.tasks().iter().map(move |task| {
        let Projection { task, wake_at, needs_daemon } = project(id, history, task);
        TaskProjection { task, wake_at, needs_daemon }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::{begin_sub_task, facts, head};
    use abide_engine::{Command, Mint, Start, handle};
    use abide_protocol::{TaskId, Timestamp};
    use abide_store::Append;
    use tempfile::TempDir;
    use uuid::Uuid;

    enum Happens {
        Command(Command),
        /// A task starts another one.
        SubTask([TaskId; 2]),
    }

    /// For an earlier root, the newest root, and all their sub-tasks.
    #[tokio::test]
    async fn a_rebuild_gives_the_same_tasks_of_all_trees() {
        let folder = TempDir::new().unwrap();
        let options = Options { path: folder.path().join("abide.db"), reserve_bytes: 0, readers: 1 };
        let store = Store::open(options, Box::new(|_| {})).unwrap();
        let conversation_id = ConversationId(Uuid::from_u128(1));
        let id = |n| TaskId(Uuid::from_u128(n));
        let command = Happens::Command;
        let start = |n| {
            let start = Start {
                task: id(n),
                conversation: Some(facts()),
                head: head(""),
                imported: Vec::new(),
                recalled: None,
                setup: None,
            };
            command(Command::Start(Box::new(start)))
        };
        let fork = |parent, n| Happens::SubTask([id(parent), id(n)]);
        let stop = |n| command(Command::Stop { task: id(n) });
        let story = [
            start(10),
            fork(10, 11),
            fork(11, 12),
            stop(11),
            stop(10),
            start(20),
            fork(20, 21),
            command(Command::Pause { task: id(20) }),
        ];
        let mut history = History::default();
        for (at, happens) in (1..).zip(story) {
            let mut mint = Mint::new(Timestamp(at), 1);
            let records = match happens {
                Happens::Command(command) => handle(&mut history, command, &mut mint).unwrap(),
                Happens::SubTask(tasks) => begin_sub_task(&mut history, tasks, "", &mut mint),
            };
            let stands = |task| {
                let Projection { task, wake_at, needs_daemon } = project(conversation_id, &history, task);
                TaskProjection { task, wake_at, needs_daemon }
            };
            let tasks = history.tasks().iter().map(stands).collect();
            store.append(Append { conversation_id, records, tasks, urgent: false }).await.unwrap();
        }
        let rebuilt = projections(&store).await.unwrap();
        assert_eq!(rebuilt, Rebuilt { conversations: 1, different: Vec::new(), rules_differed: false });
        let paused = store.task(id(21)).await.unwrap().unwrap();
        assert_eq!(paused.parent_id, Some(id(20)));
    }
}
