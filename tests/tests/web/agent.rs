//! The agent API: a stream starts a task once, however often the client has to ask again.

use super::open::device;
use abide_tests::{
    http::SentEvent,
    ledger,
    model_server::{Gate, Turn},
    world::World,
};
use serde_json::{Value, json};

/// The path of a stream whose task follows the script of `key`.
fn stream(key: &str, more: &str) -> String {
    format!("/agent/stream?prompt=%5Bk:{key}%5D+Do+it.{more}")
}

fn kinds(chunks: &[SentEvent]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.data["type"].as_str().unwrap()).collect()
}

fn is(kind: &str) -> impl Fn(&SentEvent) -> bool {
    move |chunk| chunk.data["type"] == kind
}

pub(super) fn started(world: &World) -> usize {
    ledger::read(&world.daemon.home()).iter().filter(|line| line.kind == "task_started").count()
}

/// What a client has in the end, but for states, which are those of now.
pub(super) fn said(chunks: &[SentEvent]) -> (String, Vec<&Value>) {
    let text = chunks.iter().filter(|chunk| is("text-delta")(chunk));
    let text = text.map(|chunk| chunk.data["textDelta"].as_str().unwrap()).collect();
    let rest = chunks.iter().filter(|chunk| !is("text-delta")(chunk) && !is("agent-state")(chunk));
    (text, rest.map(|chunk| &chunk.data).collect())
}

#[tokio::test]
async fn a_stream_starts_one_task_and_goes_on_by_its_ids() {
    let world = World::start().await;
    let device = device(&world).await;
    let gate = Gate::new("the stream was cut");
    world.model.script(
        "agent",
        [
            Turn::say("I will ").gate(&gate).text("look.").call("list", json!({})),
            Turn::ask("Which colour?"),
            Turn::done("It is blue."),
        ],
    );
    let path = stream("agent", "&parentId=null");
    let mut first = device.events(&path, None).await;
    let mut chunks = first.until(is("text-delta")).await;
    drop(first);
    assert_eq!(kinds(&chunks)[..2], ["agent-state", "step-start"]);
    let id = chunks[0].data["agentId"].as_str().unwrap().to_owned();
    let state = &chunks[0].data["state"];
    assert_eq!((&state["status"], &state["parentId"]), (&json!("running"), &Value::Null), "{state}");
    assert_eq!(
        (&state["userContent"], &state["userComment"]),
        (&json!("[k:agent] Do it."), &json!("unchanged"))
    );
    gate.open();
    // The same request with an id goes on with its task.
    let mut again = device.events(&path, Some(&chunks.last().unwrap().id)).await;
    chunks.extend(again.until(is("question")).await);
    let asked = &chunks.last().unwrap().data;
    assert_eq!((&asked["agentId"], &asked["prompt"]), (&json!(id), &json!("Which colour?")));
    let now = device.get(&format!("/agent/{id}")).await.json();
    assert_eq!(
        (&now["status"], &now["pendingQuestion"]["questionId"]),
        (&json!("awaiting_user"), &asked["questionId"])
    );
    let answer = json!({ "questionId": asked["questionId"], "response": "blue" });
    assert_eq!(device.post(&format!("/agent/{id}/answer"), &answer).await.json()["won"], true);
    chunks.extend(again.until(is("finish")).await);
    assert!(again.next().await.is_none(), "it is over");

    let finish = &chunks.last().unwrap().data;
    assert_eq!(
        (&finish["finishReason"], &finish["result"]),
        (&json!("stop"), &json!("It is blue.")),
        "{finish}"
    );
    let (text, rest) = said(&chunks);
    assert_eq!(text, "I will look.");
    let one = |kind: &str| rest.iter().find(|data| data["type"] == kind).copied().unwrap();
    let (call, result) = (one("tool-call"), one("tool-result"));
    assert_eq!((&call["toolName"], &call["args"]), (&json!("list"), &json!({})));
    assert_eq!((&result["toolCallId"], &result["toolName"]), (&call["toolCallId"], &json!("list")));
    assert_eq!(one("step-finish")["finishReason"], "tool-calls");

    // Whoever has read the end is told that there is nothing more, and every other id gives the rest.
    assert_eq!(device.get_after(&path, &chunks.last().unwrap().id).await.status, 204);
    for (at, chunk) in chunks.iter().enumerate().take(chunks.len() - 1) {
        let rest = device.events(&path, Some(&chunk.id)).await.until(is("finish")).await;
        let all: Vec<SentEvent> = chunks[..=at].iter().chain(&rest).cloned().collect();
        assert_eq!(said(&all), said(&chunks), "after {}", chunk.id);
    }
    assert_eq!(device.get_after(&path, "1").await.status, 400, "that is no id of an agent");
    assert_eq!(started(&world), 1);

    let agents = device.get("/agent/tree?all=true").await.json();
    assert_eq!((&agents[&id]["status"], &agents[&id]["messages"]), (&json!("completed"), &Value::Null));
    assert!(!device.get(&format!("/agent/{id}")).await.json()["messages"].as_array().unwrap().is_empty());
    let none = device.get("/agent/none").await;
    assert_eq!((none.status, &none.json()["error"]), (404, &json!("Not found")));
    let words = json!({ "userComment": "Faster.", "userContent": null, "status": null });
    assert_eq!(device.post("/agent/none/intervene", &words).await.status, 404);
    assert_eq!(device.post(&format!("/agent/{id}/intervene"), &words).await.status, 409);
}

