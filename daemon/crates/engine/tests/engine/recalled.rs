//! What a task is given of other conversations.

use crate::{
    plan::{read, recall, remember},
    world::{World, facts, head, prompts, tool},
};
use abide_engine::{CallStage, Command, Input, Origin, Start, recalled, recalls};
use abide_protocol::{
    CallId, ConversationId, Seq, TaskId, Timestamp,
    inbox::QuestionKind,
    memory::{RecallWay, Snippet, Source},
    record::{Imported, ImportedText, ModelErrorKind, NewRecord, Noted, Recalled, RecordBody},
    task::Mode,
    transcript::{Entry, ToolSpec},
};
use serde_json::{Value, json};
use uuid::Uuid;

fn snippet(text: &str) -> Snippet {
    Snippet {
        conversation_id: ConversationId(Uuid::from_u128(9)),
        title: "Ports".to_owned(),
        seq: Seq(7),
        at: Timestamp(0),
        source: Source::User,
        before: String::new(),
        text: text.to_owned(),
        why: Vec::new(),
    }
}

fn found(texts: &[&str]) -> Option<Recalled> {
    recalled(RecallWay::Words, texts.iter().map(|text| snippet(text)).collect(), None)
}

fn start(w: &mut World, n: u128, imported: Vec<Imported>, recalled: Option<Recalled>) {
    let task = TaskId(Uuid::from_u128(n));
    w.id = task;
    let start = Start { task, conversation: Some(facts()), head: head(), imported, recalled, setup: None };
    w.input(Command::Start(Box::new(start)));
}

fn notes(w: &World) -> Vec<String> {
    let note = |entry: &Entry| match entry {
        Entry::Note(text) => Some(text.clone()),
        _ => None,
    };
    w.task().entries().iter().filter_map(note).collect()
}

#[test]
fn what_is_recalled_comes_right_before_the_prompt_and_stays_as_it_was() {
    let mut w = World::new(1);
    let imported = vec![Imported::User(ImportedText { text: "What is it?".to_owned() })];
    start(&mut w, 1, imported, found(&["Use port 8080."]));
    assert_eq!(w.transcript(), ["note", "user", "note", "user"]);
    let recalled = notes(&w).pop().unwrap();
    assert!(recalled.contains("Use port 8080.") && recalled.starts_with("<recalled>"), "{recalled}");
    assert_eq!(w.replayed(), w.history);

    let before = w.task().entries().to_vec();
    w.input(Command::Stop { task: w.id });
    start(&mut w, 2, Vec::new(), found(&["Use port 9090."]));
    assert_eq!(w.task().entries()[..before.len()], before, "the prefix is as it was");
    assert!(notes(&w).pop().unwrap().contains("9090"));
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn what_was_forgotten_since_is_left_out() {
    let mut w = World::new(1);
    let mut blanked = found(&["Use port 8080.", "Use no port."]);
    blanked.iter_mut().for_each(|recalled| recalled.snippets[0].blank());
    start(&mut w, 1, Vec::new(), blanked.clone());
    let note = notes(&w).pop().unwrap();
    assert!(note.contains("[1]") && !note.contains("[2]") && !note.contains("8080"), "{note}");

    let mut w = World::new(1);
    blanked.iter_mut().for_each(|recalled| recalled.snippets.iter_mut().for_each(Snippet::blank));
    start(&mut w, 1, Vec::new(), blanked);
    assert_eq!(w.transcript(), ["user"]);
}

#[test]
fn as_much_as_fits_is_recalled_the_best_first() {
    let (long, short) = ("long words ".repeat(180), "short words");
    let kept = found(&[&long, &long, &long, short]).unwrap();
    let texts: Vec<&str> = kept.snippets.iter().map(|snippet| snippet.text.as_str()).collect();
    assert_eq!(texts, [&long, &long, short]);
    let mut w = World::new(1);
    start(&mut w, 1, Vec::new(), Some(kept));
    let note = notes(&w).pop().unwrap();
    assert!((4_000..=4_800).contains(&note.len()), "{}", note.len());

    assert_eq!(found(&[]), None);
    let failed = recalled(RecallWay::Words, Vec::new(), Some("the disk is slow".to_owned())).unwrap();
    assert_eq!(failed.words(), "recalled nothing: the disk is slow");
}

#[test]
fn all_modes_but_roa_recall_at_the_start() {
    let at_the_start: Vec<Mode> = Mode::ALL.iter().copied().filter(|mode| recalls(*mode)).collect();
    for mode in [Mode::Chat, Mode::Agent, Mode::Auto, Mode::Plan, Mode::Tree] {
        assert!(at_the_start.contains(&mode), "{mode:?}");
    }
    assert_eq!(at_the_start.len(), 5);
}

#[test]
fn notes_take_a_half_of_what_may_be_recalled_and_the_newest_come_first() {
    let note = |text: &str| Snippet { source: Source::Note, title: String::new(), ..snippet(text) };
    let long = "a word of a note ".repeat(29);
    let mut found: Vec<Snippet> = (0..9).map(|n| note(&format!("{n} {long}"))).collect();
    found.extend([snippet("found"), note("short")]);
    let kept = recalled(RecallWay::Words, found, None).unwrap().snippets;
    let texts: Vec<&str> = kept.iter().map(|snippet| &snippet.text[..1]).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "f", "s"]);
}

