use super::support::*;
use abide_protocol::{ConversationId, RecordId, Timestamp, record::Record, task::Status};
use abide_store::{HistorySnapshot, Store, WriteError};
use rusqlite::Connection;

const FORM: u32 = 3;

/// A conversation with two tasks, whose records have the ids 1 to 6; task 3 begins the first, task 5 the
/// second.
async fn two_tasks(store: &Store) -> ConversationId {
    let id = begin(store, 1, 1).await;
    store.append(append(id, vec![record(2, None, notice("before"))])).await.unwrap();
    start(store, id, 3, Status::Completed).await;
    store.append(append(id, vec![record(4, Some(3), notice("between"))])).await.unwrap();
    start(store, id, 5, Status::Thinking).await;
    store.append(append(id, vec![record(6, Some(5), notice("after"))])).await.unwrap();
    id
}

fn snapshot(conversation_id: ConversationId, task: u64, body: &str) -> HistorySnapshot {
    HistorySnapshot { conversation_id, task_id: task_id(task), form: FORM, body: body.as_bytes().to_vec() }
}

/// What a reading folds: the snapshot's body, if there is one of [`FORM`], then the records' ids.
async fn read(store: &Store, id: ConversationId) -> Vec<String> {
    let resume =
        |form: u32, body: &[u8]| (form == FORM).then(|| vec![String::from_utf8(body.to_vec()).unwrap()]);
    let fold = |state: &mut Vec<String>, record: &Record| state.push(record.id.0.as_u64_pair().1.to_string());
    store.fold_records(id, resume, fold).await.unwrap()
}

const ALL: [&str; 6] = ["1", "2", "3", "4", "5", "6"];

#[tokio::test]
async fn a_reading_begins_at_the_newest_snapshot() {
    let home = Home::new();
    let store = home.open();
    let id = two_tasks(&store).await;
    assert_eq!(read(&store, id).await, ALL);
    store.keep_history_snapshot(snapshot(id, 3, "until 3")).await.unwrap();
    assert_eq!(read(&store, id).await, ["until 3", "3", "4", "5", "6"]);
    store.keep_history_snapshot(snapshot(id, 5, "until 5")).await.unwrap();
    assert_eq!(read(&store, id).await, ["until 5", "5", "6"]);
    store.append(append(id, vec![record(7, Some(5), notice("later"))])).await.unwrap();
    store.close().await;
    assert_eq!(read(&home.open(), id).await, ["until 5", "5", "6", "7"]);
}

#[tokio::test]
async fn a_snapshot_of_another_form_is_not_used() {
    let home = Home::new();
    let store = home.open();
    let id = two_tasks(&store).await;
    store.keep_history_snapshot(HistorySnapshot { form: FORM + 1, ..snapshot(id, 5, "") }).await.unwrap();
    assert_eq!(read(&store, id).await, ALL);
}

/// A changed snapshot would be a changed past: no column of it may differ from what was stored.
#[tokio::test]
async fn a_damaged_snapshot_is_not_used() {
    let damages =
        [(FORM, "body = CAST('until 6' AS BLOB)"), (FORM, "seq = seq - 1"), (FORM - 1, "form = form + 1")];
    for (form, damage) in damages {
        let home = Home::new();
        let store = home.open();
        let id = two_tasks(&store).await;
        store.keep_history_snapshot(HistorySnapshot { form, ..snapshot(id, 5, "until 5") }).await.unwrap();
        let sql = format!("UPDATE history_snapshots SET {damage}");
        assert_eq!(Connection::open(home.path()).unwrap().execute(&sql, []).unwrap(), 1);
        assert_eq!(read(&store, id).await, ALL, "{damage}");
    }
}

#[tokio::test]
async fn a_snapshot_of_nothing_stored_is_refused() {
    let home = Home::new();
    let store = home.open();
    let id = two_tasks(&store).await;
    let gone = |id| Err(WriteError::ConversationGone(id));
    assert_eq!(store.keep_history_snapshot(snapshot(id, 9, "")).await, gone(id));
    assert_eq!(store.keep_history_snapshot(snapshot(conversation(2), 5, "")).await, gone(conversation(2)));
    store.delete_conversation(id, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    assert_eq!(store.keep_history_snapshot(snapshot(id, 5, "")).await, gone(id));
}

/// What is derived from a snapshot is derived anew from the records.
#[tokio::test]
async fn a_rebuild_drops_the_snapshot() {
    let home = Home::new();
    let store = home.open();
    let id = two_tasks(&store).await;
    store.keep_history_snapshot(snapshot(id, 5, "until 5")).await.unwrap();
    store.replace_projections(id, Vec::new()).await.unwrap();
    assert_eq!(read(&store, id).await, ALL);
}
