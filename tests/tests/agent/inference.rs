//! `inference`: a task asks its model beside its steps, and what that uses is the task's.

use abide_client::protocol::{method::task::StartTaskParams, task::Status, transcript::Usage};
use abide_tests::{
    daemon::Config,
    model_server::{Fault, Gate, ModelServer, Outcome, Seen, Turn},
    world::World,
};
use serde_json::{Value, json};

/// A world whose model has a price.
async fn world() -> World {
    let model = ModelServer::start().await;
    let price = "[prices.\"priced/scripted-1\"]\ninput = 1\noutput = 1\ncache_read = 1";
    let config = Config::with(&model).provider("priced", "openai-chat", &model.openai_url(), price);
    World::configured(model, &config.default_model("priced/scripted-1")).await
}

/// A task that may use the tool by each of its names.
fn asking(world: &World, key: &str) -> StartTaskParams {
    let tools = ["inference", "python_inference", "write"].map(str::to_owned);
    StartTaskParams { tools: Some(tools.into()), ..world.task(key) }
}

fn ask(action: &str, prompt: &str) -> Value {
    json!({ "action": action, "prompt": prompt })
}

/// The daemon has hung up on it.
fn is_left(request: &Seen) -> bool {
    request.outcome == Outcome::Abandoned
}

/// What so many requests use at the scripted server.
fn used(requests: u64) -> Usage {
    Usage {
        input: 60 * requests,
        output: 10 * requests,
        cache_read: 40 * requests,
        model_calls: requests,
        cost_micros: Some(110 * requests),
        ..Usage::default()
    }
}

#[tokio::test]
async fn replies_and_plans_are_data_and_count_as_the_tasks_own() {
    let world = world().await;
    let write = json!({ "tool_name": "write", "parameters": { "path": "a.txt", "content": "x" } });
    let plan = json!({ "reasoning": "So.", "tool_calls": [write], "question": null, "is_complete": false });
    world.model.script("day", [Turn::say("It is Tuesday.")]);
    world.model.script("plan", [Turn::say(format!("```json\n{plan}\n```"))]);
    let fault = Fault::Status { code: 500, retry_after: None };
    world.model.script("fails", [Turn::say("Never.").but_first(fault)]);
    let script = [
        Turn::new()
            .call("inference", ask("complete", "[k:day] Which day follows Monday?"))
            .call("python_inference", ask("plan", "[k:plan] Write a file."))
            .call("inference", ask("complete", "[k:fails] Which one?"))
            .call("inference", json!({ "action": "embed", "texts": ["a", "b"] })),
        Turn::done("Done."),
    ];
    world.model.script("asks", script);
    let task = world.begin(asking(&world, "asks")).await;
    let end = world.wait_end(task).await;

    let [of_day] = &world.model.requests("day")[..] else { panic!("it is asked once") };
    let prompt = json!([{ "role": "user", "content": "[k:day] Which day follows Monday?" }]);
    assert_eq!((&of_day.body["messages"], &of_day.body["tools"]), (&prompt, &Value::Null));
    let of_plan = world.model.last_request("plan").expect("a request");
    let schema = &of_plan.body["response_format"]["json_schema"]["name"];
    assert_eq!((schema, &of_plan.body["tools"]), (&json!("plan"), &Value::Null));
    assert!(of_plan.text().contains("Step 1. Reply with the next plan"), "{}", of_plan.text());

    let seen = world.model.last_request("asks").expect("a request").text();
    for words in [
        "It is Tuesday.",
        "Planned, with 1 call. Nothing of it is carried out.",
        "The model gave no reply: ",
        "no embedding model is installed",
    ] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    assert!(!world.daemon.workspace().join("a.txt").exists(), "a plan is not carried out");
    assert_eq!(world.model.requests("fails").len(), 1, "the model that asked decides whether to ask again");

    let expected = Usage { model_calls: 5, ..used(4) };
    assert_eq!((end.status, end.usage), (Status::Completed, expected));
    let cli = world.daemon.cli();
    let listed = cli.json(&["ps", "--all"]).await;
    assert_eq!(listed[0]["usage"], json!(expected), "{listed}");
    let by_day = cli.json(&["usage"]).await;
    assert_eq!(by_day["rows"][0]["usage"], json!(expected), "{by_day}");
    world.model.assert_no_violations();
}

#[tokio::test]
async fn after_a_crash_it_asks_again_and_after_a_stop_it_does_not() {
    let mut world = world().await;
    let gate = Gate::new("the reply");
    world.model.script("day", [Turn::new().gate(&gate).text("It is Tuesday.")]);
    let asks = || Turn::new().call("inference", ask("complete", "[k:day] Which day follows Monday?"));
    world.model.script("crashes", [asks(), Turn::done("Done.")]);
    let task = world.begin(asking(&world, "crashes")).await;
    gate.reached().await;
    world.crash_and_restart().await;
    gate.reached_times(2).await;
    world.model.script("stops", [asks()]);
    let stopped = world.begin(asking(&world, "stops")).await;
    gate.reached_times(3).await;
    world.stop(stopped).await;
    let left = |requests: &[Seen]| requests.iter().filter(|r| is_left(r)).count() == 2;
    world.model.wait_for_requests("a request that is given up", "day", left).await;
    gate.open();

    let end = world.wait_end(task).await;
    // Nobody says what the request that the crash cut off has used.
    assert_eq!((end.status, end.usage), (Status::Completed, used(3)));
    let calls = world.get(task).await.calls;
    let asked = calls.iter().find(|call| call.tool == "inference").expect("the call");
    let result = asked.result.as_ref().expect("its result");
    assert!(result.ok && result.text().contains("It is Tuesday."), "{result:?}");
    let seen = world.model.last_request("crashes").expect("a request").text();
    assert_eq!(seen.matches("It is Tuesday.").count(), 1, "{seen}");
    assert_eq!(world.model.requests("day").len(), 3);
    world.model.assert_no_violations();
}
