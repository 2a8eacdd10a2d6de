//! `abide run --result` and `--json-result`: what a script reads is the result and nothing else.

use abide_tests::{
    model_server::{Fault, Turn},
    world::World,
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_script_gets_the_final_text_or_one_object_whatever_the_end_and_nothing_else() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let turns =
        [Turn::say("I look first.").call("shell", json!({ "command": "true" })), Turn::done("All is well.")];
    world.model.script("agent", turns);
    let run = cli.run(&["run", "--yes", "--result", "[k:agent]"]).await;
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "All is well.\n", ""));

    let object = async |arguments: &[&str]| {
        let run = cli.run(&[&["run", "--json-result"], arguments].concat()).await;
        let object: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("one object: {run:?}"));
        assert_eq!(object["exit"], json!(run.code), "{object}");
        (object, run.stderr)
    };
    let of = |object: &Value| ["result", "status", "endReason", "exit"].map(|field| object[field].clone());

    world.model.script("chat", [Turn::say("The answer is 42.")]);
    let (chat, said) = object(&["--mode", "chat", "[k:chat]"]).await;
    assert_eq!(of(&chat), [json!("The answer is 42."), json!("completed"), json!("completed"), json!(0)]);
    assert_eq!((&chat["usage"]["modelCalls"], &chat["error"], &*said), (&json!(1), &Value::Null, ""));
    let task = cli.json(&["show", chat["taskId"].as_str().unwrap()]).await;
    assert_eq!(task["task"]["summary"], chat["result"]);

    world.model.script("asks", [Turn::ask("Which?"), Turn::done("Done.")]);
    let (asks, said) = object(&["[k:asks]"]).await;
    assert_eq!(of(&asks), [Value::Null, json!("waiting_user"), Value::Null, json!(4)]);
    assert!(said.contains("Which?") && said.contains("abide answer"), "{said}");

    world
        .model
        .script("bad", [Turn::done("Never.").but_first(Fault::Status { code: 401, retry_after: None })]);
    let (bad, said) = object(&["[k:bad]"]).await;
    assert_eq!(of(&bad), [Value::Null, json!("error"), json!("error"), json!(1)]);
    assert!(
        bad["error"].as_str().is_some_and(|error| error.contains("401")) && said.contains("401"),
        "{bad}"
    );
}