#[test]
fn a_note_is_a_record_and_the_call_that_makes_it_asks_nobody() {
    let mut w = World::started();
    let call = w.reply("", &[remember("Tests need a display.")])[0];
    assert!(w.result(call).is_some_and(|result| result.starts_with("Noted")));
    let noted = |record: &NewRecord| match &record.body {
        RecordBody::Noted(Noted { text }) => Some(text.clone()),
        _ => None,
    };
    assert_eq!(w.records.iter().filter_map(noted).collect::<Vec<_>>(), ["Tests need a display."]);
    let blank = w.reply("", &[remember("  ")])[0];
    assert!(
        w.result(blank)
            .is_some_and(|result| result.contains("does not take") || result.contains("not a tool"))
    );
    assert_eq!(w.records.iter().filter_map(noted).count(), 1);
}

#[test]
fn what_a_call_recalls_follows_the_results_and_runs_again_after_a_crash() {
    let mut w = World::started();
    let calls = w.reply("", &[recall("ports"), read("a")]);
    w.restart();
    let attempt = w.running().iter().find(|(call, _)| *call == calls[0]).unwrap().1;
    assert_eq!(attempt, 2);
    let ended = |recalled| Input::Recalled { task: w.id, call: calls[0], attempt, recalled, duration_ms: 1 };
    let ended = ended(found(&["Use port 8080.", "Or 9090."]));
    w.input(ended.clone());
    assert!(w.attempt(ended).is_err(), "its outcome counts once");
    w.finish(calls[1], true);
    assert_eq!(w.transcript(), ["user", "reply", "recall:ok", "read:ok", "note"]);
    assert!(notes(&w).pop().unwrap().contains("Use port 8080."));
    assert_eq!(w.result(calls[0]).as_deref(), Some("Recalled 2 passages, given after the results."));
    assert_eq!(w.replayed(), w.history);

    for (recalled, expected) in [
        (None, "Nothing is recalled."),
        (
            recalled(RecallWay::Words, Vec::new(), Some("the disk is slow".to_owned())),
            "error: the disk is slow",
        ),
    ] {
        let call = w.reply("", &[recall("ports")])[0];
        let ended = Input::Recalled { task: w.id, call, attempt: 1, recalled, duration_ms: 1 };
        w.input(ended);
        assert_eq!(w.result(call).as_deref(), Some(expected));
        assert_eq!(notes(&w).len(), 1);
    }
}

#[test]
fn what_was_recalled_goes_first_when_the_context_overflows() {
    let mut w = World::new(1);
    start(&mut w, 1, Vec::new(), found(&["Use port 8080."]));
    let call = w.reply("", &[read("a")])[0];
    w.finish(call, true);
    let before = w.task().entries().to_vec();
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert!(w.is_thinking(), "it is asked again");
    assert_eq!(notes(&w), ["[What was recalled was left out to fit the model's context.]"]);
    assert_eq!(w.task().entries()[1..], before[1..], "nothing else is");
    assert_eq!(w.replayed(), w.history);
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert_ne!(w.task().entries()[1..], before[1..], "the outputs are next");
}

