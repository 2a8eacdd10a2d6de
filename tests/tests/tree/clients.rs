//! What the command line shows of a tree of tasks, and how a sub-task's question is found, shown and
//! answered.

use abide_client::protocol::task::{EndReason, Status};
use abide_tests::{
    model_server::{Gate, Turn},
    wait,
    world::World,
};
use serde_json::{Value, json};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("one document")
}

#[tokio::test]
async fn a_question_of_a_sub_task_is_shown_and_answered_by_its_roots_id() {
    let world = World::start().await;
    let gate = Gate::new("the question is answered");
    let root = [
        Turn::new().call("fork", json!({ "prompt": "[k:asks] Choose a colour.\nThen paint." })),
        Turn::new().call("wait", json!({})),
        Turn::done("Painted."),
    ];
    let below = [
        Turn::ask("Which colour?"),
        Turn::new().gate(&gate).call("send_update", json!({ "message": "I paint." })),
        Turn::done("It is blue."),
    ];
    world.model.script("root", root);
    world.model.script("asks", below);
    let cli = world.daemon.cli();
    let run = cli.run(&["run", "[k:root] Paint it."]).await;
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("Which colour?"), "{run:?}");

    let ps = parsed(&cli.ok(&["ps", "--json"]).await);
    let [task] = ps.as_array().expect("tasks").as_slice() else { panic!("one root: {ps}") };
    let (id, below) = (task["id"].as_str().unwrap(), task["children"][0].as_str().unwrap());
    wait::wait_seeing("the root to wait for its sub-task", async || {
        let ps = cli.ok(&["ps"]).await;
        if ps.contains("waits for 1, 1 needs you") { Ok(()) } else { Err(ps) }
    })
    .await;
    assert_eq!(cli.run(&["wait", "--or-waiting", id]).await.code, Some(4));
    let inbox = parsed(&cli.ok(&["inbox", "--json"]).await);
    let item = &inbox[0];
    assert_eq!((&item["taskId"], &item["rootId"]), (&json!(below), &json!(id)), "{item}");
    assert_eq!((&item["title"], &item["depth"]), (&json!("[k:asks] Choose a colour."), &json!(1)));
    let inbox = cli.ok(&["inbox"]).await;
    let asks = format!("sub-task {} ([k:asks] Choose a colour.)", &below[below.len() - 8..]);
    assert!(inbox.contains(&asks), "{inbox}");
    let tree = cli.ok(&["tree"]).await;
    let lines: Vec<&str> = tree.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("Paint it."), "{tree}");
    assert!(lines[1].starts_with("└─ ") && lines[1].contains("needs you: answer"), "{tree}");
    assert!(cli.ok(&["show", below]).await.contains("Which colour?"));

    let mut watch = cli.start(&["watch", id, "--children"]);
    cli.ok(&["answer", id, "blue"]).await;
    gate.open();
    let lines = watch.lines_until(|line| line.contains("Painted.")).await.join("\n");
    assert!(lines.contains("I paint.") && lines.contains("It is blue."), "{lines}");
    let end = world.begun("[k:root] Paint it.").await;
    let end = world.wait_end(end).await;
    assert_eq!((end.status, end.end_reason), (Status::Completed, Some(EndReason::Completed)));

    assert!(cli.ok(&["tree"]).await.contains("No task is at work."));
    let all = parsed(&cli.ok(&["tree", id, "--all", "--json"]).await);
    assert_eq!(all.as_object().expect("by id").len(), 2);
    assert_eq!(
        (&all[below]["depth"], &all[below]["title"]),
        (&json!(1), &json!("[k:asks] Choose a colour."))
    );
    let conversation = end.conversation_id.to_string();
    assert_eq!(cli.ok(&["tree", &conversation, "--all"]).await.lines().count(), 2);
    let neither = cli.run(&["tree", "00000000"]).await;
    assert_eq!(neither.code, Some(1), "{neither:?}");
    assert!(neither.stderr.contains("there is no task"), "{neither:?}");
    world.model.assert_no_violations();
}
