use super::{
    hub::{Hub, MAX_HELD},
    live::Delta,
    outbox::Outbox,
};
use crate::session::tests::{begin_sub_task, facts, head};
use abide_engine::{Command, History, Mint, Start, handle, view};
use abide_protocol::{
    CallId, ConversationId, RecordId, Seq, SubscriptionId, TaskId, Timestamp,
    codec::{Outgoing, RequestId},
    inbox::{InboxItem, Pending, PendingId, Question, QuestionKind},
    method::{Reply, subscription::UnsubscribeReply},
    notification::{DaemonUpdate, DeltaItem, DeltaKind, InboxUpdate, Notification},
    record::{
        CallStarted, ModelErrorKind, ModelFailed, ModelRequested, NewRecord, Record, RecordBody, TaskEnded,
        Update,
    },
    task::{AgentTask, EndReason},
};
use abide_store::{Committed, Feed};
use std::sync::Arc;
use uuid::Uuid;

const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(1));
const TASK: TaskId = TaskId(Uuid::from_u128(2));
const SUB_TASK: TaskId = TaskId(Uuid::from_u128(9));
const ITEM: RecordId = RecordId(Uuid::from_u128(3));
const CALL: CallId = CallId(Uuid::from_u128(4));
const SUBSCRIPTION: SubscriptionId = SubscriptionId(1);

fn record(seq: u64, body: RecordBody) -> Arc<Record> {
    let NewRecord { id, task_id, at, body } = NewRecord {
        id: RecordId(Uuid::from_u128(100 + u128::from(seq))),
        task_id: Some(TASK),
        at: Timestamp(1),
        body,
    };
    Arc::new(Record { seq: Seq(seq), id, conversation_id: CONVERSATION, task_id, at, body })
}

fn committed(records: Vec<Arc<Record>>) -> Committed {
    Committed { conversation_id: CONVERSATION, records, tasks: Vec::new(), inbox: None, conversation: None }
}

fn said(seq: u64) -> Committed {
    committed(vec![record(seq, RecordBody::Update(Update { call_id: CALL, text: String::new() }))])
}

fn question(n: u128) -> Pending {
    Pending::Question(Question {
        id: abide_protocol::QuestionId(Uuid::from_u128(n)),
        kind: QuestionKind::Agent,
        at: Timestamp(1),
        text: String::new(),
        choices: Vec::new(),
        call_id: None,
        expires_at: None,
    })
}

fn inbox(added: &[u128], removed: &[u128], count: u64) -> Notification {
    let item = |n: &u128| InboxItem {
        task_id: TASK,
        conversation_id: CONVERSATION,
        conversation_title: String::new(),
        pending: question(*n),
        root_id: None,
        title: String::new(),
        depth: 0,
    };
    let added = added.iter().map(item).collect();
    Notification::InboxUpdate(InboxUpdate {
        added,
        removed: removed.iter().map(|n| question(*n).id()).collect(),
        count,
    })
}

fn delta(item: DeltaItem, attempt: u32, kind: DeltaKind, text: &str) -> Delta {
    Delta { conversation: CONVERSATION, task: TASK, item, attempt, kind, text: text.to_owned() }
}

fn reply() -> Outgoing {
    Outgoing::Reply {
        id: RequestId::Number(1),
        reply: Ok(Reply::Unsubscribe(UnsubscribeReply { was_subscribed: true })),
        warnings: Vec::new(),
    }
}

async fn taken(outbox: &Outbox) -> Vec<Outgoing> {
    outbox.take().await.into_iter().filter_map(super::Parcel::into_outgoing).collect()
}

async fn seqs(outbox: &Outbox) -> Vec<u64> {
    let seq = |outgoing: Outgoing| match outgoing {
        Outgoing::Notification(Notification::TaskMessage(m)) => Some(m.seq.0),
        Outgoing::Notification(Notification::TaskEvent(e)) => Some(e.seq.0),
        _ => None,
    };
    taken(outbox).await.into_iter().filter_map(seq).collect()
}