/// A task in mode `plan` that has these tools and has made its first step, with a reply and a result.
fn in_second_step(tools: &[&str]) -> World {
    let named = |name: &&str| ToolSpec { name: (*name).to_owned(), ..tool() };
    let mut w = World::started_with(|head| {
        (head.mode, head.prompts) = (Mode::Plan, prompts(Mode::Plan));
        head.tools = tools.iter().map(named).collect();
    });
    let call = plan_read(&mut w, "Look at the ports.");
    w.finish(call, true);
    w
}

/// Replies with a plan that reads a file.
fn plan_read(w: &mut World, reasoning: &str) -> CallId {
    let call = json!({ "tool_name": "read", "parameters": { "path": "a" } });
    let plan = json!({ "reasoning": reasoning, "tool_calls": [call] });
    w.reply(&plan.to_string(), &[])[0]
}

/// The query of the only call, which runs and which no reply has.
fn own_query(w: &World) -> String {
    let [call] = w.task().calls() else { panic!("one call: {:?}", w.task().calls()) };
    assert!(call.origin == Origin::Step && matches!(call.stage, CallStage::Started { .. }), "{call:?}");
    let arguments: Value = serde_json::from_str(&call.block.arguments).unwrap();
    arguments["query"].as_str().unwrap().to_owned()
}

fn end_recall(w: &mut World, recalled: Option<Recalled>) {
    let (call, attempt) = w.running()[0];
    w.input(Input::Recalled { task: w.id, call, attempt, recalled, duration_ms: 1 });
}

#[test]
fn a_plan_recalls_before_each_step_but_the_first() {
    let mut w = in_second_step(&["read", "recall"]);
    assert_eq!(own_query(&w), "Look at the ports.\nTool read: fine");
    w.restart();
    assert_eq!(w.running()[0].1, 2, "a crash runs it again");
    end_recall(&mut w, found(&["Use port 8080.", &"long words ".repeat(180), "Or 9090."]));
    assert_eq!(w.transcript(), ["user", "note", "reply", "results:1", "note", "note"]);
    let given = notes(&w).swap_remove(1);
    assert!(
        given.contains("Use port 8080.") && given.contains("Or 9090.") && given.len() <= 1_600,
        "{given}"
    );
    assert_eq!((w.is_thinking(), w.seen().step_count), (true, 2));
    assert_eq!(w.replayed(), w.history);

    // What it has been given is not given again.
    let call = plan_read(&mut w, "Look again.");
    w.finish(call, true);
    end_recall(&mut w, found(&["Or 9090.", "Use port 8080."]));
    assert_eq!((w.is_thinking(), notes(&w).iter().filter(|note| note.contains("9090")).count()), (true, 1));
    let call = plan_read(&mut w, "And again.");
    w.finish(call, true);
    end_recall(&mut w, recalled(RecallWay::Words, Vec::new(), Some("the disk is slow".to_owned())));
    assert!(w.is_thinking(), "a failure fails no step");
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn only_a_root_task_with_the_tool_recalls_before_its_steps() {
    assert!(in_second_step(&["read"]).is_thinking());
    let mut w = in_second_step(&["read", "recall"]);
    w.fork(w.id, |head| {
        (head.mode, head.prompts) = (Mode::Plan, prompts(Mode::Plan));
        head.tools = vec![tool(), ToolSpec { name: "recall".to_owned(), ..tool() }];
    });
    let call = plan_read(&mut w, "Look at the ports.");
    w.finish(call, true);
    assert!(w.is_thinking(), "a sub-task does not");
}

#[test]
fn what_is_recalled_before_steps_hides_no_loop() {
    let mut w = in_second_step(&["read", "recall"]);
    while w.task().questions.is_empty() {
        end_recall(&mut w, None);
        let call = plan_read(&mut w, "Look again.");
        if w.running().iter().any(|(running, _)| *running == call) {
            w.finish(call, true);
        }
        assert!(w.seen().step_count < 20, "the same call again and again is a loop");
    }
    assert_eq!(w.question().kind, QuestionKind::Loop);
}
