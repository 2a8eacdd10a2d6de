//! Models, code and people that do too much at once: sub-tasks without end, edits of one file, a thousand
//! interventions, forks while the task is stopped.

use abide_client::{
    CallError,
    protocol::{
        ErrorKind, TaskId,
        inbox::Decision,
        message::CallOutcome,
        method::{
            Intervene,
            task::{InterveneParams, StartTaskReply},
        },
        record::RecordBody,
        task::{EndReason, Status},
    },
};
use abide_tests::{
    daemon::Config,
    ledger::{self, LedgerLine},
    model_server::{Gate, ModelServer, Script, Turn},
    world::World,
};
use serde_json::json;
use std::collections::BTreeMap;
use tokio::task::JoinSet;

/// A reply that forks a sub-task for each of these keys.
fn forks(keys: &[String]) -> Turn {
    keys.iter().fold(Turn::new(), |turn, key| {
        turn.call("fork", json!({ "prompt": format!("[k:{key}] Fork as much as you can.") }))
    })
}

/// The task of this key and all that it may fork ask for so many sub-tasks in each of two replies.
fn greedy(model: &ModelServer, key: &str, each: usize, deepest: usize) {
    if deepest == 0 {
        return;
    }
    let keys = |reply: usize| (0..each).map(|n| format!("{key}.{reply}-{n}")).collect::<Vec<_>>();
    let (first, second) = (keys(0), keys(1));
    for below in first.iter().chain(&second) {
        greedy(model, below, each, deepest - 1);
    }
    let key = key.to_owned();
    let script = Script::by(move |n| {
        Some(match n {
            0 => forks(&first),
            1 => forks(&second),
            2 => Turn::new().call("wait", json!({})),
            _ => Turn::done("Enough."),
        })
    });
    model.script(&key, script);
}

/// How many tasks of each depth there were, how many model requests, and how often each cap refused a fork.
async fn outgrow(each: usize) -> (BTreeMap<u32, usize>, usize, BTreeMap<&'static str, usize>) {
    let world = World::start().await;
    // One level more than there may be.
    greedy(&world.model, "greedy", each, 4);
    let task = world.begin(world.task("greedy")).await;
    let end = world.wait_end(task).await;
    assert_eq!(end.end_reason, Some(EndReason::Completed), "{end:?}");
    let (mut depths, mut requests, mut refused) = (BTreeMap::new(), 0, BTreeMap::new());
    for record in ledger::of(&world.daemon.home(), task.conversation_id).iter().map(LedgerLine::record) {
        match record {
            RecordBody::TaskStarted(head) => *depths.entry(head.depth).or_default() += 1,
            RecordBody::ModelRequested(_) => requests += 1,
            RecordBody::CallFinished(call) if call.result.text().contains("No sub-task was started") => {
                let text = call.result.text();
                let caps = ["the most at a time", "the most there may be", "may be at most 3 deep"];
                let cap = caps.into_iter().find(|cap| text.contains(cap)).expect("it says which cap");
                *refused.entry(cap).or_default() += 1;
            }
            _ => {}
        }
    }
    println!("{depths:?} tasks by depth, {requests} requests, refused: {refused:?}");
    world.model.assert_no_violations();
    (depths, requests, refused)
}

#[tokio::test]
async fn forks_without_end_are_refused_in_words_and_cost_few_requests() {
    let (depths, requests, refused) = outgrow(12).await;
    let tasks: usize = depths.values().sum();
    assert_eq!(tasks, 64, "{depths:?}");
    // Whether a sub-task of the third level comes before the 64th of all depends on who is quicker.
    for cap in ["the most at a time", "the most there may be"] {
        assert!(refused.contains_key(cap), "refused with words about the cap: {refused:?}");
    }
    assert!(requests <= tasks * 4, "{requests} requests of {tasks} tasks");
}

#[tokio::test]
async fn sub_tasks_that_fork_in_turn_are_refused_at_the_third_level() {
    let (depths, requests, refused) = outgrow(1).await;
    // Each forks twice.
    assert_eq!(depths, BTreeMap::from([(0, 1), (1, 2), (2, 4), (3, 8)]));
    assert_eq!(refused, BTreeMap::from([("may be at most 3 deep", 16)]));
    assert!(requests <= 15 * 4, "{requests} requests of 15 tasks");
}

