//! The modes with phases, and `auto`.

use crate::{
    plan::{Plan, ask, complete, fork, read, update},
    world::{World, prompts, tool},
};
use abide_engine::{Turn, control_tools, declares_tools, default_steps};
use abide_protocol::{
    CallId, JsonText,
    record::{PhaseBegan, RecordBody},
    task::{EndReason, Incomplete, Mode, Phase, Status},
    transcript::{Entry, StopReason, ToolSpec},
};
use serde_json::json;

const GO_ON: &str = r#"{"observation": "Half of it.", "should_continue": true, "final_answer": ""}"#;

fn started(mode: Mode) -> World {
    World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (mode, prompts(mode), vec![tool()]);
    })
}

/// A word for each phase begun, with its step; `-`: without a model call.
fn phases(w: &World) -> Vec<String> {
    let word = |began: &PhaseBegan| {
        format!("{} {}{}", began.step, began.phase.name(), if began.asks { "" } else { "-" })
    };
    w.records
        .iter()
        .filter_map(|r| if let RecordBody::PhaseBegan(began) = &r.body { Some(word(began)) } else { None })
        .collect()
}

fn phase(w: &World) -> Option<Phase> {
    w.seen().phase
}

/// The texts of the task's messages, as people see them.
fn said(w: &World) -> Vec<String> {
    w.records
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Reply(reply) => Some(reply.shown()),
            RecordBody::AgentMessage(message) => Some(message.text.clone()),
            RecordBody::Notice(notice) => Some(notice.text.clone()),
            _ => None,
        })
        .filter(|text| !text.is_empty())
        .collect()
}

/// The last note to the model.
fn note(w: &World) -> &str {
    let note =
        w.task().entries().iter().rev().find_map(|e| if let Entry::Note(n) = e { Some(n) } else { None });
    note.expect("a note")
}

/// Replies in the three phases of one step.
fn pass(w: &mut World, reason: &str, act: &[Plan], observe: &str) -> Vec<CallId> {
    w.reply(reason, &[]);
    let calls = w.reply("", act);
    for call in &calls {
        w.finish(*call, true);
    }
    w.reply(observe, &[]);
    calls
}

