//! The tool `python`: what is asked, what comes back, where it is offered.

use abide_client::protocol::{
    inbox::{Decision, Pending},
    message::CallOutcome,
    method::{StartTask, task::StartTaskParams},
    task::Status,
    transcript::Risk,
};
use abide_tests::{model_server::Turn, world::World};
use serde_json::json;

const CODE: &str = "from pathlib import Path\n\nPath('made.txt').write_text('by code')\nprint(6 * 7)";

#[tokio::test]
async fn code_asks_shows_itself_and_runs_once_it_is_approved() {
    let world = World::start().await;
    let script = [Turn::new().call("python", json!({ "code": CODE })), Turn::done("Done.")];
    let task = world.run_asking("code", script).await;
    let waiting = world.wait_status(task, Status::WaitingApproval).await;
    let [Pending::Approval(approval)] = &waiting.pending[..] else {
        panic!("one approval: {:?}", waiting.pending)
    };
    assert_eq!((approval.risk, approval.sandbox.as_str()), (Risk::High, "full"));
    assert_eq!(approval.summary, "from pathlib import Path … (4 lines)");
    let shown = world.daemon.cli().ok(&["inbox"]).await;
    for line in
        ["Approve python, high risk?", "code:", "Path('made.txt').write_text('by code')", "print(6 * 7)"]
    {
        assert!(shown.lines().any(|shown| shown.trim() == line), "{line}: {shown}");
    }
    let made = world.daemon.workspace().join("made.txt");
    assert!(!made.exists());
    assert!(world.decide(task, Decision::AllowOnce).await);
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    assert_eq!(std::fs::read_to_string(made).unwrap(), "by code");
    let call = world.get(task).await.calls.remove(0);
    assert_eq!(call.outcome, Some(CallOutcome::Done), "{call:?}");
    let data = call.result.unwrap().data.unwrap().value();
    assert_eq!((&data["stdout"], &data["exit_code"]), (&json!("42\n"), &json!(0)));
    world.model.assert_no_violations();
}

#[tokio::test]
async fn it_is_offered_only_where_python_is() {
    let world = World::start().await;
    let offers =
        |key: &str| world.model.last_request(key).unwrap().body["tools"].to_string().contains("\"python\"");
    let task = world.run("with", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(offers("with"));

    let mut without = world.task("without");
    without.environment.insert("PATH".to_owned(), world.daemon.workspace().display().to_string());
    world.model.script("without", [Turn::new().call("python", json!({ "code": CODE })), Turn::done("Done.")]);
    let task = world.begin(without.clone()).await;
    world.wait_end(task).await;
    assert!(!offers("without"));
    assert_eq!(world.get(task).await.calls[0].outcome, Some(CallOutcome::Refused));

    let named = StartTaskParams { tools: Some(vec!["python".to_owned()]), ..without };
    let refused = world.client.call::<StartTask>(named).await.unwrap_err().to_string();
    assert!(refused.contains("python3") && refused.contains("PATH"), "{refused}");
}

#[tokio::test]
async fn doctor_says_where_python_is_not() {
    let mut world = World::start().await;
    let tools = |findings: serde_json::Value| {
        let of = |finding: &&serde_json::Value| finding["about"] == "tools";
        findings.as_array().unwrap().iter().find(of).cloned()
    };
    assert_eq!(tools(world.daemon.cli().json(&["doctor"]).await), None);
    world.daemon.set_env("PATH", "/nowhere");
    let found = tools(world.daemon.cli().json(&["doctor"]).await).unwrap();
    assert_eq!(found["health"], "noted");
    assert!(found["words"].as_str().unwrap().contains("no python3"), "{found}");
}
