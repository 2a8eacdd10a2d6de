//! The updates that an agent panel is given of whole tasks.

use crate::{
    plan::{ask, complete, read, shell},
    world::{World, prompts, tool},
};
use abide_engine::{History, view};
use abide_protocol::{
    ConversationId, Seq,
    agent_update::AgentUpdate,
    inbox::Decision,
    record::Record,
    task::{EndReason, Mode},
};
use serde_json::{Value, json};
use uuid::Uuid;

fn started(mode: Mode) -> World {
    World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (mode, prompts(mode), vec![tool()]);
        head.limits.max_steps = 10;
        head.limits.question_timeout_secs = 60;
    })
}

/// An update's name, and its other fields as JSON without the ids of calls.
type Named = (String, Value);

fn update(name: &str, fields: Value) -> Named {
    (name.to_owned(), fields)
}

/// The updates of all the task's records.
fn updates(w: &World) -> Vec<Named> {
    let conversation_id = ConversationId(Uuid::nil());
    let mut history = History::default();
    let mut updates = Vec::new();
    for (at, new) in (1..).zip(&w.records) {
        history.fold(new);
        let Some(task) = new.task_id.and_then(|id| history.task(id)) else { continue };
        let (id, task_id, at_time, body) = (new.id, new.task_id, new.at, new.body.clone());
        let record = Record { seq: Seq(at), id, conversation_id, task_id, at: at_time, body };
        updates.extend(AgentUpdate::of(&record, &view(conversation_id, &history, task)));
    }
    let plain = |of: AgentUpdate| {
        let mut json = serde_json::to_value(of).expect("JSON");
        let fields = json.as_object_mut().expect("an object");
        fields.remove("call_id");
        let name = fields.remove("update_type").expect("a name");
        update(name.as_str().expect("text"), json)
    };
    updates.into_iter().map(plain).collect()
}

#[test]
fn a_whole_task_of_roa_over_a_crash() {
    let mut w = started(Mode::Roa);
    w.reply("I look.\n{\"plan\": \"Look.\", \"finish\": false}", &[]);
    let calls = w.reply("", &[read("a"), read("b"), shell("rm x").asking(), ask("Which one?")]);
    w.finish(calls[0], true);
    // The second attempt of the other call that only reads begins.
    w.restart();
    w.finish(calls[1], false);
    w.decide(calls[2], Decision::RejectOnce);
    let question = w.question().id;
    w.answer(question, Some("the blue one")).expect("it is open");
    w.reply(r#"{"observation": "Half of it.", "should_continue": true, "final_answer": ""}"#, &[]);
    w.reply("{\"finish\": true}", &[]);
    w.reply(r#"{"observation": "All of it.", "should_continue": false, "final_answer": "42"}"#, &[]);
    assert_eq!(w.end(), Some(EndReason::Completed));
    let read = |path: &str| {
        update("tool_start", json!({ "tool": "read", "summary": format!("read {{\"path\":\"{path}\"}}") }))
    };
    assert_eq!(
        updates(&w),
        [
            update("agent_start", json!({ "max_steps": 10 })),
            update("agent_turn_start", json!({ "step": 1 })),
            update("agent_reason", json!({ "content": "I look.", "step": 1 })),
            read("a"),
            read("b"),
            update("tool_complete", json!({ "message": "fine" })),
            read("b"),
            update("tool_error", json!({ "message": "it broke" })),
            update("tool_error", json!({ "message": "The user rejected this call." })),
            update("agent_request_input", json!({ "question": "Which one?", "step": 1 })),
            update("agent_observe", json!({ "content": "Half of it.", "step": 1 })),
            update("agent_turn_start", json!({ "step": 2 })),
            update("agent_reason", json!({ "content": "", "step": 2 })),
            update("agent_observe", json!({ "content": "All of it.", "step": 2 })),
            update("agent_completion", json!({ "steps": 2 })),
            update("response_complete", json!({ "reason": "completed", "content": "42" })),
        ]
    );
}

#[test]
fn a_stopped_task_ends_what_runs_and_says_nothing_of_what_never_ran() {
    let mut w = started(Mode::Agent);
    w.reply("", &[shell("sleep 9"), shell("true"), complete("Done.")]);
    w.stop("");
    assert_eq!(
        updates(&w),
        [
            update("agent_start", json!({ "max_steps": 10 })),
            update("agent_turn_start", json!({ "step": 1 })),
            update("tool_start", json!({ "tool": "shell", "summary": "shell {\"command\":\"sleep 9\"}" })),
            update(
                "tool_error",
                json!({ "message": "The task was ended while this ran; it was stopped, its effects are unknown." })
            ),
            update("agent_stopped", json!({})),
            update("response_complete", json!({ "reason": "stopped", "content": "" })),
        ]
    );
}

#[test]
fn a_question_that_nobody_answers_in_time() {
    let mut w = started(Mode::Roa);
    w.reply("I ask.", &[]);
    w.reply("", &[ask("Which one?")]);
    w.sleep();
    assert_eq!(
        updates(&w),
        [
            update("agent_start", json!({ "max_steps": 10 })),
            update("agent_turn_start", json!({ "step": 1 })),
            update("agent_reason", json!({ "content": "I ask.", "step": 1 })),
            update("agent_request_input", json!({ "question": "Which one?", "step": 1 })),
            update("agent_request_input_timeout", json!({})),
            update("response_complete", json!({ "reason": "question_timeout", "content": "" })),
        ]
    );
}
