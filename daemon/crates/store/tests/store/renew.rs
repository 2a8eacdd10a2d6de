//! Damaged pages: what is derived from the records, and every index, is made anew; of a database that is cut
//! off the rest is salvaged.

use super::{rebuild::story, recall::HERE, support::*};
use abide_protocol::{
    ConversationId, RecordId, Timestamp,
    memory::MemoryUse,
    record::{Record, RecordBody},
    task::Status,
};
use abide_store::{
    Existing, Integrity, OpenError, RecallQuery, SearchQuery, Store, TaskProjection, TaskQuery,
};
use rusqlite::Connection;
use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::Path,
};

const PAGE: u64 = 4096;

/// A finished task for each start.
fn projected(id: ConversationId, records: &[Record]) -> Vec<TaskProjection> {
    let started = |record: &Record| match &record.body {
        RecordBody::TaskStarted(_) => record.task_id,
        _ => None,
    };
    let tasks = records.iter().filter_map(started);
    tasks.map(|task| projection(task_of(id, task))).collect()
}

fn task_of(id: ConversationId, task: abide_protocol::TaskId) -> abide_protocol::task::AgentTask {
    let n = u64::try_from(task.0.as_u128() & u128::from(u64::MAX)).unwrap();
    super::support::task(id, n, Status::Completed, Vec::new())
}

fn repairing(path: &Path) -> Store {
    Store::open_repairing(options(path), Box::new(|_| {}), projected).unwrap()
}

/// Overwrites the first page of a table or an index.
fn damage(path: &Path, name: &str) {
    let connection = Connection::open(path).unwrap();
    let (page, size): (u64, u64) = connection
        .query_row(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?1",
            [name],
            |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned())),
        )
        .unwrap();
    drop(connection);
    assert_eq!(size, PAGE);
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&[0xee; PAGE as usize], (page - 1) * PAGE).unwrap();
}

async fn stored(path: &Path) -> usize {
    let store = repairing(path);
    story(&store).await;
    begin(&store, 7, 900).await;
    let said = vec![record(901, None, notice("needle")), record(902, None, user("the needle is here"))];
    store.append(append(conversation(7), said)).await.unwrap();
    let found =
        store.search(SearchQuery { words: "needle", limit: 9, ..SearchQuery::default() }).await.unwrap();
    assert_eq!(found.messages.len(), 2);
    assert_eq!(store.recall(needle()).await.unwrap().len(), 1);
    let all = count(path);
    store.close().await;
    all
}

fn needle() -> RecallQuery<'static> {
    RecallQuery {
        texts: &["needle"],
        meaning: None,
        workspaces: Some(&HERE[..]),
        except: None,
        limit: 9,
        at_start: false,
    }
}

fn count(path: &Path) -> usize {
    let sql = "SELECT count(*) FROM records NOT INDEXED";
    let count: i64 = Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    usize::try_from(count).unwrap()
}

const DERIVED: &[&str] = &[
    "conversations",
    "conversations_by_change",
    "calls",
    "tasks",
    "tasks_by_start",
    "task_texts",
    "inbox",
    "inbox_open",
    "rules",
    "client_messages",
    "external_ids",
    "history_snapshots",
    "search_data",
    "search_idx",
    "search_docsize",
    "search_config",
    "search_progress",
    "chunks",
    "chunks_of_conversation",
    "memory_words_data",
    "memory_words_idx",
    "memory_words_docsize",
    "memory_words_config",
    "memory_progress",
    "forgotten",
    "recalled_from",
    "recalled_from_by_record",
    "conversations_of_scope",
    "records_of_conversation",
    "sqlite_autoindex_records_1",
];

/// Whatever is done first with it.
#[tokio::test]
async fn a_damage_in_what_is_derived_ends_nothing_and_is_repaired() {
    let whole = Home::new();
    let records = stored(&whole.path()).await;
    for name in DERIVED {
        for first in ["append", "search", "recall", "delete", "list", "repair"] {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("abide.db");
            fs::copy(whole.path(), &path).unwrap();
            damage(&path, name);
            let store = repairing(&path);
            let id = conversation(7);
            let case = format!("{name}, first {first}");
            let mut expected = records;
            match first {
                "append" => {
                    store.append(append(id, vec![record(950, None, notice("more"))])).await.expect(&case);
                    expected += 1;
                }
                "search" => {
                    let query = SearchQuery { words: "needle", limit: 9, ..SearchQuery::default() };
                    let found = store.search(query).await.expect(&case);
                    assert_eq!(found.messages.len(), 2, "{case}");
                }
                "recall" => {
                    assert_eq!(store.recall(needle()).await.expect(&case).len(), 1, "{case}");
                }
                "delete" => {
                    let tombstone = RecordId(uuid(0x70, 1));
                    let removed = store.delete_conversation(id, Timestamp(99), tombstone).await.expect(&case);
                    assert_eq!(removed.records, 3, "{case}");
                    expected -= 2;
                }
                "list" => {
                    let query = TaskQuery { with_ended: true, limit: 99, ..TaskQuery::default() };
                    store.tasks(query).await.expect(&case);
                    store.conversation_records(id).await.expect(&case);
                }
                _ => store.repair().await.expect(&case),
            }
            // As a start of the daemon does.
            if !matches!(store.check().await, Ok(Integrity::Sound)) {
                store.repair().await.expect(&case);
            }
            assert_eq!(store.check().await.expect(&case), Integrity::Sound, "{case}");
            begin(&store, 8, 960).await;
            store.close().await;
            assert_eq!(count(&path), expected + 1, "{case}");
        }
    }
}

