//! Another process holds the database, as a tool for backups may.

use super::support::*;
use abide_protocol::{
    RecordId, Seq, Timestamp,
    inbox::{RuleEffect, TextRule},
    record::{By, RuleRemembered, Via},
    task::Status,
};
use abide_store::{Committed, HistorySnapshot, Lookup, SearchQuery, Store};
use rusqlite::{Connection, ErrorCode};
use std::{
    pin::pin,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};
use tokio::sync::oneshot;

/// The writer waits for a lock for 5 seconds. Then work is held and tried again, and the disk is not taken
/// for a broken one.
#[tokio::test]
async fn all_work_waits_while_another_process_holds_the_database() {
    let home = Home::new();
    // The writer stops in the sink, so that all work comes to it at once.
    let (gate, closed) = mpsc::channel::<()>();
    let (arrives, arrived) = oneshot::channel::<()>();
    let stop = Arc::new(Mutex::new(None));
    let stops = Arc::clone(&stop);
    let sink = move |_: &Committed| {
        let stop: Option<(oneshot::Sender<()>, mpsc::Receiver<()>)> = stops.lock().unwrap().take();
        if let Some((arrives, closed)) = stop {
            arrives.send(()).unwrap();
            // Until the gate is dropped.
            let _ = closed.recv();
        }
    };
    let store = Store::open(options(&home.path()), Box::new(sink)).unwrap();
    let id = begin(&store, 1, 1).await;
    let deleted = begin(&store, 2, 2).await;
    start(&store, id, 3, Status::Completed).await;
    let remembered = RuleRemembered { rule: rule("{}"), allow: true, text: None };
    let remembered = abide_protocol::record::RecordBody::RuleRemembered(remembered);
    store.append(append(id, vec![record(4, Some(3), remembered)])).await.unwrap();
    let short = store.rules(None, 1).await.unwrap().rules[0].id.clone();
    let Lookup::One(forgotten) = store.find_rule(&short).await.unwrap() else { unreachable!("it is there") };

    *stop.lock().unwrap() = Some((arrives, closed));
    let mut before = pin!(store.append(append(id, vec![record(5, None, notice("before"))])));
    tokio::select! {
        _ = &mut before => unreachable!("its commit is not published yet"),
        arrived = arrived => arrived.unwrap(),
    }
    let path = home.path();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let by = || By { via: Via::Socket, name: "test".to_owned() };
    let text =
        TextRule { text: "shell(make *)".to_owned(), workspace: "/w".to_owned(), effect: RuleEffect::Allow };
    let snapshot = HistorySnapshot { conversation_id: id, task_id: task_id(3), form: 1, body: b"x".to_vec() };
    let search = SearchQuery { words: "title", limit: 9, ..SearchQuery::default() };
    // Another one that waits longer than the writer does: when it gives up, the writer has, twice.
    let release = tokio::task::spawn_blocking(move || {
        let waiting = Connection::open(&path).unwrap();
        waiting.busy_timeout(Duration::from_secs(12)).unwrap();
        let refused = waiting.execute_batch("BEGIN IMMEDIATE").unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
        holder.execute_batch("ROLLBACK").unwrap();
    });
    let (appended, kept, marked, added, forgot, rebuilt, rebuilt_rules, found, removed, released, stored, ()) = tokio::join!(
        store.append(append(id, vec![record(6, None, notice("late"))])),
        store.keep_history_snapshot(snapshot),
        store.mark_read(id, Seq(1)),
        store.add_rule(text, by(), Timestamp(9), RecordId(uuid(0xf0, 1))),
        store.forget_rule(forgotten, by(), Timestamp(9), RecordId(uuid(0xf0, 2))),
        store.replace_projections(id, vec![projection(task(id, 3, Status::Completed, Vec::new()))]),
        store.replace_rules(),
        store.search(search),
        store.delete_conversation(deleted, Timestamp(9), RecordId(uuid(0xf0, 3))),
        release,
        before,
        async { drop(gate) },
    );
    stored.unwrap();
    released.unwrap();
    appended.unwrap();
    kept.unwrap();
    marked.unwrap();
    added.unwrap();
    assert!(forgot.unwrap());
    rebuilt.unwrap();
    rebuilt_rules.unwrap();
    found.unwrap();
    assert_eq!(removed.map(|deleted| deleted.records), Ok(1));
    assert!(!store.state().borrow().full);
}
