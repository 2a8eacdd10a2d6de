//! Mode `tree`: clarify, inquire, split, act, join, summarize.

use crate::{
    plan::{Plan, ask, complete, read, shell},
    world::{World, prompts, tool},
};
use abide_engine::Intervention;
use abide_protocol::{
    TaskId,
    inbox::Decision,
    record::{ModelErrorKind, PhaseBegan, RecordBody, TaskStarted},
    task::{EndReason, Mode, Phase, Status},
    transcript::{Entry, StopReason},
};
use serde_json::{Value, json};

const CLEAR: &str = r#"{"ambiguous": false, "question": ""}"#;
const AMBIGUOUS: &str = r#"{"ambiguous": true, "question": "Which one?"}"#;
const COMPLETE: &str = r#"{"missing": false, "question": ""}"#;
const MISSING: &str = r#"{"missing": true, "question": "Where is it?"}"#;
const WHOLE: &str = r#"{"subquestions": []}"#;
const HALVES: &str = r#"{"subquestions": ["The first half.", "The second half."]}"#;
const SURE: &str = r#"{"answer": "42", "uncertain": false, "question": ""}"#;
const UNSURE: &str = r#"{"answer": "42?", "uncertain": true, "question": "Is it right?"}"#;

fn started() -> World {
    started_with(|_| {})
}

fn started_with(change: impl FnOnce(&mut TaskStarted)) -> World {
    World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (Mode::Tree, prompts(Mode::Tree), vec![tool()]);
        change(head);
    })
}

/// A task whose model has replied this in its first phases.
fn after(replies: &[&str]) -> World {
    let mut w = started();
    replies.iter().for_each(|text| drop(w.reply(text, &[])));
    w
}

/// What the task does now, in a word.
fn state(w: &World) -> String {
    match (w.end(), w.seen().phase, w.status()) {
        (Some(end), ..) => end.name().to_owned(),
        (None, Some(phase), Status::Thinking) => phase.name().to_owned(),
        (None, phase, status) => format!("{}: {}", phase.map_or("", Phase::name), status.name()),
    }
}

fn answered(w: &mut World, response: Option<&str>) {
    let question = w.question().id;
    w.answer(question, response).expect("the question is open");
}

/// The sub-task's model completes it; the helpers use the root again afterwards.
fn end(w: &mut World, child: TaskId, summary: &str) {
    let root = std::mem::replace(&mut w.id, child);
    w.reply("", &[complete(summary)]);
    w.id = root;
}

fn modify(w: &mut World) {
    let intervention =
        Intervention::Modify { comment: String::new(), content: "Do that instead.".to_owned() };
    w.intervene(intervention, "").expect("it is taken");
}

fn phases(w: &World) -> Vec<String> {
    let word = |began: &PhaseBegan| {
        let note = if began.text.is_some() { "" } else { ", without a note" };
        format!("{} {}{note}", began.step, began.phase.name())
    };
    let of_root = w.records.iter().filter(|record| record.task_id == Some(w.id));
    of_root
        .filter_map(|r| if let RecordBody::PhaseBegan(began) = &r.body { Some(word(began)) } else { None })
        .collect()
}

fn data(w: &World) -> Value {
    w.seen().data.expect("the mode has a result for programs").value().clone()
}