#[tokio::test]
async fn a_subscriber_gets_every_record_once_and_in_order() {
    let (hub, outbox) = (Hub::default(), Outbox::default());
    let (subscriber, _) = hub.join(SUBSCRIPTION, Feed::All, outbox.clone());
    for seq in [5, 6, 7] {
        hub.publish(&said(seq));
    }
    // The store was read up to seq 6.
    assert!(subscriber.joined(Seq(6)));
    hub.publish(&said(9));
    assert_eq!(seqs(&outbox).await, [7, 9]);
}

#[tokio::test]
async fn a_slow_subscriber_reads_on_from_the_store_and_misses_no_update() {
    let (hub, outbox) = (Hub::default(), Outbox::default());
    let (subscriber, _) = hub.join(SUBSCRIPTION, Feed::All, outbox.clone());
    hub.daemon(|daemon| daemon.storage_full = true);
    let last = 2 + MAX_HELD as u64;
    for seq in 1..=last {
        hub.publish(&said(seq));
    }
    assert!(!subscriber.joined(Seq(0)), "too much was held");
    // The store was read up to here meanwhile.
    hub.publish(&said(last + 1));
    assert!(subscriber.joined(Seq(last)));
    let taken = taken(&outbox).await;
    assert!(matches!(&taken[0], Outgoing::Notification(Notification::TaskMessage(m)) if m.seq.0 == last + 1));
    let full =
        DaemonUpdate { storage_full: true, storage_damaged: false, shutting_down: false, update: None };
    assert!(matches!(&taken[1], Outgoing::Notification(Notification::DaemonUpdate(d)) if *d == full));
    assert_eq!(taken.len(), 2);
}

#[tokio::test]
async fn live_output_of_attempts_that_do_not_run_is_dropped() {
    let (hub, outbox) = (Hub::default(), Outbox::default());
    let (subscriber, partials) = hub.join(SUBSCRIPTION, Feed::All, outbox.clone());
    assert!(partials.is_empty() && subscriber.joined(Seq(0)));
    let (reply, call) = (DeltaItem::Reply(ITEM), DeltaItem::Call(CALL));
    let partials = || {
        let (_, partials) = hub.join(SubscriptionId(2), Feed::Roots(CONVERSATION), Outbox::default());
        partials.into_iter().map(|p| p.text).collect::<Vec<_>>()
    };

    hub.delta(&delta(reply, 1, DeltaKind::Text, "too early"));
    assert!(partials().is_empty());
    let asked = ModelRequested { item: ITEM, step: 1, attempt: 1, phase: None };
    hub.publish(&committed(vec![record(1, RecordBody::ModelRequested(asked))]));
    hub.delta(&delta(reply, 1, DeltaKind::Text, "now"));
    hub.delta(&delta(reply, 2, DeltaKind::Text, "of another attempt"));
    assert_eq!(partials(), ["now"]);

    let started = CallStarted { call_id: CALL, attempt: 1, sandbox: "none".to_owned() };
    hub.publish(&committed(vec![record(2, RecordBody::CallStarted(started))]));
    hub.delta(&delta(call, 1, DeltaKind::Output, "out"));
    assert_eq!(partials(), ["now", "out"]);
    let end = TaskEnded::of(EndReason::Stopped);
    hub.publish(&committed(vec![record(3, RecordBody::TaskEnded(end))]));
    // A stopped command may print until it has ended.
    hub.delta(&delta(call, 1, DeltaKind::Output, "Terminated"));
    assert!(partials().is_empty(), "nothing of it stays behind");
    let deltas = taken(&outbox).await;
    let deltas = deltas.iter().filter(|o| matches!(o, Outgoing::Notification(Notification::TaskDelta(_))));
    assert_eq!(deltas.count(), 2);
}

