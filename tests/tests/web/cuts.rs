//! A client whose stream is cut at any point goes on with the last id that it has read: it misses nothing and
//! reads nothing twice.

use super::open::{chat, device, message, session};
use abide_client::protocol::record::RecordBody;
use abide_tests::{
    http::{HttpClient, SentEvent},
    ledger::{self, LedgerLine},
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::json;

const PIECES: [&str; 4] = ["Ünder way,", " with é in it,", " and “quotes”,", " to the end."];

/// The text that a client has put together.
pub(super) fn text(events: &[SentEvent]) -> String {
    events.iter().filter(|e| e.name == "text_delta").map(|e| e.data["text"].as_str().unwrap()).collect()
}

/// All else that it has read.
pub(super) fn others(events: &[SentEvent]) -> Vec<&SentEvent> {
    events.iter().filter(|event| event.name != "text_delta").collect()
}

/// The ids that name the end of a record.
pub(super) fn whole_ids(events: &[SentEvent]) -> Vec<u64> {
    let mut seqs: Vec<u64> =
        events.iter().map(|event| event.id.split('~').next().unwrap().parse().unwrap()).collect();
    seqs.dedup();
    seqs
}

/// The records of the session's task, and the text of its replies.
pub(super) fn recorded(world: &World) -> (Vec<u64>, String) {
    let lines: Vec<LedgerLine> = ledger::read(&world.daemon.home());
    let first = lines.iter().position(|line| line.kind == "task_started").unwrap();
    (lines[first..].iter().map(|line| line.seq.0).collect(), said(world, None))
}

/// The text of a task's replies; without a task, of all.
pub(super) fn said(world: &World, task: Option<&str>) -> String {
    let lines = ledger::read(&world.daemon.home());
    let of_task = lines.iter().filter(|line| match (task, line.task) {
        (Some(task), Some(own)) => own.to_string() == task,
        (task, _) => task.is_none(),
    });
    let replies = of_task.filter_map(|line| match line.record() {
        RecordBody::Reply(reply) => Some(reply.shown()),
        _ => None,
    });
    replies.collect()
}

/// Reads with a new connection for each event, from this id up to the end of the task.
async fn piecemeal(
    device: &HttpClient,
    session: &str,
    from: &str,
    at_each: impl Fn(usize),
) -> Vec<SentEvent> {
    let mut seen: Vec<SentEvent> = Vec::new();
    while !seen.last().is_some_and(SentEvent::is_end) {
        let last = seen.last().map_or(from, |event| &event.id).to_owned();
        let event = device.stream(session, Some(&last)).await.next().await;
        let event = event.expect("the task has not ended");
        assert_ne!(event.id, last, "an id is of one event");
        seen.push(event);
        at_each(text(&seen).len());
    }
    seen
}

#[tokio::test]
async fn text_and_ids_equal_the_records_however_often_the_stream_is_cut() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let gates = [Gate::new("first"), Gate::new("second"), Gate::new("third")];
    let mut turn = Turn::say(PIECES[0]);
    for (gate, piece) in gates.iter().zip(&PIECES[1..]) {
        turn = turn.gate(gate).text(*piece);
    }
    let calls = [Turn::say("Listing.").call("list", json!({})).call("list", json!({ "path": "." }))];
    let script: Vec<Turn> =
        std::iter::once(turn.call("list", json!({}))).chain(calls).chain([Turn::done("Done.")]).collect();
    world.model.script("cut", script);
    let (begun, mut steady) = chat(&device, &session, "cut").await;
    let from = begun["lastEventId"].as_str().unwrap();

    // A gate opens when what is before it has been read, so each piece is read live.
    let ends: Vec<usize> =
        (1..PIECES.len()).map(|n| PIECES[..n].iter().map(|piece| piece.len()).sum()).collect();
    let opens = |had: usize| {
        for (gate, _) in gates.iter().zip(&ends).filter(|(_, end)| had >= **end) {
            gate.open();
        }
    };
    let cut = piecemeal(&device, &session, from, opens).await;
    let whole = steady.until_end().await;
    let (seqs, said) = recorded(&world);
    assert_eq!((text(&cut), text(&whole)), (said.clone(), said.clone()));
    assert_eq!(others(&cut).len(), others(&whole).len());
    for events in [&cut, &whole] {
        // Deltas have the id of the record before them, so the first id may be that one.
        let ids: Vec<u64> = whole_ids(events).into_iter().filter(|seq| seqs.contains(seq)).collect();
        assert_eq!(ids, seqs[..ids.len()], "each once and in order");
        let ended = seqs.iter().position(|seq| whole.last().unwrap().id == seq.to_string()).unwrap();
        assert_eq!(ids.len(), ended + 1);
    }
    assert!(cut.iter().filter(|event| event.name == "text_delta").count() >= PIECES.len());

    // The same again from every id, also from those that were live, now that everything is recorded.
    let all: Vec<&SentEvent> = cut.iter().chain(&whole).collect();
    for event in all.iter().filter(|event| !event.is_end()) {
        let had: &[SentEvent] = if cut.contains(event) { &cut } else { &whole };
        let at = had.iter().position(|other| other == *event).unwrap();
        let rest = device.stream(&session, Some(&event.id)).await.until_end().await;
        let together: Vec<SentEvent> = had[..=at].iter().chain(&rest).cloned().collect();
        assert_eq!(text(&together), said, "after {}", event.id);
        let (together, cut) = (others(&together), others(&cut));
        assert_eq!(together.len(), cut.len(), "after {}", event.id);
        for (one, other) in together.iter().zip(&cut) {
            assert_eq!((&one.name, &one.data), (&other.name, &other.data), "after {}", event.id);
        }
    }
}

