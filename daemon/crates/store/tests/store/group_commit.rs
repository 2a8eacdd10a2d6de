use super::support::*;
use abide_protocol::Seq;
use abide_store::{AppendError, Committed, Feed, Store};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
    task::{Context, Waker},
};
use tokio::task::JoinSet;

/// Polls the future once, which hands in its request.
fn poll_once<F: Future>(future: &mut Pin<Box<F>>) {
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// A store with conversations 1 and 2 whose writer has committed a third one and is blocked in the sink. Each
/// message sent lets it publish one append, the third conversation's first.
async fn standing_still(home: &Home) -> (Store, Sender<()>) {
    let (go, wait) = channel::<()>();
    let sink = move |_: &Committed| wait.recv().unwrap();
    let store = Store::open(options(&home.path()), Box::new(sink)).unwrap();
    go.send(()).unwrap();
    begin(&store, 1, 1).await;
    go.send(()).unwrap();
    begin(&store, 2, 2).await;
    let before = store.transactions();
    let mut last = Box::pin(store.append(append(conversation(3), vec![record(3, None, created("x"))])));
    poll_once(&mut last);
    while store.transactions() == before {
        tokio::task::yield_now().await;
    }
    drop(last);
    (store, go)
}

#[tokio::test]
async fn waiting_appends_are_committed_together() {
    let home = Home::new();
    let (store, go) = standing_still(&home).await;
    let before = store.transactions();
    let mut waiting: Vec<_> = (10..60)
        .map(|n| Box::pin(store.append(append(conversation(n), vec![record(n, None, created("x"))]))))
        .collect();
    waiting.iter_mut().for_each(poll_once);
    for _ in 0..=waiting.len() {
        go.send(()).unwrap();
    }
    for append in waiting {
        append.await.unwrap();
    }
    assert_eq!(store.transactions(), before + 1);
}

#[tokio::test]
async fn a_refused_append_does_not_affect_the_others_of_its_batch() {
    let home = Home::new();
    let (store, go) = standing_still(&home).await;
    let before = store.transactions();
    let [a, b] = [1, 2].map(conversation);
    let task = |n, text: &str| {
        vec![record(n, None, notice(text)), record(n + 100, Some(n), task_started(client_message("m")))]
    };
    let mut first = Box::pin(store.append(append(a, task(11, "first"))));
    let mut refused = Box::pin(store.append(append(b, task(12, "refused"))));
    let mut last = Box::pin(store.append(append(b, vec![record(13, None, notice("last"))])));
    poll_once(&mut first);
    poll_once(&mut refused);
    poll_once(&mut last);
    for _ in 0..3 {
        go.send(()).unwrap();
    }
    first.await.unwrap();
    let refused = refused.await;
    assert!(matches!(refused, Err(AppendError::DuplicateClientMessage(_))), "{refused:?}");
    last.await.unwrap();
    assert_eq!(store.transactions(), before + 1);
    let messages = store.messages(b, None, 10).await.unwrap().messages;
    assert_eq!(messages.iter().map(|message| &message.text).collect::<Vec<_>>(), ["last"]);
    assert_eq!(store.conversation(b).await.unwrap().unwrap().unread, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_sink_gets_appends_in_seq_order_and_before_the_appenders_reply() {
    let home = Home::new();
    let heard = Arc::new(Mutex::new(Vec::<Seq>::new()));
    let sink = {
        let heard = Arc::clone(&heard);
        move |committed: &Committed| {
            heard.lock().unwrap().extend(committed.records.iter().map(|record| record.seq));
        }
    };
    let store = Store::open(options(&home.path()), Box::new(sink)).unwrap();
    let mut appenders = JoinSet::new();
    for n in 0..16 {
        let (store, heard) = (store.clone(), Arc::clone(&heard));
        appenders.spawn(async move {
            let id = begin(&store, n, n * 1000).await;
            for i in 1..=20 {
                let records = vec![
                    record(n * 1000 + i, None, user("a")),
                    record(n * 1000 + 500 + i, None, notice("b")),
                ];
                let committed = store.append(append(id, records)).await.unwrap();
                let heard = heard.lock().unwrap();
                assert!(committed.records.iter().all(|record| heard.contains(&record.seq)));
            }
            assert_eq!(store.conversation(id).await.unwrap().unwrap().unread, 20);
        });
    }
    while let Some(appender) = appenders.join_next().await {
        appender.unwrap();
    }
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 16 * 41);
    assert!(heard.is_sorted());
    let stored: Vec<Seq> = store
        .records_after(Feed::All, Seq(0), 10_000)
        .await
        .unwrap()
        .iter()
        .map(|record| record.seq)
        .collect();
    assert_eq!(stored, heard);
}