#[test]
fn a_step_of_roa_reasons_acts_and_observes() {
    let mut w = started(Mode::Roa);
    assert_eq!((phase(&w), w.seen().step_count), (Some(Phase::Reason), 1));
    w.reply(
        "I look.\n```json\n{\"plan\": \"Look.\", \"tools_to_consider\": [\"read\"], \"finish\": false}\n```",
        &[],
    );
    assert_eq!(phase(&w), Some(Phase::Act));
    let calls = w.reply("", &[read("1"), read("2")]);
    assert_eq!((phase(&w), w.status()), (Some(Phase::Act), Status::ToolExecuting));
    w.finish(calls[1], true);
    assert_eq!(phase(&w), Some(Phase::Act), "all results come first");
    w.finish(calls[0], true);
    assert_eq!(phase(&w), Some(Phase::Observe));
    assert!(note(&w).contains("Tool read: fine\nTool read: fine"), "{}", note(&w));
    w.reply(GO_ON, &[]);
    assert_eq!((phase(&w), w.seen().step_count), (Some(Phase::Reason), 2));
    assert!(note(&w).contains("Last observation: Half of it."), "{}", note(&w));
    w.reply("Enough.\n{\"finish\": true}", &[]);
    w.reply(r#"{"observation": "All.", "should_continue": true, "final_answer": "42"}"#, &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("42")));
    assert_eq!(said(&w), ["I look.", "Half of it.", "Enough.", "All.", "42"]);
    assert_eq!(phases(&w), ["1 reason", "1 act", "1 observe", "2 reason", "2 act-", "2 observe"]);
    assert_eq!(
        w.transcript(),
        [
            "user", "note", "reply", "note", "reply", "read:ok", "read:ok", "note", "reply", "note", "reply",
            "note", "reply"
        ]
    );
}

#[test]
fn what_ends_roa_and_with_which_words() {
    let fence = |block: &str| format!("So it is.\n```json\n{block}\n```");
    // Reason, observe, the summary; `None`: it goes on.
    let table = [
        ("", GO_ON.to_owned(), None),
        ("", "Free text.".to_owned(), None),
        ("", r#"{"should_continue": "no"}"#.to_owned(), None),
        ("", r#"{"observation": "Done.", "should_continue": false}"#.to_owned(), Some("Done.")),
        ("", fence(r#"{"should_continue": false}"#), Some("So it is.")),
        ("", fence(r#"{"observation": "o", "final_answer": "f"}"#), Some("f")),
        (r#"{"finish": true}"#, "Free text.".to_owned(), Some("Free text.")),
        (r#"{"finish": true}"#, GO_ON.to_owned(), Some("Half of it.")),
        (r#"{"finish": "true"}"#, GO_ON.to_owned(), None),
    ];
    for (reason, observe, summary) in table {
        let mut w = started(Mode::Roa);
        w.reply(reason, &[]);
        if phase(&w) == Some(Phase::Act) {
            w.reply("", &[]);
        }
        w.reply(&observe, &[]);
        assert_eq!(w.summary(), summary, "{reason} {observe}");
        assert_eq!(w.end(), summary.map(|_| EndReason::Completed), "{reason} {observe}");
        // The answer is said once.
        if let Some(summary) = summary {
            assert_eq!(said(&w).iter().filter(|text| *text == summary).count(), 1, "{:?}", said(&w));
        }
    }
}

#[test]
fn roa_says_its_last_observation_at_the_step_limit() {
    let mut w = World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (Mode::Roa, prompts(Mode::Roa), vec![tool()]);
        head.limits.max_steps = 2;
    });
    pass(&mut w, "{}", &[read("1")], GO_ON);
    assert!(w.is_thinking());
    pass(&mut w, "{}", &[read("2")], GO_ON);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::StepLimit), Some("Half of it.")));
    assert_eq!(w.notice(), Some("I have reached the maximum number of steps. Stopping here."));
    assert_eq!(w.seen().step_count, 2);
}

#[test]
fn without_a_tool_roa_reasons_and_observes() {
    let mut w = World::started_with(|head| (head.mode, head.prompts) = (Mode::Roa, prompts(Mode::Roa)));
    w.reply("{}", &[]);
    assert_eq!(phases(&w), ["1 reason", "1 act-", "1 observe"]);
}

#[test]
fn each_mode_has_its_usual_steps_and_its_way_to_offer_tools() {
    for mode in Mode::ALL.iter().copied() {
        let steps = if mode == Mode::Roa { 10 } else { 50 };
        assert_eq!((default_steps(mode), declares_tools(mode)), (steps, mode != Mode::Plan), "{mode:?}");
    }
}

/// A step of `roa` begins with phase reason alone.
#[test]
fn the_step_delay_separates_the_steps_of_roa_and_not_its_phases() {
    let mut w = World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (Mode::Roa, prompts(Mode::Roa), vec![tool()]);
        head.limits.step_delay_ms = 5_000;
    });
    let call = pass(&mut w, "{}", &[read("1")], GO_ON);
    assert_eq!((call.len(), phase(&w), w.is_thinking()), (1, Some(Phase::Observe), false));
    assert_eq!(w.wake_at().map(|at| at.since(w.now)), Some(5_000));
    w.sleep();
    assert_eq!((phase(&w), w.is_thinking()), (Some(Phase::Reason), true));
}

#[test]
fn a_call_in_a_phase_without_tools_is_dropped() {
    let mut w = started(Mode::Roa);
    w.reply("I just do it.", &[read("1")]);
    assert_eq!(phase(&w), Some(Phase::Act));
    w.reply("", &[]);
    w.reply("And again.", &[read("1")]);
    assert_eq!(w.count(|body| matches!(body, RecordBody::CallAssessed(_))), 0);
}

#[test]
fn an_answer_is_there_before_roa_observes() {
    let mut w = started(Mode::Roa);
    w.reply("{}", &[]);
    w.reply("", &[ask("Which one?")]);
    assert_eq!((w.status(), phase(&w)), (Status::WaitingUser, Some(Phase::Act)));
    let question = w.question().id;
    w.answer(question, Some("the blue one")).expect("it is open");
    assert_eq!(phase(&w), Some(Phase::Observe));
    assert!(note(&w).contains("the blue one"), "{}", note(&w));
}

#[test]
fn a_crash_in_each_phase_repeats_that_phase_alone() {
    let mut w = started(Mode::Roa);
    w.restart();
    assert_eq!((phase(&w), w.seen().step_count), (Some(Phase::Reason), 1));
    w.reply("{}", &[]);
    w.restart();
    assert_eq!(phase(&w), Some(Phase::Act));
    let calls = w.reply("", &[read("1")]);
    w.restart();
    w.finish(calls[0], true);
    w.restart();
    assert_eq!(phase(&w), Some(Phase::Observe));
    w.reply(GO_ON, &[]);
    assert_eq!(phases(&w), ["1 reason", "1 act", "1 observe", "2 reason"]);
}

fn plan_of(calls: &[Plan], question: Option<&str>, is_complete: bool) -> String {
    let calls: Vec<_> = calls
        .iter()
        .map(|plan| {
            let parameters: serde_json::Value = serde_json::from_str(&plan.arguments).expect("JSON");
            serde_json::json!({ "tool_name": plan.tool, "parameters": parameters })
        })
        .collect();
    serde_json::json!({ "reasoning": "So.", "tool_calls": calls, "question": question, "is_complete": is_complete })
        .to_string()
}

#[test]
fn a_plan_is_carried_out_and_its_results_come_back_as_one_entry() {
    let mut w = started(Mode::Plan);
    assert_eq!(phase(&w), Some(Phase::Plan));
    let calls = w.reply(&plan_of(&[read("1"), read("2")], None, false), &[]);
    calls.iter().for_each(|call| w.finish(*call, true));
    assert_eq!(w.seen().step_count, 2);
    w.reply(&plan_of(&[], None, true), &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("So.")));
    assert_eq!(w.transcript(), ["user", "note", "reply", "results:2", "note", "reply", "results:1"]);
    let Some(Entry::Results(results)) = w.task().entries().get(3) else { panic!("results") };
    assert_eq!(results[0].text, "Result of read:\nfine");
    assert_eq!(said(&w), ["So.", "So."], "nobody sees the JSON");
}

#[test]
fn the_schema_of_a_plan_names_the_tools_it_may_call() {
    let mut tools = vec![tool()];
    tools[0].parameters = JsonText::from(json!({ "type": "object", "required": ["path"] }));
    let turn = Turn { mode: Mode::Plan, phase: Some(Phase::Plan), may_ask: true };
    let tool_calls = |tools: &[ToolSpec]| {
        let schema = turn.shape(tools).output_schema.expect("a plan has a schema");
        let schema: serde_json::Value = serde_json::from_str(schema.schema.as_str()).expect("JSON");
        schema["properties"]["tool_calls"].clone()
    };
    let call = &tool_calls(&tools)["items"]["anyOf"][0];
    assert_eq!(call["properties"]["tool_name"]["const"], tools[0].name);
    assert_eq!(call["properties"]["parameters"]["required"], json!(["path"]));
    assert_eq!(tool_calls(&[])["maxItems"], 0, "without a tool there is nothing to call");
}

#[test]
fn a_plans_question_comes_before_its_calls() {
    let mut w = started(Mode::Plan);
    let calls = w.reply(&plan_of(&[read("1")], Some("Which one?"), true), &[]);
    assert_eq!((w.status(), w.starts(calls[1])), (Status::WaitingUser, 0));
    let question = w.question();
    assert_eq!(question.text, "Which one?");
    w.answer(question.id, Some("this")).expect("it is open");
    w.finish(calls[1], true);
    assert_eq!((w.end(), calls.len()), (None, 2), "a plan that asks is not complete");
}

#[test]
fn a_plan_is_not_complete_beside_a_failed_call() {
    let mut w = started(Mode::Plan);
    let calls = w.reply(&plan_of(&[read("1")], None, true), &[]);
    w.finish(calls[0], false);
    assert_eq!((w.end(), w.seen().step_count), (None, 2));
}

#[test]
fn a_reply_that_is_no_plan_is_nudged_and_the_third_in_a_row_ends_the_task() {
    let nothing = r#"{"reasoning": "Hm.", "tool_calls": [], "question": null, "is_complete": false}"#;
    let mut w = started(Mode::Plan);
    w.reply("I do not know.", &[]);
    assert!(note(&w).starts_with("Step 2."), "the nudge stands before the next step's note");
    w.reply(nothing, &[]);
    w.reply("Well.", &[complete("done")]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("Well.")));
}

#[test]
fn auto_ends_with_the_first_reply_without_a_call() {
    let mut at_once = started(Mode::Auto);
    at_once.reply("Hello.", &[]);
    assert_eq!((at_once.end(), at_once.summary()), (Some(EndReason::Completed), Some("Hello.")));

    let mut worked = started(Mode::Auto);
    let calls = worked.reply("I look.", &[read("1")]);
    worked.finish(calls[0], true);
    worked.reply("It says so.", &[]);
    assert_eq!((worked.end(), worked.summary()), (Some(EndReason::Completed), Some("It says so.")));
    assert_eq!(
        (said(&worked), worked.seen().usage.model_calls),
        (vec!["I look.".to_owned(), "It says so.".to_owned()], 2)
    );

    let mut completed = started(Mode::Auto);
    completed.reply("", &[complete("Done.")]);
    assert_eq!((completed.end(), completed.summary()), (Some(EndReason::Completed), Some("Done.")));
}

/// The model is told what is the matter, and goes on. What it says in the end is the answer.
#[test]
fn a_reply_that_is_no_whole_one_does_not_end_auto() {
    for (stop, text, words) in [
        (StopReason::Length, "I wri", "cut at the length limit"),
        (StopReason::Unfinished, "I wri", "broken off"),
        (StopReason::LostCalls, "<tool_call>", "nothing was carried out"),
        (StopReason::EndTurn, " ", "empty"),
    ] {
        let mut w = started(Mode::Auto);
        w.reply_as(stop, text, &[]);
        assert!(w.is_thinking() && note(&w).contains(words), "{stop:?}: {}", note(&w));
        w.reply("It is so.", &[]);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("It is so.")), "{stop:?}");
        assert_eq!(w.seen().incomplete, None, "{stop:?}");
    }
}

