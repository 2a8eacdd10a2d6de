use super::support::*;
use abide_protocol::{
    event::EventKind,
    record::{ModelRequested, ModelTraced, RecordBody, Trace},
    transcript::{Block, TextBlock},
};

fn requested(n: u64) -> RecordBody {
    let item = abide_protocol::RecordId(uuid(9, n));
    RecordBody::ModelRequested(ModelRequested { item, step: 1, attempt: 1, phase: None })
}

fn traced(n: u64, raw: &str) -> RecordBody {
    let traces = vec![Trace { what: "odd".to_owned(), raw: raw.to_owned() }];
    let item = abide_protocol::RecordId(uuid(9, n));
    RecordBody::ModelTraced(ModelTraced { item, attempt: 1, traces, left_out: 2 })
}

#[tokio::test]
async fn a_history_has_its_own_tasks_messages_and_events_with_traces() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let own = [requested(1), traced(1, "raw"), reply("Hello", &[])];
    let records = (10..).zip(own).map(|(n, body)| record(n, Some(1), body)).collect();
    store.append(append(id, records)).await.unwrap();
    store.append(append(id, vec![record(20, None, notice("of nobody"))])).await.unwrap();

    let history = store.task_history(id, task_id(1)).await.unwrap();
    let texts: Vec<_> = history.messages.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts.last(), Some(&"Hello"));
    assert!(!texts.contains(&"of nobody") && !history.is_cut);
    let Some(EventKind::ModelTraced(traced)) = history.events.last().map(|event| &event.kind) else {
        panic!("{:?}", history.events)
    };
    assert_eq!((traced.count, traced.traces.len(), traced.traces[0].raw.as_str()), (3, 1, "raw"));
    assert!(history.events.is_sorted_by_key(|event| event.seq));

    let page = store.messages(id, None, 10).await.unwrap();
    let of_page = page.events.iter().find_map(|event| match &event.kind {
        EventKind::ModelTraced(traced) => Some(traced),
        _ => None,
    });
    assert_eq!(
        of_page.map(|traced| (traced.count, traced.traces.len())),
        Some((3, 0)),
        "a page says how many"
    );
}

#[tokio::test]
async fn a_long_history_is_cut_to_its_newest_part() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let long = "x".repeat(100_000);
    for n in 0..30 {
        let said = record(10 + n, Some(1), reply(&format!("{n} {long}"), &[]));
        store.append(append(id, vec![said])).await.unwrap();
    }
    let history = store.task_history(id, task_id(1)).await.unwrap();
    assert!(history.is_cut && history.messages.len() < 30, "{}", history.messages.len());
    assert!(history.messages.last().unwrap().text.starts_with("29 "));
}

/// A reply with a history has to fit in a frame, whatever makes it long.
#[tokio::test]
async fn all_texts_of_a_history_count_towards_its_cut() {
    let long = "x".repeat(100_000);
    let thinks = || {
        let RecordBody::Reply(mut said) = reply("So.", &[]) else { unreachable!("it is a reply") };
        said.reply.blocks.insert(0, Block::Reasoning(TextBlock { text: long.clone(), opaque: None }));
        RecordBody::Reply(said)
    };
    let bodies: [&dyn Fn(u64) -> RecordBody; 3] =
        [&|_| reply(&long, &[]), &|_| thinks(), &|n| traced(n, &long)];
    for body in bodies {
        let home = Home::new();
        let store = home.open();
        let id = begin(&store, 1, 1).await;
        let records = (0..60).map(|n| record(10 + n, Some(1), body(n))).collect();
        store.append(append(id, records)).await.unwrap();
        let history = store.task_history(id, task_id(1)).await.unwrap();
        // 21 of 100 kB are the first to exceed 2 MiB.
        assert_eq!((history.messages.len() + history.events.len(), history.is_cut), (21, true));
        // A page has 4 MiB, and no traces.
        let page = store.messages(id, None, 100).await.unwrap();
        assert!(page.messages.is_empty() || (page.messages.len() == 42 && page.before.is_some()));
    }
}