#[tokio::test]
async fn the_text_of_a_broken_reply_is_kept_until_the_next_attempt_shows_text() {
    let hub = Hub::default();
    let partials = || hub.join(SUBSCRIPTION, Feed::Roots(CONVERSATION), Outbox::default()).1;
    let request = |seq, item, attempt| {
        let asked = ModelRequested { item, step: 1, attempt, phase: None };
        committed(vec![record(seq, RecordBody::ModelRequested(asked))])
    };
    hub.publish(&request(1, ITEM, 1));
    hub.delta(&delta(DeltaItem::Reply(ITEM), 1, DeltaKind::Text, "Half a"));
    let live = partials();
    assert_eq!(live.len(), 1);
    let failed = ModelFailed {
        item: ITEM,
        attempt: 1,
        kind: ModelErrorKind::Network,
        message: String::new(),
        retry_at: Some(Timestamp(1)),
        sent: true,
    };
    hub.publish(&committed(vec![record(2, RecordBody::ModelFailed(failed))]));
    hub.delta(&delta(DeltaItem::Reply(ITEM), 1, DeltaKind::Text, " late"));
    assert!(partials().is_empty() && hub.still_live(live).is_empty(), "it is not live any more");
    assert_eq!(hub.shown(ITEM), "Half a");
    let next = RecordId(Uuid::from_u128(77));
    hub.publish(&request(3, next, 2));
    assert!(partials().is_empty(), "the next attempt has shown nothing");
    assert_eq!(hub.shown(next), "Half a", "people have read it, and nothing else");
    hub.delta(&delta(DeltaItem::Reply(next), 2, DeltaKind::Reasoning, "Hm."));
    assert_eq!(hub.shown(next), "Half a");
    hub.delta(&delta(DeltaItem::Reply(next), 2, DeltaKind::Text, "A"));
    assert_eq!(hub.shown(next), "A", "the next attempt has text of its own");
    hub.publish(&request(4, RecordId(Uuid::from_u128(78)), 1));
    assert_eq!(hub.shown(RecordId(Uuid::from_u128(78))), "", "a new reply");
}

