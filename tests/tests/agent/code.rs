//! `code`, the file tools under one name: people and rules meet the real tool, the model its own words.

use abide_client::protocol::{
    inbox::{Decision, Pending},
    method::task::StartTaskParams,
    task::{Approvals, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Seen, Turn},
    world::World,
};
use serde_json::json;
use std::fs;

/// The tools that a request declares.
fn tools_of(request: &Seen) -> Vec<&str> {
    let tools = request.body["tools"].as_array().unwrap();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[tokio::test]
async fn a_task_that_names_it_meets_rules_and_approvals_of_the_real_tools_and_is_undone() {
    let model = ModelServer::start().await;
    let policy = "edits = \"ask\"\ndeny = [\"read(**/.env)\"]\nallow = [\"edit(src/**)\"]";
    let config = Config::with(&model).policy(policy);
    let world = World::configured(model, &config).await;
    let folder = world.daemon.workspace();
    fs::write(folder.join(".env"), "SECRET").unwrap();
    let script = [
        Turn::new().call("code", json!({ "action": "read", "path": ".env" })),
        Turn::new().call("code", json!({ "action": "write", "path": "src/a.rs", "content": "a\n" })),
        Turn::new().call("code", json!({ "action": "write", "path": "notes.md", "content": "n\n" })),
        Turn::new().call("code", json!({ "action": "list", "path": "src", "pattern": "*.rs" })),
        Turn::done("Done."),
    ];
    world.model.script("code", script);
    let named = StartTaskParams {
        tools: Some(vec!["code".to_owned()]),
        approvals: Approvals::Ask,
        ..world.task("code")
    };
    let task = world.begin(named).await;
    let asking = world.wait_status(task, Status::WaitingApproval).await;
    assert_eq!(asking.active_calls[0].tool, "write");
    let waiting = world.pending(task).await;
    let [Pending::Approval(approval)] = &waiting[..] else { panic!("one approval: {waiting:?}") };
    assert_eq!((&*approval.tool, &*approval.summary), ("write", "write notes.md (1 line)"));
    assert!(approval.preview.is_some() && approval.wider.iter().any(|w| w.text == "edit(notes.md)"));
    world.decide(task, Decision::AllowOnce).await;
    world.wait_end(task).await;

    let requests = world.model.requests("code");
    let last = requests.last().unwrap();
    let declared = tools_of(last);
    assert!(declared.contains(&"code") && !declared.contains(&"write"), "{declared:?}");
    let seen = last.text();
    assert!(seen.contains("the user's rule `read(**/.env)` forbids this call"), "{seen}");
    assert!(seen.contains(r#"\"action\":\"read\""#) && !seen.contains("SECRET"), "its own words: {seen}");
    assert!(seen.contains("1 entry in src"), "{seen}");

    let (cli, id) = (world.daemon.cli(), task.task_id.to_string());
    let listed = cli.ok(&["tools"]).await;
    assert!(listed.contains("code: only for a task whose --tools or persona names it"), "{listed}");
    let changed = cli.ok(&["diff", &id]).await;
    assert!(changed.contains("src/a.rs") && changed.contains("notes.md"), "{changed}");
    cli.ok(&["undo", &id, "--yes"]).await;
    assert!(!folder.join("notes.md").exists() && !folder.join("src").exists());

    // A task that names no tools does not have it.
    let usual = world.run("usual", [Turn::done("Done.")]).await;
    world.wait_end(usual).await;
    let request = world.model.last_request("usual").expect("a request");
    let declared = tools_of(&request);
    assert!(declared.contains(&"patch") && !declared.contains(&"code"), "{declared:?}");
    world.model.assert_no_violations();
}