#[test]
fn clarify_asks_or_goes_on_to_inquire() {
    let table = [
        (CLEAR, "inquire"),
        (AMBIGUOUS, "clarify: waiting_user"),
        ("No block.", "inquire"),
        ("", "inquire"),
        (r#"{"ambiguous": true}"#, "inquire"),
    ];
    for (reply, then) in table {
        assert_eq!(state(&after(&[reply])), then, "{reply}");
    }
    for (response, then) in [(Some("The red one."), "inquire"), (None, "declined")] {
        let mut w = after(&[AMBIGUOUS]);
        assert_eq!(w.question().text, "Which one?");
        answered(&mut w, response);
        assert_eq!(state(&w), then, "{response:?}");
    }
}

#[test]
fn inquire_asks_at_most_three_rounds() {
    assert_eq!(state(&after(&[CLEAR, COMPLETE])), "split");
    assert_eq!(state(&after(&[CLEAR, "No block."])), "split");
    let mut w = after(&[CLEAR]);
    for _ in 0..3 {
        assert_eq!(state(&w), "inquire");
        w.reply(MISSING, &[]);
        answered(&mut w, Some("In the attic."));
    }
    assert_eq!(state(&w), "split", "a fourth round does not begin");

    let mut w = after(&[CLEAR, MISSING]);
    answered(&mut w, Some("In the attic."));
    w.reply(MISSING, &[]);
    answered(&mut w, None);
    assert_eq!(state(&w), "declined", "in any round");
}

#[test]
fn a_declined_question_ends_the_task_gracefully() {
    let mut w = after(&[AMBIGUOUS]);
    answered(&mut w, None);
    assert_eq!((w.status(), w.end()), (Status::Completed, Some(EndReason::Declined)));
    let words = "You declined to answer, so I stopped before the work began.";
    assert_eq!((w.summary(), w.notice()), (Some(words), Some(words)));
    assert_eq!(data(&w)["questions"], json!([{ "question": "Which one?", "answer": null }]));
}

#[test]
fn split_starts_up_to_four_sub_tasks_and_goes_on_to_act() {
    let many = r#"{"subquestions": ["a", "b", "c", "d", "e", "f"]}"#;
    for (reply, count) in
        [(WHOLE, 0), (HALVES, 2), (many, 4), ("No block.", 0), (r#"{"subquestions": "a"}"#, 0)]
    {
        let w = after(&[CLEAR, COMPLETE, reply]);
        assert_eq!((state(&w).as_str(), w.task().children.len()), ("act", count), "{reply}");
    }
    let w = after(&[CLEAR, COMPLETE, HALVES]);
    let first = w.history.task(w.task().children[0]).expect("it was started");
    assert_eq!((first.head.mode, first.head.original_prompt.as_str()), (Mode::Agent, "The first half."));
    assert_eq!(w.task().step, 1, "act begins the first step");
}

#[test]
fn sub_tasks_over_a_cap_are_refused_in_words_and_the_task_goes_on() {
    let mut w = started_with(|head| head.limits.max_children = 1);
    [CLEAR, COMPLETE, HALVES].iter().for_each(|text| drop(w.reply(text, &[])));
    assert_eq!((state(&w).as_str(), w.task().children.len()), ("act", 1));
    let refused = w.task().entries().iter().any(|entry| match entry {
        Entry::Results(results) => results.iter().any(|result| result.text.contains("the most at a time")),
        _ => false,
    });
    assert!(refused, "{:?}", w.task().entries());
}

#[test]
fn act_is_the_loop_of_an_agent_and_only_it_begins_steps() {
    let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    w.reply("Text alone.", &[]);
    assert_eq!((state(&w).as_str(), w.task().step), ("act", 3));
    w.reply("", &[complete("My part.")]);
    assert_eq!((state(&w).as_str(), w.task().step), ("summarize", 3));
    w.reply(SURE, &[]);
    assert_eq!((w.end(), w.summary(), w.task().step), (Some(EndReason::Completed), Some("42"), 3));
    let act = |step| format!("{step} act{}", if step == 1 { "" } else { ", without a note" });
    let expected = ["0 clarify", "0 inquire", "0 split", &act(1), &act(2), &act(3), "3 summarize"];
    assert_eq!(phases(&w), expected);
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn what_ends_act() {
    let acts = || after(&[CLEAR, COMPLETE, WHOLE]);
    for (stop, replies) in [(StopReason::EndTurn, 2), (StopReason::Length, 3), (StopReason::LostCalls, 2)] {
        let mut w = acts();
        for _ in 0..replies {
            assert!(state(&w).starts_with("act"), "{stop:?}");
            w.reply_as(stop, "Text.", &[]);
        }
        assert_eq!(state(&w), "summarize", "{stop:?}");
    }
    let mut w = acts();
    w.reply("", &[complete("Done.")]);
    assert_eq!(state(&w), "summarize");
    let mut w = acts();
    w.reply_as(StopReason::Refusal, "No.", &[]);
    assert_eq!(state(&w), "error");
    let mut w = started_with(|head| head.limits.max_steps = 1);
    [CLEAR, COMPLETE, WHOLE].iter().for_each(|text| drop(w.reply(text, &[])));
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    assert_eq!(state(&w), "step_limit");
}

#[test]
fn the_end_of_act_waits_for_all_sub_tasks_and_summarizes_with_their_results() {
    let mut w = after(&[CLEAR, COMPLETE, HALVES]);
    let halves = w.task().children.clone();
    w.reply("", &[complete("My part.")]);
    assert_eq!(state(&w), "act: waiting_children", "its end is not refused");
    assert_eq!(w.replayed(), w.history);
    end(&mut w, halves[1], "20.");
    assert_eq!(state(&w), "act: waiting_children");
    w.restart();
    end(&mut w, halves[0], "22.");
    assert_eq!(state(&w), "summarize");
    let note = |part: &str| {
        let is_note = |entry: &&Entry| matches!(entry, Entry::Note(text) if text.contains(part));
        w.task().entries().iter().filter(is_note).count()
    };
    assert_eq!((note("20."), note("22.")), (1, 1), "each result is delivered once");
    w.reply(SURE, &[]);
    let data = data(&w);
    assert_eq!(data["answer"], "42");
    let results: Vec<_> =
        data["subResults"].as_array().expect("a list").iter().map(|r| &r["result"]).collect();
    assert_eq!(results, ["22.", "20."]);
    assert_eq!(data["usage"]["modelCalls"], 8, "one of them twice, as the daemon was restarted");
}

#[test]
fn a_sub_task_that_fails_ends_the_wait_too() {
    let mut w = after(&[CLEAR, COMPLETE, HALVES]);
    let (root, halves) = (w.id, w.task().children.clone());
    w.reply("", &[complete("My part.")]);
    end(&mut w, halves[0], "22.");
    w.id = halves[1];
    w.fail(ModelErrorKind::Auth, false, None);
    w.id = root;
    assert_eq!(state(&w), "summarize");
}

#[test]
fn a_summary_asks_once_and_a_declined_question_leaves_its_answer() {
    let before = [CLEAR, COMPLETE, WHOLE];
    let summarized = |reply: &str| {
        let mut w = after(&before);
        w.reply("", &[complete("My part.")]);
        w.reply(reply, &[]);
        w
    };
    let table =
        [(SURE, Some("42")), ("Free text.", Some("Free text.")), (r#"{"answer": 7}"#, None), ("", None)];
    for (reply, summary) in table {
        let w = summarized(reply);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), summary), "{reply}");
        assert_eq!(w.seen().incomplete.is_some(), summary.is_none(), "{reply}");
    }
    let mut w = summarized(UNSURE);
    assert_eq!((state(&w).as_str(), w.question().text.as_str()), ("summarize: waiting_user", "Is it right?"));
    answered(&mut w, Some("No, 43."));
    assert_eq!(state(&w), "summarize");
    w.reply(UNSURE, &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("42?")), "it does not ask again");

    let mut w = summarized(UNSURE);
    answered(&mut w, None);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("42?")));
}

