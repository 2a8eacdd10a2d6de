//! Durable records per second. The floor is SQLite alone, which writes the same rows in batches of the same
//! size.

use crate::{
    model::{self, Model},
    setup::Setup,
    table::{
        Aim, Figure,
        Value::{self, Rate, Time},
        percentile,
    },
};
use abide_client::protocol::{
    method::{
        self,
        conversation::{CreateConversationParams, UpdateConversationParams},
    },
    record::{NewRecord, RecordBody},
};
use abide_host::Home;
use abide_store::{Append, Store, TaskProjection, TaskQuery};
use rusqlite::{Connection, OpenFlags, params, types::Value as Column};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const TASKS: usize = 64;
const STEPS: usize = 100;

pub(crate) async fn figures() -> Vec<Figure> {
    let mut setup = Setup::with(Model::start(|asked| match asked.number {
        number if number < STEPS => model::update(number),
        number => model::done(number),
    }))
    .await;
    let probe = setup.client.call::<method::CreateConversation>(CreateConversationParams::default()).await;
    let probe = probe.expect("a conversation").conversation.id;
    let home = setup.daemon.home();
    let (rows_before, commits_before) = (rows(&home).len(), commits(&home));
    let began = Instant::now();
    for task in 0..TASKS {
        setup.begin(&format!("records-{task}")).await;
    }
    let mut acknowledged = Vec::new();
    while setup.status().await.tasks.running > 0 {
        let params = UpdateConversationParams {
            conversation_id: probe.to_string(),
            title: Some(format!("{} times", acknowledged.len())),
            workspace: None,
            mode: None,
            model: None,
            persona: None,
            muted: None,
            memory: None,
        };
        let asked = Instant::now();
        setup.client.call::<method::UpdateConversation>(params).await.expect("a new title");
        acknowledged.push(asked.elapsed());
    }
    let took = began.elapsed();
    let commits = commits(&home) - commits_before;
    let rows = rows(&home).split_off(rows_before);
    let batch = rows.len().div_ceil(commits.max(1));
    eprintln!("  {} records in {commits} commits, {} bytes each", rows.len(), bytes(&rows) / rows.len());
    let (floor, mut floor_commits) = raw(setup.daemon.root(), &rows, batch);
    let (again, mut more) = raw(setup.daemon.root(), &rows, batch);
    floor_commits.append(&mut more);
    assert!(setup.daemon.stop().await.success());
    let (alone, alone_batch) = through_store(&home.database(), setup.daemon.root()).await;
    let (alone_floor, _) = raw(setup.daemon.root(), &rows, alone_batch);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate = |took: Duration| Rate(rows.len() as f64 / took.as_secs_f64());
    vec![
        Figure::new(format!("records, {TASKS} tasks at full durability"), rate(took))
            .floor(rate((floor + again) / 2))
            .aim(Aim::ShareOfFloor(0.4)),
        Figure::new("the same through the store alone", alone)
            .floor(rate(alone_floor))
            .aim(Aim::ShareOfFloor(0.6)),
        Figure::new("a command's acknowledgement meanwhile, p99", Time(percentile(&acknowledged, 99)))
            .floor(Time(percentile(&floor_commits, 99)))
            .aim(Aim::AtMost(Time(Duration::from_millis(25)))),
    ]
}

