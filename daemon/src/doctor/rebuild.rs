use crate::instance::{Instance, InstanceError};
use abide_client::home::Home;
use abide_engine::{History, Projection, project};
use abide_protocol::{
    ConversationId,
    record::{Record, RecordBody},
};
use abide_store::{OpenError, Options, ReadError, Store, TaskProjection, WriteError};
use serde::Serialize;

/// What came of a rebuild.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    pub conversations: u64,
    /// Those that looked different before: none, unless the database was changed by another hand or there is a defect.
    pub different: Vec<ConversationId>,
}

/// Why it did not come about. Each conversation is as it was, or rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("{0}; stop it first: abide daemon stop")]
    Instance(#[from] InstanceError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Derives everything anew that is derived from records. No daemon may be running, and none starts meanwhile.
///
/// # Errors
/// See [`RebuildError`].
pub async fn rebuild(home: &Home) -> Result<Rebuilt, RebuildError> {
    let _instance = Instance::take(home.lock_file())?;
    let options = Options { path: home.database(), reserve_bytes: 0, readers: 1 };
    let store = Store::open(options, Box::new(|_| {}))?;
    let rebuilt = conversations(&store).await;
    store.close().await;
    rebuilt
}

async fn conversations(store: &Store) -> Result<Rebuilt, RebuildError> {
    let mut rebuilt = Rebuilt::default();
    for id in store.recorded_conversations().await? {
        let records = store.conversation_records(id).await?;
        if store.replace_projections(id, tasks(id, &records)).await? {
            rebuilt.different.push(id);
        }
        rebuilt.conversations += 1;
    }
    Ok(rebuilt)
}

/// Each task as it stood when its last record was written: a conversation's history knows only its newest.
fn tasks(id: ConversationId, records: &[Record]) -> Vec<TaskProjection> {
    let mut history = History::default();
    let mut tasks = Vec::new();
    let newest = |history: &History| {
        history.root().map(|task| {
            let Projection { task, wake_at, needs_daemon } = project(id, task);
            TaskProjection { task, wake_at, needs_daemon }
        })
    };
    for record in records {
        if matches!(record.body, RecordBody::TaskStarted(_)) {
            tasks.extend(newest(&history));
        }
        history.see(record);
    }
    tasks.extend(newest(&history));
    tasks
}