/// Whatever of a reply's text is not what people see: blanks around, calls between, control blocks.
#[tokio::test]
async fn live_text_is_the_beginning_of_what_is_recorded() {
    let world = World::start().await;
    let device = device(&world).await;
    let block = |fields: &str| format!("\n\n```json\n{{{fields}}}\n```");
    // A call that repeats itself would ask whether the task is stuck.
    let list = |n: usize| json!({ "path": format!(".{}", "/.".repeat(n)) });
    let between = vec![
        Turn::say(" Hello \n").call("list", list(0)).text("World").call("list", list(1)).text("\n\n!"),
        Turn::say("Hello").call("list", list(2)).text("World\n").call("list", list(3)),
        Turn::say("I think <of> it.\n").call("list", list(4)),
        Turn::done("Done."),
    ];
    let roa = vec![
        Turn::say(format!("I {{look}}. \n{}\n And so on.\n", block(r#""plan": "Look.", "finish": false"#))),
        Turn::say("\n\nNothing to do.  "),
        Turn::say(r#" So: {"observation": "All.", "should_continue": false, "final_answer": "It is 42."}"#),
    ];
    let plan = vec![
        Turn::say("  I forgot the format.\n"),
        Turn::say(
            r#"Well then: {"reasoning": "So.", "tool_calls": [], "question": null, "is_complete": true}"#,
        ),
    ];
    let tree = vec![
        Turn::say(format!("\nTwo things. \n {}", block(r#""ambiguous": false, "question": """#))),
        Turn::say(r#"{"missing": false, "question": ""}"#),
        Turn::say("No {parts}. {\"subquestions\": []}"),
        Turn::say("I work.\n").call("task_complete", json!({ "summary": "Done." })),
        Turn::say(format!("In `sum`:\n\n{}", block(r#""answer": "All.", "uncertain": false"#))),
    ];
    for (mode, script) in [("agent", between), ("roa", roa), ("plan", plan), ("tree", tree)] {
        let provider = json!({ "provider": "claude", "model": "scripted-1" });
        let session = device.post("/api/sessions", &provider).await.json()["sessionId"].clone();
        let session = session.as_str().unwrap();
        world.model.script(mode, script);
        let mut asked = message(mode);
        asked["mode"] = json!(mode);
        let begun = device.post(&format!("/api/sessions/{session}/chat"), &asked).await;
        assert_eq!(begun.status, 202, "{mode}: {begun:?}");
        let begun = begun.json();
        let from = begun["lastEventId"].as_str().unwrap();
        let mut steady = device.stream(session, Some(from)).await;
        let cut = piecemeal(&device, session, from, |_| {}).await;
        let whole = steady.until_end().await;
        assert_eq!(whole.last().unwrap().data["status"], "completed", "{mode}: {whole:#?}");
        let task = begun["taskId"].as_str().unwrap();
        let said: String = said(&world, Some(task));
        assert_eq!((text(&whole), text(&cut)), (said.clone(), said), "{mode}: {whole:#?}");
    }
}

#[tokio::test]
async fn forged_ids_are_refused_or_read_as_what_they_say() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    world.model.script("forged", [Turn::done("Done.")]);
    let (_, mut stream) = chat(&device, &session, "forged").await;
    stream.until_end().await;
    let item = "0190a1b2-0000-7000-8000-00000000000a";
    let ask = async |id: &str| {
        let cursor = format!("Last-Event-ID: {id}\r\nConnection: close\r\n\r\n");
        let token = device.token.as_deref().unwrap();
        let head = format!("GET /api/sessions/{session}/stream HTTP/1.1\r\nHost: {}\r\n", device.authority);
        device.raw(&format!("{head}Authorization: Bearer {token}\r\n{cursor}")).await
    };
    let newest = u64::MAX.to_string();
    let far = format!("9~{item}.1.1.1.1.1");
    for id in ["x", "1;2", "-1", "1~", "999999999", &newest, &far, "18446744073709551616", "1\u{7f}"] {
        let answer = ask(id).await;
        assert_eq!(answer.status, 400, "{id}: {answer:?}");
    }
    let forged = format!("0~{item}.4294967295.{}", usize::MAX);
    let all = device.stream(&session, Some(&forged)).await.until_end().await;
    assert_eq!(all.first().unwrap().data["kind"], "conversation_created");
}
