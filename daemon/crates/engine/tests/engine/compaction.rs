//! What is left out of a transcript that has grown too long. (After an overflow: see `retries`.)

use crate::{
    plan::{Plan, read, update},
    world::{World, prompts, tool},
};
use abide_engine::{Input, compaction::is_cut};
use abide_protocol::{
    record::{Compacted, ModelErrorKind, NoticeKind, RecordBody},
    task::Mode,
    transcript::{Block, Entry, StopReason, TextBlock, Usage},
};

/// Above the limit of [`started`].
const MANY: u64 = 1_000;

fn started(mode: Mode) -> World {
    let mut world = World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (mode, prompts(mode), vec![tool()]);
        head.compact_at_tokens = MANY;
    });
    world.tokens = MANY;
    world
}

/// A step of an agent: a reply with these calls, of which each `read` has a long output.
fn step(w: &mut World, text: &str, calls: &[Plan]) {
    for call in w.reply(text, calls) {
        let Some((_, attempt)) = w.running().into_iter().find(|(running, _)| *running == call) else {
            continue;
        };
        let mut finished = w.finished(call, attempt, true);
        if let Input::CallFinished { result, .. } = &mut finished {
            result.message = "a long output ".repeat(20);
        }
        w.input(finished);
    }
}

fn compactions(w: &World) -> Vec<&Compacted> {
    w.records
        .iter()
        .filter_map(|r| if let RecordBody::Compacted(compacted) = &r.body { Some(compacted) } else { None })
        .collect()
}

/// The texts of the transcript's notes.
fn notes(w: &World) -> Vec<&str> {
    let notes = w.task().entries().iter();
    notes.filter_map(|entry| if let Entry::Note(text) = entry { Some(text.as_str()) } else { None }).collect()
}

#[test]
fn an_agent_leaves_out_old_outputs_first_then_shortens_old_steps() {
    let mut w = started(Mode::Agent);
    for round in 1..=3 {
        step(&mut w, &format!("I read {round}."), &[read(&round.to_string())]);
        assert!(compactions(&w).is_empty(), "the three newest steps stay whole");
    }
    step(&mut w, "", &[read("4"), update("Four files are read.")]);
    let of_outputs = compactions(&w);
    assert_eq!((of_outputs.len(), of_outputs[0].elided.len(), of_outputs[0].steps.len()), (1, 1, 0));
    // What is left of the first step is short: shortening it would not free enough.
    w.tokens = 0;
    step(&mut w, "", &[read("5")]);
    assert_eq!(compactions(&w).len(), 1, "below the limit nothing is left out");
    w.tokens = MANY;
    for round in 6.. {
        step(&mut w, "", &[read(&round.to_string())]);
        if compactions(&w).iter().any(|compacted| !compacted.steps.is_empty()) {
            break;
        }
        assert!(round < 30, "old steps are shortened at last");
    }
    let lines = notes(&w);
    assert_eq!(lines[..2], ["Step 1: I read 1.", "Step 2: I read 2."]);
    assert_eq!(lines[3..5], ["Step 4: Four files are read.", "Step 5: called read."]);
    let replies = w.transcript().iter().filter(|entry| *entry == "reply").count();
    assert_eq!(replies, 3, "the newest steps are whole");
    assert_eq!(w.transcript()[0], "user");
    w.restart();
}