#[tokio::test]
async fn an_update_never_overtakes_an_older_reply() {
    let outbox = Outbox::default();
    outbox.latest(inbox(&[], &[], 1));
    outbox.latest(inbox(&[], &[], 2));
    outbox.send(reply());
    outbox.latest(inbox(&[], &[], 3));
    let counts: Vec<_> = taken(&outbox)
        .await
        .into_iter()
        .map(|outgoing| match outgoing {
            Outgoing::Notification(Notification::InboxUpdate(u)) => Some(u.count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [Some(2), None, Some(3)]);
}

/// A root task and its sub-task, as updates carry them.
fn tree() -> [Arc<AgentTask>; 2] {
    let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
    let root = Start {
        task: TASK,
        conversation: Some(facts()),
        head: head(""),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    handle(&mut history, Command::Start(Box::new(root)), &mut mint).unwrap();
    begin_sub_task(&mut history, [TASK, SUB_TASK], "", &mut mint);
    let task = |id| Arc::new(view(CONVERSATION, &history, history.task(id).unwrap()).brief());
    [task(TASK), task(SUB_TASK)]
}

#[tokio::test]
async fn each_feed_has_the_records_output_and_updates_of_its_tasks() {
    let [root, sub_task] = tree();
    let roots = [TASK].as_slice();
    for (feed, records, updates) in [
        (Feed::Overview, [].as_slice(), roots),
        (Feed::All, &[TASK, SUB_TASK], &[TASK, SUB_TASK]),
        (Feed::Roots(CONVERSATION), roots, &[TASK, SUB_TASK]),
        (Feed::Tree(CONVERSATION), &[TASK, SUB_TASK], &[TASK, SUB_TASK]),
        (Feed::Task(CONVERSATION, TASK), roots, &[TASK, SUB_TASK]),
        (Feed::Task(CONVERSATION, SUB_TASK), &[SUB_TASK], &[TASK, SUB_TASK]),
        (Feed::Roots(ConversationId(Uuid::nil())), &[], &[]),
    ] {
        let (hub, outbox) = (Hub::default(), Outbox::default());
        let (subscriber, _) = hub.join(SUBSCRIPTION, feed, outbox.clone());
        assert!(subscriber.joined(Seq(0)));
        for (n, task) in [(1, &root), (2, &sub_task)] {
            let item = RecordId(Uuid::from_u128(u128::from(n)));
            let asked = ModelRequested { item, step: 1, attempt: 1, phase: None };
            let mut requested = Record::clone(&record(n, RecordBody::ModelRequested(asked)));
            requested.task_id = Some(task.id);
            let tasks = vec![root.clone(), task.clone()];
            hub.publish(&Committed { tasks, ..committed(vec![Arc::new(requested)]) });
            let item = DeltaItem::Reply(item);
            hub.delta(&Delta { task: task.id, ..delta(item, 1, DeltaKind::Text, "live") });
        }
        // Ends the wait for a feed that has nothing.
        outbox.send(reply());
        let (mut of_records, mut of_deltas, mut of_updates) = (Vec::new(), Vec::new(), Vec::new());
        for outgoing in taken(&outbox).await {
            match outgoing {
                Outgoing::Notification(Notification::TaskEvent(n)) => of_records.extend(n.record.task_id),
                Outgoing::Notification(Notification::TaskDelta(n)) => of_deltas.push(n.task_id),
                Outgoing::Notification(Notification::TaskUpdate(n)) => of_updates.push(n.task.id),
                Outgoing::Reply { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((&*of_records, &*of_deltas, &*of_updates), (records, records, updates), "{feed:?}");
        let (_, partials) = hub.join(SubscriptionId(2), feed, Outbox::default());
        let mut partials: Vec<_> = partials.into_iter().map(|partial| partial.task_id).collect();
        partials.sort();
        assert_eq!(partials, records, "{feed:?}");
    }
}

#[tokio::test]
async fn inbox_additions_and_removals_are_accumulated() {
    let table: [(&[_], &[u128], &[u128]); 4] = [
        // Added and removed; the client may know it from a snapshot.
        (&[inbox(&[1], &[], 1), inbox(&[], &[1], 0)], &[], &[1]),
        // Changed: only the newer one is left.
        (&[inbox(&[1], &[], 1), inbox(&[1], &[], 1)], &[1], &[]),
        (&[inbox(&[], &[1], 0), inbox(&[1], &[], 1)], &[1], &[]),
        (&[inbox(&[1], &[2], 1), inbox(&[3], &[2], 2)], &[1, 3], &[2]),
    ];
    for (updates, added, removed) in table {
        let outbox = Outbox::default();
        updates.iter().for_each(|update| outbox.latest(update.clone()));
        let taken = taken(&outbox).await;
        let [Outgoing::Notification(Notification::InboxUpdate(sum))] = taken.as_slice() else {
            panic!("{taken:?}")
        };
        let ids = |numbers: &[u128]| numbers.iter().map(|n| question(*n).id()).collect::<Vec<PendingId>>();
        assert_eq!(sum.added.iter().map(|item| item.pending.id()).collect::<Vec<_>>(), ids(added));
        assert_eq!(sum.removed, ids(removed));
    }
}

#[tokio::test]
async fn the_queue_is_bounded_by_size_as_well_as_by_count() {
    let (hub, outbox) = (Hub::default(), Outbox::default());
    let (subscriber, _) = hub.join(SUBSCRIPTION, Feed::All, outbox.clone());
    assert!(subscriber.joined(Seq(0)));
    let long = |seq| record(seq, RecordBody::Update(Update { call_id: CALL, text: "x".repeat(1 << 20) }));
    for seq in 1..=20 {
        hub.publish(&committed(vec![long(seq)]));
    }
    let [Outgoing::Notification(Notification::Lagged(lagged))] = &taken(&outbox).await[..] else {
        panic!("the client is told where to resume, and nothing else")
    };
    assert_eq!(lagged.resume_from, Seq(0), "it has read none of them");
    assert!(outbox.is_closed());

    // The records held for a subscriber that reads the store are bounded too.
    let (subscriber, _) = hub.join(SUBSCRIPTION, Feed::All, Outbox::default());
    hub.publish(&committed((21..=30).map(long).collect()));
    assert!(!subscriber.joined(Seq(20)), "it reads on in the store");
}

#[tokio::test]
async fn no_requests_are_read_while_a_client_reads_no_replies() {
    let outbox = Outbox::default();
    let fits = || tokio::time::timeout(std::time::Duration::ZERO, outbox.replies_fit());
    let mut sent = 0;
    while fits().await.is_ok() {
        outbox.send(reply());
        sent += 1;
        assert!(sent < 1000, "replies pile up");
    }
    assert_eq!(taken(&outbox).await.len(), sent);
    assert!(fits().await.is_ok());
}
