//! What waits for a person in a sub-task is found in the session of its root and decided there.

use super::open::{chat, device, session};
use abide_tests::{http::SentEvent, model_server::Turn, world::World};
use serde_json::{Value, json};

/// A root that waits for a sub-task, which follows these turns.
fn script(world: &World, root: &str, below: &str, turns: Vec<Turn>) {
    let prompt = format!("[k:{below}] Look closer.");
    let above = [
        Turn::new().call("fork", json!({ "prompt": prompt })),
        Turn::new().call("wait", json!({})),
        Turn::done("All is done."),
    ];
    world.model.script(root, above);
    world.model.script(below, turns);
}

fn asks(event: &SentEvent) -> bool {
    event.name == "approval_required"
}

#[tokio::test]
async fn a_sub_tasks_approvals_are_decided_in_its_roots_session_once() {
    let world = World::start().await;
    let device = device(&world).await;
    let (session, other) = (session(&world, &device).await, session(&world, &device).await);
    let commands = ["one", "two"].map(|name| Turn::shell(&format!("echo {name} > {name}.txt")));
    script(&world, "above", "below", [&commands[..], &[Turn::done("Looked at.")]].concat());
    let (begun, mut stream) = chat(&device, &session, "above").await;
    let decide = async |session: &str, call: &Value, body: Value| {
        let path = format!("/api/sessions/{session}/approvals/{}", call.as_str().unwrap());
        let answer = device.post(&path, &body).await;
        (answer.status, answer.json())
    };

    let first = stream.until(asks).await.pop().unwrap().data;
    let (below, call) = (&first["taskId"], &first["callId"]);
    assert_ne!(below, &begun["taskId"], "it is the sub-task's: {first}");
    let inbox = device.get("/api/inbox").await.json();
    let [item] = inbox["items"].as_array().unwrap().as_slice() else { panic!("one item: {inbox}") };
    assert_eq!(
        (&item["taskId"], &item["rootId"], &item["conversationId"], &item["depth"]),
        (below, &begun["taskId"], &json!(session), &json!(1)),
        "{item}"
    );
    let agent = device.get(&format!("/agent/{}", below.as_str().unwrap())).await.json();
    assert_eq!(
        (&agent["parentId"], &agent["status"], &agent["pendingApprovals"][0]["callId"]),
        (&begun["taskId"], &json!("awaiting_user"), call),
        "{agent}"
    );

    let (status, answer) = decide(&other, call, json!({ "approved": true })).await;
    assert_eq!((status, &answer["data"]["kind"]), (404, &json!("not_found")), "another session: {answer}");
    let (status, answer) = decide(&session, call, json!({ "approved": true })).await;
    assert_eq!((status, &answer["won"]), (200, &json!(true)), "{answer}");
    let second = stream.until(asks).await;
    let decided = second.iter().find(|event| event.name == "approval_decided").unwrap();
    assert_eq!(
        (&decided.data["taskId"], &decided.data["by"]),
        (below, &json!({ "via": "http", "name": "phone" }))
    );
    let second = &second.last().unwrap().data;
    assert_eq!(&second["taskId"], below);
    let no = json!({ "approved": false, "note": "One is enough." });
    assert_eq!(decide(&session, &second["callId"], no).await.1["won"], true);
    let end = stream.until_end().await.pop().unwrap().data;
    assert_eq!((&end["taskId"], &end["status"]), (&begun["taskId"], &json!("completed")), "{end}");
    assert!(world.model.requests("below")[2].text().contains("One is enough."));
    let files = ["one.txt", "two.txt"].map(|name| world.daemon.workspace().join(name).exists());
    assert_eq!(files, [true, false]);

    // Twice, otherwise, and when all is over: what was said first counts.
    for (call, decision) in [(call, "allow_once"), (&second["callId"], "reject_once")] {
        for approved in [true, false] {
            let (status, late) = decide(&session, call, json!({ "approved": approved })).await;
            assert_eq!((status, &late["won"], &late["decision"]), (200, &json!(false), &json!(decision)));
            assert!(late["firstAt"].is_i64() || late["firstAt"].is_string(), "{late}");
        }
    }
    assert_eq!(device.get("/api/inbox").await.json()["items"], json!([]));
}

/// By the end of its root, or by new instructions.
#[tokio::test]
async fn what_was_closed_without_a_decision_is_decided_by_nobody() {
    let world = World::start().await;
    let device = device(&world).await;
    let (command, question) = (Turn::shell("echo one > one.txt"), Turn::ask("Which one?"));
    let table = [(&command, true), (&command, false), (&question, true), (&question, false)];
    for (number, (asks, is_stopped)) in table.into_iter().enumerate() {
        let session = session(&world, &device).await;
        let (root, below) = (format!("root-{number}"), format!("below-{number}"));
        script(&world, &root, &below, vec![asks.clone(), Turn::done("Done.")]);
        let (_, mut stream) = chat(&device, &session, &root).await;
        let asked = stream.until(|event| ["approval_required", "question"].contains(&&*event.name)).await;
        let asked = &asked.last().unwrap().data;
        let at = |rest: String| format!("/api/sessions/{session}/{rest}");
        let closed = match is_stopped {
            true => device.post(&at("stop".to_owned()), &json!({})).await,
            false => {
                let words = json!({ "userContent": format!("[k:{below}] Leave it."), "status": "modified" });
                device.post(&format!("/agent/{}/intervene", asked["taskId"].as_str().unwrap()), &words).await
            }
        };
        assert_eq!(closed.status, 200, "{closed:?}");
        stream.until_end().await;
        let (path, body) = match asked["questionId"].as_str() {
            Some(id) => (at(format!("answers/{id}")), json!({ "response": "This one." })),
            None => {
                let call = asked["callId"].as_str().unwrap();
                (at(format!("approvals/{call}")), json!({ "approved": true }))
            }
        };
        for _ in 0..2 {
            let late = device.post(&path, &body).await;
            assert_eq!(
                (late.status, &late.json()["data"]["kind"]),
                (409, &json!("illegal_state")),
                "{late:?}"
            );
        }
    }
    assert!(!world.daemon.workspace().join("one.txt").exists());
}