/// Appends the records of `database` to a new store, without a daemon or a model. Returns the records per
/// second, and the records per transaction.
async fn through_store(database: &Path, folder: &Path) -> (Value, usize) {
    let options = |path: &Path| abide_store::Options { path: path.to_owned(), reserve_bytes: 0, readers: 1 };
    let recorded = Store::open(options(database), Box::new(|_| ())).expect("the daemon's database");
    let mut histories = Vec::new();
    for id in recorded.recorded_conversations().await.expect("the conversations") {
        let records = recorded.conversation_records(id).await.expect("the records");
        let (tasks, _) = recorded
            .tasks(TaskQuery { conversation: Some(id), with_ended: true, limit: 1, ..TaskQuery::default() })
            .await
            .expect("the tasks");
        histories.push((id, tasks.into_iter().next(), records));
    }
    recorded.close().await;
    let count: usize = histories.iter().map(|(.., records)| records.len()).sum();
    let store = Store::open(options(&folder.join("store.db")), Box::new(|_| ())).expect("a database");
    let began = Instant::now();
    let mut lanes = JoinSet::new();
    for (conversation_id, task, records) in histories {
        let store = store.clone();
        lanes.spawn(async move {
            // Grouped like the daemon's appends, each of which ends with a model request.
            for step in records.chunk_by(|record, _| !matches!(record.body, RecordBody::ModelRequested(_))) {
                let records = step.iter().cloned().map(|record| NewRecord {
                    id: record.id,
                    task_id: record.task_id,
                    at: record.at,
                    body: record.body,
                });
                let task =
                    task.clone().map(|task| TaskProjection { task, wake_at: None, needs_daemon: false });
                let append = Append {
                    conversation_id,
                    records: records.collect(),
                    tasks: task.into_iter().collect(),
                    urgent: false,
                };
                store.append(append).await.expect("an append");
            }
        });
    }
    lanes.join_all().await;
    let took = began.elapsed();
    let commits = usize::try_from(store.transactions()).expect("a small number");
    store.close().await;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate = Rate(count as f64 / took.as_secs_f64());
    (rate, count.div_ceil(commits.max(1)))
}

fn read_only(home: &Home) -> Connection {
    Connection::open_with_flags(home.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the database")
}

fn rows(home: &Home) -> Vec<[Column; 7]> {
    let connection = read_only(home);
    let sql = "SELECT id, conversation, task, at, kind, version, body FROM records ORDER BY seq";
    let mut statement = connection.prepare(sql).expect("the records");
    let row = |row: &rusqlite::Row<'_>| {
        let mut values = [const { Column::Null }; 7];
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get(at)?;
        }
        Ok(values)
    };
    statement.query_map([], row).expect("the records").map(|row| row.expect("a record")).collect()
}

fn bytes(rows: &[[Column; 7]]) -> usize {
    let size = |value: &Column| match value {
        Column::Null => 0,
        Column::Integer(_) | Column::Real(_) => 8,
        Column::Text(text) => text.len(),
        Column::Blob(blob) => blob.len(),
    };
    rows.iter().flatten().map(size).sum()
}

/// The number of transactions of the database so far: `iChange` of the WAL index
/// (<https://sqlite.org/walformat.html#the_wal_index_header>).
fn commits(home: &Home) -> usize {
    let mut index = home.database().into_os_string();
    index.push("-shm");
    let index = fs::read(index).expect("the log's index");
    let change: [u8; 4] = index[8..12].try_into().expect("four bytes");
    u32::from_ne_bytes(change) as usize
}

/// Writes the rows with SQLite alone, with the same durability and `batch` rows per transaction.
fn raw(folder: &Path, rows: &[[Column; 7]], batch: usize) -> (Duration, Vec<Duration>) {
    let path = folder.join("raw.db");
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(folder.join(format!("raw.db{suffix}"))));
    }
    let connection = Connection::open(path).expect("a database");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
             PRAGMA cache_size = -8192;
             CREATE TABLE records (
                 seq INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, conversation BLOB NOT NULL, task BLOB,
                 at INTEGER NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL
             ) STRICT;
             CREATE INDEX records_of_conversation ON records (conversation);",
        )
        .expect("a table");
    let insert = "INSERT INTO records (id, conversation, task, at, kind, version, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let began = Instant::now();
    let mut commits = Vec::new();
    for rows in rows.chunks(batch) {
        let asked = Instant::now();
        connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        for [id, conversation, task, at, kind, version, body] in rows {
            let mut statement = connection.prepare_cached(insert).expect("a statement");
            statement.insert(params![id, conversation, task, at, kind, version, body]).expect("a row");
        }
        connection.execute_batch("COMMIT").expect("a commit");
        commits.push(asked.elapsed());
    }
    (began.elapsed(), commits)
}