/// It waits for them, or ends them knowingly.
#[test]
fn auto_is_told_of_sub_tasks_at_work_before_it_ends() {
    let mut w = started(Mode::Auto);
    w.reply("", &[fork("Do a part.")]);
    w.reply("They are at work.", &[]);
    assert!(w.end().is_none() && note(&w).contains("sub-tasks are still at work"), "{}", note(&w));
    w.reply("Never mind them.", &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("Never mind them.")));
}

/// A phase without tools was to have no calls.
#[test]
fn calls_are_not_missed_in_a_phase_without_tools() {
    let mut w = started(Mode::Roa);
    w.reply_as(StopReason::LostCalls, r#"{"finish": true}"#, &[]);
    assert_eq!(phase(&w), Some(Phase::Observe));
    w.reply_as(StopReason::LostCalls, r#"{"observation": "All.", "final_answer": "42"}"#, &[]);
    assert_eq!((w.end(), w.summary(), w.seen().incomplete), (Some(EndReason::Completed), Some("42"), None));
}

/// In a phase with tools the model is told once; then the task ends, and says why.
#[test]
fn lost_calls_end_every_mode_with_tools() {
    for (mode, before) in [(Mode::Auto, &[][..]), (Mode::Agent, &[]), (Mode::Roa, &["{}"])] {
        let mut w = started(mode);
        before.iter().for_each(|text| drop(w.reply(text, &[])));
        w.reply_as(StopReason::LostCalls, "<tool_call>", &[]);
        assert!(w.is_thinking() && note(&w).contains("nothing was carried out"), "{mode:?}");
        w.reply_as(StopReason::LostCalls, "<tool_call>", &[]);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), None), "{mode:?}");
        assert_eq!(w.seen().incomplete, Some(Incomplete::LostCalls), "{mode:?}");
        assert!(w.notice().is_some_and(|notice| notice.contains("was carried out")), "{mode:?}");
    }
}

