use super::*;
use abide_protocol::{
    ApprovalId, ConversationId, JsonText, TaskId, Timestamp,
    inbox::Decision,
    message::CallOutcome,
    record::{
        ApprovalDecided, By, CallAssessed, CallFinished, Direct, DirectOutput, Intervened, Intervener,
        InterventionKind, ModelErrorKind, ModelFailed, ModelRequested, ModelTraced, PartialReply, Permission,
        ReplyRecord, TaskEnded, Trace, UserMessage, Via,
    },
    task::EndReason,
    transcript::{Block, CallBlock, EffectClass, Reply, Risk, StopReason, TextBlock, ToolResult, Usage},
};
use uuid::Uuid;

const TEXT: &str = "Half a reply, and the other half: é.";

fn item(n: u128) -> RecordId {
    RecordId(Uuid::from_u128(n))
}

fn record(seq: u64, body: RecordBody) -> Record {
    let (id, conversation_id) = (item(u128::from(seq)), ConversationId(Uuid::from_u128(1)));
    let task_id = Some(TaskId(Uuid::from_u128(2)));
    Record { seq: Seq(seq), id, conversation_id, task_id, at: Timestamp(0), body }
}

fn call(n: u128) -> CallBlock {
    CallBlock {
        id: CallId(Uuid::from_u128(n)),
        provider_id: "p".to_owned(),
        tool: "read".to_owned(),
        arguments: "{}".to_owned(),
        opaque: Some(JsonText::from(json!({ "secret": "opaque" }))),
    }
}

/// A reply with this text and two calls.
fn reply(seq: u64, text: &str) -> Record {
    let text = TextBlock { text: text.to_owned(), opaque: None };
    let blocks = vec![Block::Text(text), Block::Call(call(71)), Block::Call(call(72))];
    let (api, model) = ("scripted".to_owned(), "m".to_owned());
    let reply = Reply { blocks, api, model, stop_reason: StopReason::ToolCalls, usage: Usage::default() };
    record(seq, RecordBody::Reply(ReplyRecord::new(1, 1, reply)))
}

fn finished(seq: u64) -> Record {
    record(
        seq,
        RecordBody::CallFinished(CallFinished {
            call_id: CallId(Uuid::from_u128(71)),
            attempt: 1,
            outcome: CallOutcome::Done,
            result: ToolResult::success("read it", None),
            duration_ms: 1,
            read_results: vec![],
            usage: None,
        }),
    )
}

fn ended(seq: u64) -> Record {
    let error = Some("no more".to_owned());
    record(seq, RecordBody::TaskEnded(TaskEnded { error, ..TaskEnded::of(EndReason::Error) }))
}

fn live(n: u128, attempt: u32, offset: u64, text: &str) -> TaskDelta {
    TaskDelta {
        subscription_id: abide_protocol::SubscriptionId(1),
        conversation_id: ConversationId(Uuid::from_u128(1)),
        task_id: TaskId(Uuid::from_u128(2)),
        item: DeltaItem::Reply(item(n)),
        attempt,
        kind: DeltaKind::Text,
        offset,
        text: text.to_owned(),
    }
}

/// The request for this attempt of a reply.
fn requested(seq: u64, n: u128, attempt: u32) -> Record {
    let asked = ModelRequested { item: item(n), step: 1, attempt, phase: None };
    record(seq, RecordBody::ModelRequested(asked))
}

fn failed(seq: u64, n: u128, attempt: u32) -> Record {
    let failed = ModelFailed {
        item: item(n),
        attempt,
        kind: ModelErrorKind::Network,
        message: "cut".to_owned(),
        retry_at: Some(Timestamp(1)),
        sent: true,
    };
    record(seq, RecordBody::ModelFailed(failed))
}

/// What was cut off, with the id of its reply.
fn cut_off(seq: u64, n: u128, text: &str) -> Record {
    let body = RecordBody::PartialReply(PartialReply { text: text.to_owned() });
    Record { id: item(n), ..record(seq, body) }
}

fn from(seq: u64) -> Narration {
    Narration::after(Cursor { seq: Seq(seq), part: None }, Voice::Session)
}

/// What was told: id, and the data.
fn events(told: impl IntoIterator<Item = Told>) -> Vec<(String, Value)> {
    told.into_iter()
        .map(|told| {
            let (id, data) = (told.id.to_string(), told.data.clone());
            assert_eq!(told.sse(Voice::Session), format!("event: {}\nid: {id}\ndata: {data}\n\n", told.name));
            assert_eq!(told.sse(Voice::Chunks), format!("id: {id}\ndata: {data}\n\n"));
            assert_eq!(data["type"], told.name);
            (id, data)
        })
        .collect()
}