/// Both edits are proposed before either is made: the hash of the file before it decides, and the later one
/// is told.
#[tokio::test]
async fn of_two_sub_tasks_that_edit_one_file_the_later_is_told() {
    let world = World::start().await;
    std::fs::write(world.daemon.workspace().join("shared.txt"), "one\n").unwrap();
    let edit = |new: &str| {
        let patch = json!({ "path": "shared.txt", "old": "one", "new": new });
        [Turn::new().call("patch", patch), Turn::done("Edited.")]
    };
    world.model.script("first", edit("two"));
    world.model.script("second", edit("three"));
    let root = [forks(&["first".to_owned(), "second".to_owned()]), Turn::new().call("wait", json!({}))];
    let root = root.into_iter().chain([Turn::done("Both.")]).collect::<Vec<_>>();
    let task = world.run_asking("siblings", root).await;
    let waiting = world
        .wait("both edits to wait for approval", task, |task| {
            task.tree.as_ref().is_some_and(|tree| tree.waiting == 2)
        })
        .await;
    for child in &waiting.children {
        let child = StartTaskReply { task_id: *child, ..task };
        assert!(world.decide(child, Decision::AllowOnce).await);
        if child.task_id == waiting.children[0] {
            world.wait_end(child).await;
        }
    }
    world.wait_end(task).await;
    let text = std::fs::read_to_string(world.daemon.workspace().join("shared.txt")).unwrap();
    assert_eq!(text, "two\n", "the first edit stays");
    let second = StartTaskReply { task_id: waiting.children[1], ..task };
    let call = world.get(second).await.calls.remove(0);
    let result = call.result.expect("a result");
    assert_eq!((call.outcome, result.ok), (Some(CallOutcome::Done), false));
    let words = "shared.txt was changed since the edit was proposed, perhaps by another task; nothing was written. Read it and try again";
    assert_eq!(result.message, words);
    let told = world.model.last_request("second").expect("a request").text();
    assert!(told.contains("perhaps by another task"), "{told}");
    world.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_interventions_during_a_reply_each_counts_once() {
    const PEOPLE: usize = 8;
    const EACH: usize = 125;
    let world = World::start().await;
    let gates = ["the first reply", "the last ones"].map(Gate::new);
    let [first, last] = gates.clone();
    let script = Script::by(move |n| {
        let update = json!({ "message": format!("At {n}.") });
        Some(match n {
            0 => Turn::new().text("I begin").gate(&first).call("send_update", update),
            // These race the interventions.
            1..10 => Turn::new().text("I go on").call("send_update", update),
            _ => Turn::new()
                .text("I end")
                .gate(&last)
                .call("task_complete", json!({ "summary": format!("Done at {n}.") })),
        })
    });
    let task = world.run("crowded", script).await;
    gates[0].reached().await;
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        let client = world.daemon.client().await;
        people.spawn(async move {
            let mut accepted = Vec::new();
            for n in 0..EACH {
                let words = format!("Word <{person}-{n}>.");
                // Every fiftieth takes the reply back.
                let modifies = n % 50 == 49;
                let params = InterveneParams {
                    task_id: task.task_id.to_string(),
                    comment: if modifies { "modify".to_owned() } else { words.clone() },
                    content: modifies.then(|| words.clone()),
                    status: None,
                };
                match client.call::<Intervene>(params).await {
                    Ok(reply) => assert!(reply.success, "{reply:?}"),
                    Err(error) => panic!("{words} is refused: {error}"),
                }
                accepted.push(words);
            }
            accepted
        });
    }
    gates[0].open();
    let accepted: Vec<String> = people.join_all().await.into_iter().flatten().collect();
    assert_eq!(accepted.len(), PEOPLE * EACH);
    gates[1].open();
    let end = world.wait_end(task).await;
    assert_eq!(end.end_reason, Some(EndReason::Completed), "{end:?}");
    let last = world.model.last_request("crowded").expect("a request").text();
    for words in &accepted {
        assert_eq!(last.matches(words.as_str()).count(), 1, "{words}");
    }
    let late = InterveneParams {
        task_id: task.task_id.to_string(),
        comment: "Too late.".to_owned(),
        content: None,
        status: None,
    };
    match world.client.call::<Intervene>(late).await {
        Err(CallError::Daemon(error)) => assert_eq!(error.kind(), ErrorKind::IllegalState),
        other => panic!("a refusal is expected: {other:?}"),
    }
    world.model.assert_no_violations();
}

/// Whatever the code had asked for, nothing is started after the stop, and nothing lives on.
#[tokio::test]
async fn code_that_forks_while_it_is_stopped_leaves_nothing_alive() {
    const FORKS: usize = 30;
    let model = ModelServer::start().await;
    let config = Config::with(&model).task("max_children = 0");
    let world = World::configured(model, &config).await;
    let gate = Gate::new("the sub-tasks' replies");
    for n in 0..FORKS {
        world.model.script(&format!("part-{n}"), [Turn::new().gate(&gate).call("wait", json!({}))]);
    }
    let code = format!(
        r#"
import time
for n in range({FORKS}):
    fork(f"[k:part-{{n}}] Do part {{n}}.")
    time.sleep(0.005)
time.sleep(600)
"#
    );
    let script = [Turn::new().call("python", json!({ "code": code }))];
    let task = world.run("code", script).await;
    gate.reached().await;
    let stopped = world.stop(task).await;
    assert_eq!(stopped.end_reason, Some(EndReason::Stopped));
    gate.open();
    abide_tests::wait::wait_until("the code to end", async || world.daemon.offspring().is_empty()).await;
    let lines = ledger::of(&world.daemon.home(), task.conversation_id);
    let kinds = |kind: &str| -> Vec<TaskId> {
        lines.iter().filter(|line| line.kind == kind).filter_map(|line| line.task).collect()
    };
    let (started, mut ended) = (kinds("task_started"), kinds("task_ended"));
    let last = lines.iter().rev().find(|line| line.kind == "task_ended" || line.kind == "task_started");
    assert_eq!(
        last.and_then(|line| line.task),
        Some(task.task_id),
        "the root ends last, and nothing begins then"
    );
    println!("{} of {FORKS} sub-tasks had been started", started.len() - 1);
    let mut begun = started;
    begun.sort();
    ended.sort();
    assert_eq!(begun, ended, "each has ended, once");
    assert!(begun.len() > 1, "at least the one that had asked: {begun:?}");
    assert_eq!(world.get(task).await.task.status, Status::Cancelled);
    assert!(world.inbox().await.is_empty());
}
