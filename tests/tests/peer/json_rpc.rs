//! A JSON-RPC library of another project, set to lines, does everything that a client needs.

use abide_tests::{model_server::Turn, peer, process, skip::skip, world::World};
use serde_json::{Value, json};

#[tokio::test]
async fn a_library_starts_a_task_answers_its_question_and_allows_its_call() {
    let world = World::start().await;
    let Some(mut client) = peer::program("json_rpc.py") else {
        return skip(
            "a_library_starts_a_task_answers_its_question_and_allows_its_call",
            "agent-client-protocol is not installed; the test command installs it",
        );
    };
    let drink = json!({ "question": "Tea or coffee?", "choices": ["tea", "coffee"] });
    world.model.script(
        "library",
        [
            Turn::new().call("ask_user", drink),
            Turn::shell("echo once >> ran"),
            Turn::say("Here you are."),
            Turn::done("Served."),
        ],
    );
    client.arg(world.daemon.socket()).arg(world.daemon.workspace()).arg("[k:library] A drink, please.");
    let output = process::finished(&mut client).await.unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    // The library reports on stderr what it cannot read or handle.
    assert_eq!(complaint, "");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let replies = &seen["replies"];
    // Compared by name: a reply may get new fields.
    let hello = &replies["hello"];
    assert_eq!((&hello["protocol"], &hello["codec"]), (&json!(1), &json!("json")), "{seen}");
    assert_eq!(replies["dance"]["code"], json!(-32601), "{seen}");
    let answered = &replies["userResponse"];
    assert_eq!((&answered["won"], &answered["response"]), (&json!(true), &json!("tea")), "{seen}");
    let decided = &replies["decideApproval"];
    assert_eq!((&decided["won"], &decided["decision"]), (&json!(true), &json!("allow_once")), "{seen}");
    assert_eq!(replies["getTask"]["task"]["status"], json!("completed"), "{seen}");
    for name in ["taskMessage", "taskEvent", "taskUpdate", "taskDelta", "inboxUpdate"] {
        assert!(seen["notified"][name].as_u64().is_some_and(|times| times > 0), "no {name}: {seen}");
    }
    assert_eq!(std::fs::read_to_string(world.daemon.workspace().join("ran")).unwrap(), "once\n");
    assert!(world.model.requests("library")[1].text().contains("tea"));
}
