//! Mode `plan`: the model writes its calls as JSON, over all model APIs.

use abide_client::protocol::{
    method::task::StartTaskParams,
    task::{EndReason, Mode, Status},
};
use abide_tests::{daemon::WIRES, model_server::Turn, world::World};
use serde_json::{Value, json};

fn plan(calls: &Value, question: Option<&str>, is_complete: bool) -> Turn {
    let plan =
        json!({ "reasoning": "So.", "tool_calls": calls, "question": question, "is_complete": is_complete });
    Turn::say(plan.to_string())
}

#[tokio::test]
async fn a_plan_asks_then_acts_and_its_results_go_back_as_text() {
    let mut world = World::start().await;
    for (wire, model) in WIRES {
        let key = format!("plan-{wire}");
        let witness = world.witness();
        let shell = json!([{ "tool_name": "shell", "parameters": { "command": witness.command(&key) } }]);
        let unknown = json!([{ "tool_name": "fly", "parameters": {} }]);
        let script = [
            plan(&shell, Some("Which one?"), false),
            plan(&unknown, None, true),
            Turn::say("I forgot the format."),
            plan(&json!([]), None, true),
        ];
        world.model.script(&key, script);
        let params =
            StartTaskParams { mode: Some(Mode::Plan), model: Some(model.to_owned()), ..world.task(&key) };
        let task = world.begin(params).await;
        world.wait_status(task, Status::WaitingUser).await;
        assert!(!witness.marks().contains(&key), "{key}: the question comes first");
        world.crash_and_restart().await;
        assert!(world.answer(task, Some("this one")).await);
        let end = world.wait_end(task).await;
        assert_eq!((end.end_reason, end.step_count), (Some(EndReason::Completed), 4), "{key}");
        let marks = witness.marks().iter().filter(|mark| **mark == key).count();
        assert_eq!((end.summary.as_deref(), marks), (Some("So."), 1), "{key}");
        let texts = world.texts(task.conversation_id).await;
        assert!(
            texts.iter().all(|text| !text.contains("tool_calls")),
            "{key}: nobody sees the JSON: {texts:?}"
        );

        let requests = world.model.requests(&key);
        assert!(requests.iter().all(|r| r.body["tools"].as_array().is_none_or(Vec::is_empty)), "{key}");
        let second = requests[1].text();
        assert!(second.contains("Result of ask_user:") && second.contains("this one"), "{key}: {second}");
        assert!(requests[2].text().contains("Result of fly:"), "{key}");
        let schema = match wire {
            "openai-chat" => &requests[0].body["response_format"]["json_schema"]["name"],
            "openai-responses" => &requests[0].body["text"]["format"]["name"],
            _ => &Value::Null,
        };
        assert_eq!(schema, &if wire == "anthropic" { Value::Null } else { json!("plan") }, "{key}");
    }
    world.model.assert_no_violations();
}