/// The text that a client has, and everything else, in order.
fn read(told: &[(String, Value)]) -> (String, Vec<Value>) {
    let (mut text, mut rest) = (String::new(), Vec::new());
    for (_, data) in told {
        match data["type"].as_str() {
            Some("text_delta") => text.push_str(data["text"].as_str().unwrap()),
            Some("text-delta") => text.push_str(data["textDelta"].as_str().unwrap()),
            Some("reasoning") => {}
            _ => rest.push(data.clone()),
        }
    }
    (text, rest)
}

#[test]
fn a_client_that_is_cut_after_any_event_misses_nothing_and_reads_nothing_twice() {
    let user = record(10, RecordBody::UserMessage(UserMessage { text: "Do it.".to_owned() }));
    let records = [user, reply(11, TEXT), finished(12), reply(13, "Second."), ended(14)];
    let beside = Beside::default();
    // Live output of the first reply in three pieces, of the second none.
    let (first, second) = TEXT.split_at(9);
    let mut whole = from(9);
    let mut told = whole.record(&records[0], &beside);
    told.extend(whole.delta(&live(11, 1, 0, first)));
    told.extend(whole.delta(&live(11, 1, 9, &second[..6])));
    for record in &records[1..] {
        told.extend(whole.record(record, &beside));
    }
    let told = events(told);
    let everything = read(&told);
    assert_eq!(everything.0, format!("{TEXT}Second."));
    assert_eq!(told.len(), 1 + 3 + 3 + 1 + 1 + 3 + 2, "{told:#?}");
    let plain: Vec<_> = told.iter().map(|(id, _)| id).filter(|id| !id.contains('~')).collect();
    assert_eq!(plain, ["10", "11", "12", "13", "14"]);
    for cut in 0..=told.len() {
        let had = &told[..cut];
        let cursor = had.last().map_or(Cursor { seq: Seq(9), part: None }, |(id, _)| id.parse().unwrap());
        let mut again = Narration::after(cursor, Voice::Session);
        let mut rest = Vec::new();
        // As a subscription does: the records after the cursor, but also one before it does no harm.
        for record in &records {
            rest.extend(again.record(record, &Beside { tool: Some("read".to_owned()), ..beside.clone() }));
        }
        let rest = events(rest);
        let all: Vec<_> = had.iter().chain(&rest).cloned().collect();
        assert_eq!(read(&all), everything, "cut after {cut}: {:?}", had.last());
    }
}

#[test]
fn chunks_are_resumed_like_events_and_tell_the_reasoning() {
    let mut thought = reply(11, TEXT);
    if let RecordBody::Reply(reply) = &mut thought.body {
        let thinking = TextBlock { text: "Hmm.".to_owned(), opaque: Some(JsonText::from(json!("secret"))) };
        reply.reply.blocks.insert(0, Block::Reasoning(thinking));
    }
    let records = [requested(10, 11, 1), thought, finished(12), ended(13)];
    let beside = |record: &Record| Beside {
        tool: Some("read".to_owned()),
        agent: matches!(record.body, RecordBody::TaskEnded(_)).then(|| json!({ "status": "error" })),
        ..Beside::default()
    };
    let after = |cursor| Narration::after(cursor, Voice::Chunks);
    let mut whole = after(Cursor { seq: Seq(9), part: None });
    let mut told = whole.record(&records[0], &beside(&records[0]));
    told.extend(whole.delta(&TaskDelta { kind: DeltaKind::Reasoning, ..live(11, 1, 0, "Hm") }));
    told.extend(whole.delta(&live(11, 1, 0, &TEXT[..9])));
    records[1..].iter().for_each(|record| told.extend(whole.record(record, &beside(record))));
    let told = events(told);
    let kinds: Vec<_> = told.iter().map(|(_, data)| data["type"].as_str().unwrap()).collect();
    let of_reply =
        ["step-start", "reasoning", "text-delta", "reasoning", "text-delta", "tool-call", "tool-call"];
    let of_rest = ["step-finish", "tool-result", "agent-state", "error", "finish"];
    assert_eq!(kinds, [&of_reply[..], &of_rest[..]].concat());
    assert!(told.iter().all(|(_, data)| !data.to_string().contains("secret")), "{told:#?}");
    let reasoning = |told: &[(String, Value)]| -> String {
        told.iter()
            .filter(|(_, d)| d["type"] == "reasoning")
            .map(|(_, d)| d["textDelta"].as_str().unwrap())
            .collect()
    };
    for cut in 0..=told.len() {
        let cursor =
            told[..cut].last().map_or(Cursor { seq: Seq(9), part: None }, |(id, _)| id.parse().unwrap());
        let mut again = after(cursor);
        let rest = events(records.iter().flat_map(|record| again.record(record, &beside(record))));
        let all: Vec<_> = told[..cut].iter().chain(&rest).cloned().collect();
        assert_eq!((read(&all), reasoning(&all)), (read(&told), "Hmm.".to_owned()), "cut after {cut}");
    }
}

