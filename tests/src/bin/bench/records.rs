//! Records a second with everything on disk before it counts, beside SQLite that writes the same rows in the same batches.

use crate::{
    model::{self, Model},
    place::Place,
    table::{
        Aim, Figure,
        Value::{Rate, Time},
        percentile,
    },
};
use abide_client::Home;
use abide_client::protocol::method::{
    self,
    conversation::{CreateConversationParams, UpdateConversationParams},
};
use rusqlite::{Connection, OpenFlags, params, types::Value};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

const TASKS: usize = 64;
const STEPS: usize = 100;

pub(crate) async fn figures() -> Vec<Figure> {
    let place = Place::with(Model::start(|asked| match asked.number {
        number if number < STEPS => model::update(number),
        number => model::done(number),
    }))
    .await;
    let probe = place.client.call::<method::CreateConversation>(CreateConversationParams::default()).await;
    let probe = probe.expect("a conversation").conversation.id;
    let home = place.daemon.home();
    let (rows_before, commits_before) = (rows(&home).len(), commits(&home));
    let began = Instant::now();
    for task in 0..TASKS {
        place.begin(&format!("records-{task}")).await;
    }
    let mut acknowledged = Vec::new();
    while place.status().await.tasks.running > 0 {
        let params = UpdateConversationParams {
            conversation_id: probe.to_string(),
            title: Some(format!("{} times", acknowledged.len())),
            workspace: None,
            mode: None,
            model: None,
            persona: None,
        };
        let asked = Instant::now();
        place.client.call::<method::UpdateConversation>(params).await.expect("a new title");
        acknowledged.push(asked.elapsed());
    }
    let took = began.elapsed();
    let commits = commits(&home) - commits_before;
    let rows = rows(&home).split_off(rows_before);
    let batch = rows.len().div_ceil(commits.max(1));
    eprintln!("  {} records in {commits} commits, {} bytes each", rows.len(), bytes(&rows) / rows.len());
    let (floor, mut floor_commits) = raw(place.daemon.root(), &rows, batch);
    let (again, mut more) = raw(place.daemon.root(), &rows, batch);
    floor_commits.append(&mut more);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let rate = |took: Duration| Rate(rows.len() as f64 / took.as_secs_f64());
    vec![
        Figure::new(format!("records, {TASKS} tasks at full durability"), rate(took))
            .floor(rate((floor + again) / 2))
            .aim(Aim::ShareOfFloor(0.5)),
        Figure::new("a command's acknowledgement meanwhile, p99", Time(percentile(&acknowledged, 99)))
            .floor(Time(percentile(&floor_commits, 99)))
            .aim(Aim::AtMost(Time(Duration::from_millis(25)))),
    ]
}

fn read_only(home: &Home) -> Connection {
    Connection::open_with_flags(home.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the database")
}

fn rows(home: &Home) -> Vec<[Value; 7]> {
    let connection = read_only(home);
    let sql = "SELECT id, conversation, task, at, kind, version, body FROM records ORDER BY seq";
    let mut statement = connection.prepare(sql).expect("the records");
    let row = |row: &rusqlite::Row<'_>| {
        let mut values = [const { Value::Null }; 7];
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get(at)?;
        }
        Ok(values)
    };
    statement.query_map([], row).expect("the records").map(|row| row.expect("a record")).collect()
}

fn bytes(rows: &[[Value; 7]]) -> usize {
    let size = |value: &Value| match value {
        Value::Null => 0,
        Value::Integer(_) | Value::Real(_) => 8,
        Value::Text(text) => text.len(),
        Value::Blob(blob) => blob.len(),
    };
    rows.iter().flatten().map(size).sum()
}

/// Transactions so far: `iChange` of the log's index (<https://sqlite.org/walformat.html#the_wal_index_header>).
fn commits(home: &Home) -> usize {
    let mut index = home.database().into_os_string();
    index.push("-shm");
    let index = fs::read(index).expect("the log's index");
    let change: [u8; 4] = index[8..12].try_into().expect("four bytes");
    u32::from_ne_bytes(change) as usize
}

/// The same rows in a database of their own, with the same durability and so many in a transaction.
fn raw(folder: &Path, rows: &[[Value; 7]], batch: usize) -> (Duration, Vec<Duration>) {
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