#[test]
fn a_failed_model_call_in_any_phase_ends_the_task() {
    let all = [CLEAR, COMPLETE, WHOLE];
    for count in 0..=all.len() {
        let mut w = after(&all[..count]);
        let phase = state(&w);
        w.fail(ModelErrorKind::Overloaded, true, None);
        w.sleep();
        assert_eq!(state(&w), phase, "it is tried again in its phase");
        w.fail(ModelErrorKind::Auth, false, None);
        assert_eq!(w.end(), Some(EndReason::Error), "{phase}");
    }
}

#[test]
fn a_refusal_and_a_cut_reply_in_any_phase() {
    let all = [CLEAR, COMPLETE, WHOLE];
    for count in 0..all.len() {
        let mut w = after(&all[..count]);
        w.reply_as(StopReason::Refusal, "No.", &[]);
        assert_eq!(w.end(), Some(EndReason::Error));
        let mut w = after(&all[..count]);
        w.reply_as(StopReason::Length, r#"{"ambiguous": true, "missing": true, "question": "Wh"#, &[]);
        assert_eq!(state(&w), ["inquire", "split", "act"][count], "a cut block decides nothing");
    }
}

#[test]
fn new_instructions_begin_the_phase_again() {
    let all = [CLEAR, COMPLETE, HALVES];
    for count in 0..=all.len() {
        let mut w = after(&all[..count]);
        let (phase, step) = (state(&w), w.task().step);
        modify(&mut w);
        assert_eq!((state(&w), w.task().step), (phase.clone(), step), "{phase}");
        let note =
            w.task().entries().iter().rev().find_map(|e| if let Entry::Note(n) = e { Some(n) } else { None });
        let names_them = note.is_some_and(|note| note.contains("Do that instead."));
        assert_eq!(names_them, matches!(phase.as_str(), "clarify" | "split"), "{note:?}");
    }
    for (replies, phase) in [(&[AMBIGUOUS][..], "clarify"), (&[CLEAR, MISSING], "inquire")] {
        let mut w = after(replies);
        modify(&mut w);
        assert_eq!((state(&w).as_str(), w.task().questions.len()), (phase, 0));
    }
    let mut w = after(&all);
    w.reply("", &[complete("My part.")]);
    modify(&mut w);
    assert_eq!((state(&w).as_str(), w.history.live().count()), ("act", 3), "what waits goes back to work");
}

#[test]
fn a_question_in_act_is_one_of_its_calls() {
    let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
    w.reply("", &[ask("Really?")]);
    assert_eq!(state(&w), "act: waiting_user");
    answered(&mut w, None);
    assert_eq!(state(&w), "act", "a decline is told to the model");
    w.reply("", &[complete("Done.")]);
    w.reply(SURE, &[]);
    assert_eq!(data(&w)["questions"], json!([{ "question": "Really?", "answer": null }]));
}

#[test]
fn words_of_a_person_during_the_summary_are_read_before_the_end() {
    let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
    w.reply("", &[complete("My part.")]);
    w.intervene(Intervention::Comment("In French.".to_owned()), "").expect("it is taken");
    w.reply(SURE, &[]);
    assert_eq!(state(&w), "summarize");
    w.reply(r#"{"answer": "Quarante-deux."}"#, &[]);
    assert_eq!(w.summary(), Some("Quarante-deux."));
}

#[test]
fn calls_in_a_phase_without_tools_are_dropped() {
    let calls: &[Plan] = &[read("f")];
    let mut w = started();
    w.reply(CLEAR, calls);
    w.reply(COMPLETE, calls);
    w.reply(WHOLE, calls);
    assert_eq!((state(&w).as_str(), w.count(|body| matches!(body, RecordBody::CallStarted(_)))), ("act", 0));
}

/// The answer before the question is not the one after it.
#[test]
fn a_summary_without_a_block_is_the_answer() {
    let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
    w.reply("", &[complete("My part.")]);
    w.reply(UNSURE, &[]);
    answered(&mut w, Some("No."));
    w.reply("It is 43.", &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("It is 43.")));
}

#[test]
fn an_answer_is_a_message_of_its_own_unless_it_was_shown() {
    for (reply, said) in [(SURE, 0), (r#"By my sums. {"answer": "42"}"#, 1)] {
        let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
        w.reply("", &[complete("My part.")]);
        w.reply(reply, &[]);
        assert_eq!(w.summary(), Some("42"));
        let says =
            |body: &RecordBody| matches!(body, RecordBody::AgentMessage(message) if message.text == "42");
        assert_eq!(w.count(says), said, "{reply}");
    }
}

/// Only act has steps; what goes on with act begins one.
#[test]
fn the_step_delay_separates_the_steps_of_act() {
    let mut w = started_with(|head| head.limits.step_delay_ms = 5_000);
    [CLEAR, COMPLETE, WHOLE].iter().for_each(|text| drop(w.reply(text, &[])));
    assert_eq!(state(&w), "act", "the first step begins at once");
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    assert_eq!((w.is_thinking(), w.wake_at().map(|at| at.since(w.now))), (false, Some(5_000)));
    w.sleep();
    assert_eq!((state(&w).as_str(), w.task().step), ("act", 2));
}

#[test]
fn new_instructions_take_no_round_of_questions() {
    let mut w = after(&[CLEAR]);
    modify(&mut w);
    for _ in 0..3 {
        assert_eq!(state(&w), "inquire");
        w.reply(MISSING, &[]);
        answered(&mut w, Some("In the attic."));
    }
    assert_eq!(state(&w), "split");
}

/// The daemon's own question is none of the agent's.
#[test]
fn the_questions_of_the_result_are_those_that_the_model_asked() {
    let mut w = after(&[CLEAR, COMPLETE, WHOLE]);
    let call = w.reply("", &[shell("make").asking()])[0];
    w.decide(call, Decision::AllowOnce);
    w.restart();
    answered(&mut w, Some("It is done."));
    w.reply("", &[complete("Done.")]);
    w.reply(SURE, &[]);
    assert_eq!(data(&w)["questions"], json!([]));
}