#[test]
fn roa_shortens_old_steps_to_their_observations() {
    let mut w = started(Mode::Roa);
    for round in 1..=4 {
        w.reply(r#"{"plan": "Read on.", "finish": false}"#, &[]);
        step(&mut w, "", &[read(&round.to_string())]);
        w.reply(&format!(r#"{{"observation": "File {round} is fine.", "should_continue": true}}"#), &[]);
    }
    let compacted = compactions(&w);
    assert_eq!((compacted.len(), compacted[0].elided.len(), compacted[0].steps.len()), (1, 0, 1));
    let whole = ["note", "reply", "note", "reply", "read:ok", "note", "reply"];
    let expected: Vec<&str> = ["user", "note"].into_iter().chain(whole.repeat(3)).chain(["note"]).collect();
    assert_eq!(w.transcript(), expected);
    assert_eq!(notes(&w)[0], "Step 1: File 1 is fine.");
    w.restart();
}

#[test]
fn without_a_limit_nothing_is_left_out() {
    let mut w = World::started();
    w.tokens = u64::from(u32::MAX);
    for round in 0..9 {
        step(&mut w, "", &[read(&round.to_string())]);
    }
    assert!(compactions(&w).is_empty());
}

/// A server that cuts what it is sent counts only what is left. Its text tells that there is more.
#[test]
fn a_request_that_the_server_has_cut_is_shortened_and_a_person_is_told_once() {
    let mut w = World::started_with(|head| head.compact_at_tokens = 12_000);
    for round in 0..6 {
        let text = "x".repeat(20_000);
        let (mut input, ids) = w.replied(w.item(), StopReason::ToolCalls, &text, &[read(&round.to_string())]);
        if let Input::Replied { replied, .. } = &mut input {
            replied.reply.usage.input = 4_096;
        }
        w.input(input);
        w.finish(ids[0], true);
    }
    let told: Vec<&str> = w
        .records
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Notice(notice) if notice.about == NoticeKind::ContextCut => Some(&*notice.text),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("num_ctx"), "{}", told[0]);
    assert!(!compactions(&w).is_empty());
}

#[test]
fn a_count_is_doubted_only_when_it_cannot_be_true() {
    let usage = |input| Usage { input, ..Usage::default() };
    let table = [
        (885 * 1024, 4_096, true),
        (885 * 1024, 60_000, false),
        (100_000, 4_096, true),
        (64_000, 4_096, false),
        (100_000, 0, false),
        (100_000, 900, false),
    ];
    for (bytes, input, expected) in table {
        assert_eq!(is_cut(bytes, &usage(input)), expected, "{input} tokens for {bytes} bytes");
    }
}

/// What the next request adds to the newest count is estimated from its text.
#[test]
fn outputs_since_the_newest_reply_count() {
    let mut w = World::started_with(|head| head.compact_at_tokens = 300);
    for round in 0..4 {
        step(&mut w, "", &[read(&round.to_string())]);
    }
    // Four outputs of 280 bytes each.
    assert!(compactions(&w).is_empty(), "280 tokens");
    step(&mut w, "", &[read("4")]);
    assert_eq!(compactions(&w).len(), 1, "350 tokens");
}

/// A provider that counts no tokens leaves the whole transcript to the estimate.
#[test]
fn without_a_count_all_texts_of_a_reply_are_estimated() {
    let long = "x".repeat(1_400);
    let text = |text: &str| TextBlock { text: text.to_owned(), opaque: None };
    for (said, thought, name) in [(&*long, "", ""), ("", &*long, ""), ("", "", &*long)] {
        let mut w = World::started_with(|head| head.compact_at_tokens = 300);
        for round in 0..4 {
            step(&mut w, "", &[read(&round.to_string())]);
        }
        let (mut input, _) = w.replied(w.item(), StopReason::ToolCalls, said, &[read(name)]);
        if let Input::Replied { replied, .. } = &mut input {
            replied.reply.blocks.insert(0, Block::Reasoning(text(thought)));
        }
        w.input(input);
        let (call, _) = w.running()[0];
        w.finish(call, true);
        assert_eq!(compactions(&w).len(), 1, "{}", said.len());
    }
}

/// The newest of the observation, the text beside its block and an update is what a shortened step leaves.
#[test]
fn a_step_of_roa_leaves_the_words_of_its_observation() {
    let mut w = started(Mode::Roa);
    let observed = [
        "It is a file. {\"observation\": \"File 1 is fine.\", \"should_continue\": true}",
        "File 2 is fine too. {\"should_continue\": true}",
        "Free text.",
        "",
        "",
        "",
    ];
    for (round, observation) in (1..).zip(observed) {
        w.reply("I think.", &[]);
        step(&mut w, "I act.", &[read(&round.to_string()), update("A file is read.")]);
        w.reply(observation, &[]);
    }
    let lines: Vec<&str> = notes(&w).into_iter().filter(|note| note.starts_with("Step ")).collect();
    assert_eq!(lines[..3], ["Step 1: File 1 is fine.", "Step 2: File 2 is fine too.", "Step 3: Free text."]);
}

/// The observation that ends a step says what its results mean, so an old step is shortened to it before any
/// output is left out.
#[test]
fn roa_shortens_steps_also_when_the_outputs_would_be_enough() {
    let mut w = World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (Mode::Roa, prompts(Mode::Roa), vec![tool()]);
    });
    for round in 1..=4 {
        w.reply("{}", &[]);
        step(&mut w, "", &[read(&round.to_string())]);
        w.reply(r#"{"observation": "It is fine.", "should_continue": true}"#, &[]);
    }
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    let compacted = compactions(&w);
    assert_eq!((compacted.len(), compacted[0].elided.len()), (1, 0));
    assert!(!compacted[0].steps.is_empty());
}