#[tokio::test]
async fn a_damage_in_the_records_is_no_reason_to_make_anything_anew() {
    let home = Home::new();
    stored(&home.path()).await;
    damage(&home.path(), "records");
    let before = fs::read(home.path()).unwrap();
    let refused = Store::open_repairing(options(&home.path()), Box::new(|_| {}), projected);
    assert!(matches!(refused, Err(OpenError::Damaged { .. })), "{refused:?}");
    assert!(fs::read(home.path()).unwrap() == before, "it is as it was");
}

#[tokio::test]
async fn of_a_database_that_is_cut_off_the_rest_is_salvaged() {
    let home = Home::new();
    let store = repairing(&home.path());
    for n in 1..=80 {
        let id = begin(&store, n, 1000 * n).await;
        let body = |at: u64| record(1000 * n + at, None, notice(&format!("{n} {}", "x".repeat(900))));
        store.append(append(id, (1..=9).map(body).collect())).await.unwrap();
    }
    store.close().await;
    let all = count(&home.path());
    for cut in [100, 75, 50, 25] {
        let folder = tempfile::tempdir().unwrap();
        let (damaged, to) = (folder.path().join("abide.db"), folder.path().join("new.db"));
        let bytes = fs::read(home.path()).unwrap();
        fs::write(&damaged, &bytes[..bytes.len() * cut / 100 / 4096 * 4096]).unwrap();
        let before = fs::read(&damaged).unwrap();
        let salvaged = Store::salvage(&damaged, &to, Existing::Keep, projected).unwrap();
        assert!(fs::read(&damaged).unwrap() == before && !damaged.with_file_name("abide.db-wal").exists());
        println!("cut at {cut} %: {salvaged:?} of {all}");
        assert_eq!(salvaged.records == all as u64, cut == 100, "{cut}: {salvaged:?}");
        assert!(salvaged.records > 0 && (cut == 100) == salvaged.gaps.is_empty(), "{cut}: {salvaged:?}");
        let store = repairing(&to);
        assert_eq!(store.check().await.unwrap(), Integrity::Sound, "{cut}");
        assert_eq!(
            store.recorded_conversations().await.unwrap().len() as u64,
            salvaged.conversations,
            "{cut}"
        );
        begin(&store, 99, 99_000).await;
        store.close().await;
        let again = Store::salvage(&damaged, &to, Existing::Keep, projected);
        assert!(again.is_err(), "nothing is overwritten");
    }
}

/// Nobody knows any more whether it was private.
#[tokio::test]
async fn a_conversation_without_its_beginning_is_recalled_nowhere() {
    let home = Home::new();
    let store = repairing(&home.path());
    let id = begin(&store, 1, 1).await;
    store.append(append(id, vec![record(2, None, notice("said"))])).await.unwrap();
    store.close().await;
    Connection::open(home.path()).unwrap().execute("DELETE FROM records WHERE seq = 1", []).unwrap();
    let to = home.path().with_file_name("new.db");
    let salvaged = Store::salvage(&home.path(), &to, Existing::Keep, projected).unwrap();
    assert_eq!(salvaged.without_beginning, 1, "{salvaged:?}");
    assert_eq!(repairing(&to).conversation(id).await.unwrap().unwrap().memory, MemoryUse::Private);
}

/// Of a small database half is its schema.
#[tokio::test]
async fn records_are_salvaged_also_where_the_schema_is_cut_off() {
    let home = Home::new();
    let store = repairing(&home.path());
    for n in 1..=4 {
        let id = begin(&store, n, 1000 * n).await;
        store.append(append(id, vec![record(1000 * n + 1, None, notice("said"))])).await.unwrap();
    }
    store.close().await;
    let all = count(&home.path()) as u64;
    let bytes = fs::read(home.path()).unwrap();
    let mut found = Vec::new();
    for cut in [50, 25] {
        let folder = tempfile::tempdir().unwrap();
        let (damaged, to) = (folder.path().join("abide.db"), folder.path().join("new.db"));
        fs::write(&damaged, &bytes[..bytes.len() * cut / 100 / 4096 * 4096]).unwrap();
        let salvaged = Store::salvage(&damaged, &to, Existing::Keep, projected).unwrap();
        found.push(salvaged.records);
        let store = repairing(&to);
        assert_eq!(store.check().await.unwrap(), Integrity::Sound, "{cut}");
        store.close().await;
    }
    assert_eq!(found, [all, all]);
}