#[test]
fn a_summary_that_no_reply_has_said_is_a_message() {
    let summary = "It is done.";
    let table: [(&str, &[&str]); 3] =
        [("", &[summary]), ("It is done. ", &["It is done. "]), ("Nearly.", &["Nearly.", summary])];
    for (words, messages) in table {
        let mut agent = started(Mode::Agent);
        agent.reply(words, &[complete(summary)]);
        assert_eq!((agent.end(), agent.summary()), (Some(EndReason::Completed), Some(summary)));
        assert_eq!(said(&agent), messages, "{words:?}");
    }
    // It was said before the last reply: by text alone, by a reply whose call was refused, by an update.
    let mut nudged = started(Mode::Agent);
    nudged.reply(summary, &[]);
    nudged.reply("", &[complete(summary)]);
    assert_eq!((nudged.end(), &said(&nudged)[..]), (Some(EndReason::Completed), &[summary.to_owned()][..]));
    let mut refused = started(Mode::Agent);
    let calls = refused.reply(summary, &[read("f"), complete(summary)]);
    refused.finish(calls[0], false);
    refused.reply("", &[complete(summary)]);
    assert_eq!((refused.end(), &said(&refused)[..]), (Some(EndReason::Completed), &[summary.to_owned()][..]));
    let mut updated = started(Mode::Agent);
    updated.reply("", &[update(summary)]);
    updated.reply("", &[complete(summary)]);
    assert_eq!((updated.end(), said(&updated).len()), (Some(EndReason::Completed), 0), "the update alone");
    // The words of a plan without any are the daemon's.
    let table: [(&str, &[&str]); 2] = [
        (r#"{"is_complete": true, "reasoning": "It is done."}"#, &[summary]),
        (r#"{"is_complete": true}"#, &["Done."]),
    ];
    for (text, messages) in table {
        let mut planned = started(Mode::Plan);
        planned.reply(text, &[]);
        assert_eq!((planned.end(), planned.summary()), (Some(EndReason::Completed), Some(messages[0])));
        assert_eq!(said(&planned), messages);
    }
}

#[test]
fn the_control_tools_of_each_mode() {
    let work = ["send_update", "fork", "wait", "tell"];
    let agent = [&["task_complete", "ask_user"], &work[..]].concat();
    let roa = [&["request_input"], &work[..]].concat();
    let table = [
        (Mode::Chat, Vec::new()),
        (Mode::Agent, agent.clone()),
        (Mode::Auto, agent.clone()),
        (Mode::Plan, agent.clone()),
        (Mode::Tree, agent),
        (Mode::Roa, roa),
    ];
    assert_eq!(table.len(), Mode::ALL.len());
    for (mode, expected) in table {
        let specs = control_tools(mode);
        assert_eq!(specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), expected, "{mode:?}");
    }
}

/// A plan has fields for questions and for the end of the task.
#[test]
fn a_plan_may_call_all_tools_but_those_that_it_has_a_field_for() {
    let tools: Vec<ToolSpec> = [tool()].into_iter().chain(control_tools(Mode::Plan)).collect();
    let turn = Turn { mode: Mode::Plan, phase: Some(Phase::Plan), may_ask: true };
    let schema = turn.shape(&tools).output_schema.expect("a plan has a schema");
    let calls = schema.schema.value()["properties"]["tool_calls"]["items"]["anyOf"].clone();
    let names =
        calls.as_array().expect("a list").iter().map(|call| &call["properties"]["tool_name"]["const"]);
    assert_eq!(names.collect::<Vec<_>>(), ["read", "send_update", "fork", "wait", "tell"]);
}

/// Asking again would not help. Two such replies may be followed by a whole one.
#[test]
fn the_third_plan_in_a_row_that_is_cut_ends_the_task() {
    let mut w = started(Mode::Plan);
    for _ in 0..2 {
        w.reply_as(StopReason::Length, "I begin", &[]);
        assert!(note(&w).starts_with("Step "), "{}", note(&w));
        assert_eq!(w.end(), None);
    }
    w.reply_as(StopReason::Length, "I begin", &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("I begin")));
}

/// What the step before has observed is not this step's.
#[test]
fn an_observation_without_a_block_is_the_answer() {
    let mut w = started(Mode::Roa);
    pass(&mut w, "{}", &[read("1")], GO_ON);
    w.reply(r#"{"finish": true}"#, &[]);
    w.reply("All of it.", &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("All of it.")));
}
