//! HistorySnapshots: reading from one comes to the same state as reading all records, and its stored form
//! does not change unnoticed. (Each restart in these tests, and each in the simulation, compares the two; see
//! `world` and `sim`.)

use crate::{
    plan::{ask, read, shell, update},
    world::{DAWN, World, facts, head, somebody},
};
use abide_engine::{History, HistorySnapshot, Tail, UnreadableHistorySnapshot};
use abide_protocol::{
    ApprovalId, CallId, ConversationId, JsonText, QuestionId, RecordId, Seq, TaskId,
    inbox::Decision,
    message::CallOutcome,
    record::{
        ApprovalDecided, CallFinished, Nudge, PartialReply, QuestionAnswered, RecordBody, ReplyRecord,
        UserMessage,
    },
    record::{Compacted, NewRecord, Record, TaskStarted},
    transcript::{Block, CallBlock, Reply, StopReason, TextBlock, ToolResult, Usage},
};
use std::{fs, path::Path};
use uuid::Uuid;

fn folded<'a>(mut history: History, records: impl IntoIterator<Item = &'a NewRecord>) -> History {
    records.into_iter().for_each(|record| history.fold(record));
    history
}

fn record(n: u128, task: Option<TaskId>, body: RecordBody) -> NewRecord {
    NewRecord { id: RecordId(Uuid::from_u128(n)), task_id: task, at: DAWN.plus(n.try_into().unwrap()), body }
}