#[test]
fn live_text_is_told_once_however_it_comes() {
    let mut told = from(9);
    assert_eq!(read(&events(told.delta(&live(11, 1, 0, "abc")))).0, "abc");
    // Again, overlapping, after a gap.
    assert_eq!(told.delta(&live(11, 1, 0, "abc")), None);
    assert_eq!(read(&events(told.delta(&live(11, 1, 2, "cd")))).0, "d");
    assert_eq!(told.delta(&live(11, 1, 7, "hij")), None);
    let cursor = told.cursor();
    assert_eq!(cursor.to_string(), format!("9~{}.1.4", item(11)));
    assert_eq!(read(&events(told.record(&reply(11, "abcdefghij"), &Beside::default()))).0, "efghij");
    // What was held while the store was read comes after the record.
    assert_eq!(told.delta(&live(11, 1, 0, "abc")), None);
    assert_eq!(told.cursor().to_string(), "11");

    // A client that comes back gets the rest of what is live.
    let mut again = Narration::after(cursor, Voice::Session);
    assert_eq!(read(&events(again.delta(&live(11, 1, 0, "abcdef")))).0, "ef");
    // A forged number of bytes cuts no character and ends nothing.
    for (bytes, rest) in [(1, "é!"), (2, "!"), (3, ""), (usize::MAX, "")] {
        let part = Part { bytes, ..Part::none(item(11), 1) };
        let mut forged = Narration::after(Cursor { seq: Seq(9), part: Some(part) }, Voice::Session);
        assert_eq!(forged.delta(&live(11, 1, 0, "")), None);
        let (text, others) = read(&events(forged.record(&reply(11, "é!"), &Beside::default())));
        assert_eq!((&*text, others.len()), (rest, 3), "{bytes}");
    }
}

#[test]
fn another_attempt_begins_its_text_anew_after_the_withdrawal_of_the_first() {
    let mut told = from(9);
    told.delta(&live(20, 1, 0, "Wro"));
    let withdrawn = events(told.record(&failed(10, 20, 1), &Beside::default()));
    assert_eq!((&*withdrawn[0].0, &withdrawn[0].1["kind"]), ("10", &json!("model_failed")));
    told.record(&requested(11, 20, 2), &Beside::default());
    assert_eq!(read(&events(told.delta(&live(20, 2, 0, "Right")))).0, "Right");
    // A client that was cut in the first attempt, and comes back when the second is recorded.
    let part = Part { bytes: 3, ..Part::none(item(12), 2) };
    let mut again = Narration::after(Cursor { seq: Seq(9), part: Some(part) }, Voice::Session);
    assert_eq!(read(&events(again.record(&reply(12, "Right."), &Beside::default()))).0, "Right.");
}

#[test]
fn live_output_of_no_attempt_that_is_under_way_is_not_told() {
    let modified = Intervened {
        by: Intervener::Person(By { via: Via::Http, name: "phone".to_owned() }),
        kind: InterventionKind::Modify,
        comment: String::new(),
        content: Some("Other".to_owned()),
        withdraws: Some(item(20)),
    };
    let overs = [
        failed(11, 20, 1),
        cut_off(11, 20, "Wro"),
        ended(11),
        Record { id: item(20), ..reply(11, "Wro") },
        record(11, RecordBody::Intervened(modified)),
    ];
    for over in overs {
        let kind = events(trace_of(&over))[0].1["kind"].clone();
        let mut told = from(9);
        told.record(&requested(10, 20, 1), &Beside::default());
        assert_eq!(told.delta(&live(20, 2, 0, "Not yet")), None, "{kind}");
        assert_eq!(told.delta(&live(21, 1, 0, "Other")), None, "{kind}");
        assert_eq!(read(&events(told.delta(&live(20, 1, 0, "Wr")))).0, "Wr", "{kind}");
        // What waited while the store was read.
        told.record(&over, &Beside::default());
        assert_eq!(told.delta(&live(20, 1, 0, "Wrong")), None, "{kind}");
        assert_eq!(told.cursor().to_string(), "11", "{kind}");
        told.record(&requested(12, 22, 1), &Beside::default());
        assert_eq!(told.delta(&live(20, 1, 2, "ong")), None, "{kind}");
        assert_eq!(read(&events(told.delta(&live(22, 1, 0, "New")))).0, "New", "{kind}");
    }
}

