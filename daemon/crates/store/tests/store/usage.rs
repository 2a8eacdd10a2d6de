use super::support::*;
use abide_protocol::{
    RecordId, Timestamp,
    method::usage::UsageRow,
    record::{CallFinished, ModelErrorKind, ModelFailed, RecordBody, ReplyRecord},
    task::{AgentTask, Status},
    transcript::{Reply, StopReason, Usage},
};
use abide_store::{Append, Store, UsageQuery};

/// Noon, so that it is the same day almost everywhere; in ms.
const NOON: i64 = 12 * 3600 * 1000;
const DAY: i64 = 24 * 3600 * 1000;

fn used(input: u64, cost: Option<u64>) -> Usage {
    Usage { input, output: 1, model_calls: 1, cost_micros: cost, ..Usage::default() }
}

fn replied(usage: Usage) -> RecordBody {
    let (api, model) = ("scripted".to_owned(), "model".to_owned());
    let reply = Reply { blocks: Vec::new(), api, model, stop_reason: StopReason::EndTurn, usage };
    RecordBody::Reply(ReplyRecord::new(1, 1, reply))
}

fn failed(sent: bool) -> RecordBody {
    RecordBody::ModelFailed(ModelFailed {
        item: RecordId(uuid(9, 9)),
        attempt: 1,
        kind: ModelErrorKind::Network,
        message: "no".to_owned(),
        retry_at: None,
        sent,
    })
}

/// A call has ended that has asked a model, or none.
fn asked(usage: Option<Usage>) -> RecordBody {
    let RecordBody::CallFinished(call) = finished(9, 1) else { unreachable!("it is finished") };
    RecordBody::CallFinished(CallFinished { usage, ..call })
}

/// Appends bodies of task `task` at these times.
async fn at(store: &Store, n: u64, task_n: u64, model: &str, bodies: Vec<(i64, RecordBody)>) {
    let id = conversation(n);
    let records = bodies.into_iter().enumerate().map(|(i, (at, body))| {
        let number = 1000 * n + 100 * task_n + i as u64;
        abide_protocol::record::NewRecord { at: Timestamp(at), ..record(number, Some(task_n), body) }
    });
    let task = AgentTask { model: model.to_owned(), ..task(id, task_n, Status::Completed, Vec::new()) };
    let append = Append { tasks: vec![projection(task)], ..append(id, records.collect()) };
    store.append(append).await.unwrap();
}

#[tokio::test]
async fn usage_is_summed_by_day_model_and_conversation() {
    let home = Home::new();
    let store = home.open();
    for n in [1, 2] {
        begin(&store, n, n).await;
    }
    let replies =
        |day: i64| vec![(day + NOON, replied(used(10, Some(5)))), (day + NOON, replied(used(20, None)))];
    at(&store, 1, 11, "a/large", [replies(0), replies(DAY)].concat()).await;
    let beside = [asked(Some(used(4, Some(2)))), asked(None)].map(|body| (DAY + NOON, body));
    let of_small = [vec![(DAY + NOON, replied(used(7, None)))], beside.into()].concat();
    at(&store, 1, 12, "local/small", of_small).await;
    at(&store, 2, 13, "a/large", vec![(DAY + NOON, failed(true)), (DAY + NOON, failed(false))]).await;

    let all = store.usage(UsageQuery::default()).await.unwrap();
    assert!(!all.is_cut);
    let told = |row: &UsageRow| {
        let UsageRow { day, model, title, usage, .. } = row;
        (day.clone(), model.clone(), title.clone(), usage.input, usage.model_calls, usage.cost_micros)
    };
    let row = |day: &str, model: &str, title: &str, input, calls, cost| {
        (day.to_owned(), model.to_owned(), title.to_owned(), input, calls, cost)
    };
    let newer = vec![
        row("1970-01-02", "a/large", "title 1", 30, 2, Some(5)),
        row("1970-01-02", "local/small", "title 1", 11, 2, Some(2)),
        row("1970-01-02", "a/large", "title 2", 0, 1, None),
    ];
    let older = row("1970-01-01", "a/large", "title 1", 30, 2, Some(5));
    assert_eq!(
        all.rows.iter().map(told).collect::<Vec<_>>(),
        newer.iter().cloned().chain([older]).collect::<Vec<_>>()
    );
    for query in [
        UsageQuery { since: Some(Timestamp(DAY)), since_day: None },
        UsageQuery { since: None, since_day: Some("1970-01-02".to_owned()) },
    ] {
        let rows = store.usage(query).await.unwrap().rows;
        assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), newer);
    }
    store.delete_conversation(conversation(1), Timestamp(DAY), RecordId(uuid(8, 8))).await.unwrap();
    assert_eq!(store.usage(UsageQuery::default()).await.unwrap().rows.len(), 1, "what is deleted is gone");
}