#[tokio::test]
async fn an_agent_of_ones_own_id_is_started_once_and_others_beneath_it() {
    let world = World::start().await;
    let device = device(&world).await;
    let gate = Gate::new("the sub-task has ended");
    world
        .model
        .script("above", [Turn::new().gate(&gate).text("So.").call("wait", json!({})), Turn::done("Both.")]);
    world.model.script("beneath", [Turn::done("Half.")]);
    let path = stream("above", "&agentId=mine");
    let mut above = device.events(&path, None).await;
    let begun = above.next().await.unwrap();
    let id = begun.data["agentId"].as_str().unwrap();
    // A client that has not read an id asks again.
    assert_eq!(device.events(&path, None).await.next().await.unwrap().id, begun.id);
    assert_eq!(device.get(&stream("other", "&agentId=mine")).await.status, 409);

    let words = json!({ "userComment": "Be quick." });
    assert_eq!(device.post("/agent/mine/intervene", &words).await.json(), json!({ "success": true }));
    let beneath = device.events(&stream("beneath", "&parentId=mine"), None).await.until(is("finish")).await;
    let child = &beneath[0].data["agentId"];
    assert_eq!(beneath.last().unwrap().data["result"], "Half.");
    let agents = device.get("/agent/tree?agentId=mine&all=true").await.json();
    assert_eq!(
        (&agents[id]["subagents"], &agents[id]["userComment"]),
        (&json!([child]), &json!("Be quick."))
    );
    assert_eq!(agents[child.as_str().unwrap()]["parentId"], id);
    let beside = world.daemon.cli().ok(&["run", "--parent", "mine", "--result", "[k:beneath] Do it."]).await;
    assert_eq!(beside, "Half.\n");
    gate.open();
    let whole = above.until(is("finish")).await;
    assert_eq!(whole.last().unwrap().data["result"], "Both.");
    let states = whole.iter().filter(|chunk| is("agent-state")(chunk) && chunk.data["agentId"] == *child);
    assert!(states.count() >= 2, "what its sub-task does is told: {whole:#?}");
    assert!(world.model.requests("above")[1].text().contains("Half."), "its result is delivered");
    assert_eq!(device.get(&stream("beneath", "&parentId=mine")).await.status, 409, "it has ended");
    assert_eq!(started(&world), 3);
}