/// A conversation in whose snapshot every kind of entry, block, answer and decision stands.
fn records() -> Vec<NewRecord> {
    let first = TaskId(Uuid::from_u128(1));
    let second = TaskId(Uuid::from_u128(2));
    let call = CallId(Uuid::from_u128(3));
    let opaque = || Some(JsonText::parse(r#"{"signature":"s"}"#).unwrap());
    let text = |text: &str| TextBlock { text: text.to_owned(), opaque: opaque() };
    let usage = Usage { input: 1, output: 2, cost_micros: Some(3), ..Usage::default() };
    let reply = Reply {
        blocks: vec![
            Block::Reasoning(text("because")),
            Block::Text(text("so")),
            Block::Call(CallBlock {
                id: call,
                provider_id: "call_1".to_owned(),
                tool: "shell".to_owned(),
                arguments: "{}".to_owned(),
                opaque: None,
            }),
        ],
        api: "openai-chat".to_owned(),
        model: "m".to_owned(),
        stop_reason: StopReason::ToolCalls,
        usage,
    };
    let answered = |n, response: Option<&str>| {
        RecordBody::QuestionAnswered(QuestionAnswered {
            question_id: QuestionId(Uuid::from_u128(n)),
            response: response.map(str::to_owned),
            by: None,
        })
    };
    let decided = |n, decision| {
        let approval_id = ApprovalId(Uuid::from_u128(n));
        RecordBody::ApprovalDecided(ApprovalDecided {
            approval_id,
            call_id: call,
            decision,
            note: None,
            by: somebody(),
        })
    };
    let finished = CallFinished {
        call_id: call,
        attempt: 1,
        outcome: CallOutcome::Done,
        result: ToolResult::success("fine", None),
        duration_ms: 1,
        read_results: Vec::new(),
    };
    let bodies = [
        (None, RecordBody::ConversationCreated(facts())),
        (Some(first), RecordBody::TaskStarted(Box::new(head()))),
        (Some(first), RecordBody::UserMessage(UserMessage { text: "go".to_owned() })),
        (Some(first), RecordBody::Reply(ReplyRecord::new(1, 1, reply))),
        (Some(first), decided(4, Decision::AllowAlways)),
        (Some(first), decided(5, Decision::RejectOnce)),
        (Some(first), RecordBody::CallFinished(finished)),
        (Some(first), answered(6, Some("yes"))),
        (Some(first), answered(7, None)),
        (Some(first), RecordBody::Nudge(Nudge::new("on".to_owned()))),
        (Some(first), RecordBody::PartialReply(PartialReply { text: "Well".to_owned() })),
        (Some(second), RecordBody::TaskStarted(Box::new(head()))),
        (Some(second), RecordBody::UserMessage(UserMessage { text: "again".to_owned() })),
    ];
    (10..).zip(bodies).map(|(n, (task, body))| record(n, task, body)).collect()
}

/// `ABIDE_BLESS=1` writes the file. A difference is a change of the form: raise [`HistorySnapshot::FORM`] and
/// name the file for it.
#[test]
fn the_stored_form_has_a_number() {
    let records = records();
    let whole = folded(History::default(), &records);
    let encoded = whole.snapshot().unwrap().encode().unwrap();
    let file = format!("tests/engine/history-snapshot-{}.bin", HistorySnapshot::FORM);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    if std::env::var_os("ABIDE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &encoded).unwrap();
    }
    let stored = fs::read(&path).expect("ABIDE_BLESS=1 writes it");
    assert!(stored == encoded, "{file} differs from what this version stores");
    let root = records.len() - 2;
    assert_eq!(folded(History::from_snapshot(&stored).unwrap(), &records[root..]), whole);
}

#[test]
fn a_damaged_snapshot_is_an_error() {
    let encoded = folded(History::default(), &records()).snapshot().unwrap().encode().unwrap();
    for length in 0..encoded.len() {
        History::from_snapshot(&encoded[..length]).unwrap_err();
    }
    let longer = [&encoded[..], &[0; 3]].concat();
    assert!(matches!(History::from_snapshot(&longer), Err(UnreadableHistorySnapshot::Longer(3))));
    let mut endless = encoded;
    // The length of the title.
    endless[1..9].fill(0xff);
    History::from_snapshot(&endless).unwrap_err();
}

/// Taken at any moment of a task, a snapshot leads to the state that all records lead to.
#[test]
fn a_snapshot_may_be_taken_at_any_moment_of_its_root() {
    let mut w = World::started();
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    let asked = w.reply("", &[ask("?")])[0];
    let question = w.question().id;
    w.answer(question, Some("b")).unwrap();
    assert_eq!(w.outcome(asked), Some(CallOutcome::Done));
    w.stop("");
    w.start(head()).unwrap();
    let first_of_root = w.records.len() - w.records.iter().rev().position(begins).unwrap() - 1;
    let late = w.reply("", &[shell("c").asking(), update("u")]);
    w.decide(late[0], Decision::AllowOnce);
    w.finish(late[0], false);
    w.reply("Done.", &[]);
    // What the first root's model read is elided while the second is at work.
    let elided = RecordBody::Compacted(Compacted { elided: vec![call, late[0]], ..Compacted::default() });
    let elided = NewRecord { id: w.mint().record_id(), task_id: Some(w.id), at: w.now, body: elided };
    w.history.fold(&elided);
    w.records.push(elided);

    let mut history = folded(History::default(), &w.records[..first_of_root]);
    for record in &w.records[first_of_root..] {
        history.fold(record);
        let encoded = history.snapshot().unwrap().encode().unwrap();
        let resumed = folded(History::from_snapshot(&encoded).unwrap(), &w.records[first_of_root..]);
        assert_eq!(resumed, w.history, "taken after {record:?}");
    }
}

fn begins(record: &NewRecord) -> bool {
    matches!(record.body, RecordBody::TaskStarted(_))
}

#[test]
fn a_snapshot_saves_the_records_before_the_newest_root() {
    let mut tail = Tail::default();
    let child = TaskStarted { parent_id: Some(TaskId(Uuid::from_u128(1))), ..head() };
    let saved: Vec<usize> = records()
        .into_iter()
        .map(|record| record.body)
        .chain([RecordBody::TaskStarted(Box::new(child))])
        .map(|body| {
            tail.count(&body);
            tail.saved()
        })
        .collect();
    assert_eq!(saved, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11, 11, 11]);
    tail.cut();
    assert_eq!(tail.saved(), 0);
}

/// A daemon reads stored records; the engine folds them before they are stored.
#[test]
fn stored_records_lead_to_the_state_that_the_engine_had() {
    let mut read = History::default();
    for (seq, NewRecord { id, task_id, at, body }) in (1..).zip(records()) {
        let conversation_id = ConversationId(Uuid::nil());
        read.see(&Record { seq: Seq(seq), id, conversation_id, task_id, at, body });
    }
    assert_eq!(read, folded(History::default(), &records()));
    assert!(read.root().is_some());
}