/// Its event, if it were of a sub-task.
fn trace_of(record: &Record) -> Vec<Told> {
    from(0).record(record, &Beside { is_sub_task: true, ..Beside::default() })
}

#[test]
fn the_rest_of_a_reply_that_a_stop_cut_off_is_told() {
    let mut told = from(9);
    told.delta(&live(20, 3, 0, "So f"));
    let cursor = told.cursor();
    // Also to a client that comes back after the stop, and without live text all of it.
    for (mut told, rest) in
        [(told, "ar"), (Narration::after(cursor, Voice::Session), "ar"), (from(9), "So far")]
    {
        let events = events(told.record(&cut_off(10, 20, "So far"), &Beside::default()));
        assert_eq!((read(&events).0.as_str(), events.last().unwrap().0.as_str()), (rest, "10"));
    }
}

#[test]
fn nothing_of_a_text_is_lost_that_differs_from_what_was_live() {
    let table = [
        ("Hm. </think>\n\n", "Answer.", "Answer."),
        ("Hm. </think> A longer one.", "Ha", "a"),
        ("Abc", "Abd", "d"),
        ("Abc", "Ab", ""),
        ("é", "èb", "èb"),
    ];
    for (live_text, recorded, rest) in table {
        let mut told = from(9);
        told.delta(&live(11, 1, 0, live_text));
        assert_eq!(read(&events(told.record(&reply(11, recorded), &Beside::default()))).0, rest);
    }
}

#[test]
fn what_leaves_has_no_environment_and_nothing_that_is_a_providers_own() {
    let direct = Direct {
        program: "/usr/bin/ls".to_owned(),
        arguments: vec![],
        environment: [("KEY".to_owned(), "secret".to_owned())].into(),
        stdout: DirectOutput::Own,
        stderr: DirectOutput::Own,
    };
    let assessed = CallAssessed {
        call_id: CallId(Uuid::from_u128(71)),
        tool: "shell".to_owned(),
        arguments: "{}".to_owned(),
        summary: "ls".to_owned(),
        effect: EffectClass::Unsafe,
        risk: Risk::Low,
        preview: None,
        edit: None,
        digest: "ef".repeat(32),
        permission: Permission::Denied("closed".to_owned()),
        sandbox: "none".to_owned(),
        rule: None,
        direct: Some(Box::new(direct)),
        wider: vec![],
        why: None,
        in_passing: false,
        files: vec![],
        only_once: None,
        for_task: false,
        notes: vec![],
    };
    let trace = Trace { what: "odd".to_owned(), raw: "secret".to_owned() };
    let traced = ModelTraced { item: item(20), attempt: 1, traces: vec![trace], left_out: 0 };
    for body in [RecordBody::CallAssessed(assessed), RecordBody::ModelTraced(traced)] {
        let told = events(from(9).record(&record(10, body.clone()), &Beside::default()));
        let data = &told[0].1;
        assert!(!data.to_string().contains("secret") && data["type"] == "trace", "{data}");
        assert!(serde_json::to_string(&body).unwrap().contains("secret"));
    }
}

#[test]
fn of_a_sub_task_only_what_waits_for_a_person_is_told() {
    let sub = Beside { is_sub_task: true, ..Beside::default() };
    let mut told = from(9);
    told.delta(&live(20, 1, 0, "Ro"));
    let decided = ApprovalDecided {
        approval_id: ApprovalId(Uuid::from_u128(5)),
        call_id: CallId(Uuid::from_u128(71)),
        decision: Decision::AllowOnce,
        note: None,
        by: By { via: Via::Http, name: "phone".to_owned() },
    };
    let mut of_sub = told.record(&reply(10, TEXT), &sub);
    of_sub.extend(told.record(&record(11, RecordBody::ApprovalDecided(decided)), &sub));
    let of_sub = events(of_sub);
    let kinds: Vec<_> = of_sub.iter().map(|(_, data)| data["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["trace", "approval_decided"]);
    assert_eq!(of_sub[1].1["by"], json!({ "via": "http", "name": "phone" }));
    // The text of the root that comes meanwhile is still had.
    assert!(of_sub.iter().all(|(id, _)| id.ends_with(".1.2")), "{of_sub:?}");
    assert!(!of_sub[0].1.to_string().contains("opaque\":{"), "{}", of_sub[0].1);
    assert_eq!(read(&events(told.delta(&live(20, 1, 0, "Root")))).0, "ot");
}
