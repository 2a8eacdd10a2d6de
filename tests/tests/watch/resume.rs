//! A client that resumes from a cursor misses nothing and gets nothing twice.

use abide_client::protocol::{Seq, method::subscription::Scope, record::RecordBody, task::Status};
use abide_tests::{
    model_server::{Gate, Script, Turn},
    watcher::Watcher,
    world::World,
};
use serde_json::json;

const STEPS: usize = 12;

/// A task of many steps that begins when the gate opens.
fn steps(gate: &Gate) -> Script {
    let gate = gate.clone();
    Script::by(move |n| {
        let turn = Turn::new().gate(&gate).text(format!("Step {n}."));
        Some(if n < STEPS {
            turn.call("list", json!({})).call("send_update", json!({ "message": format!("Did {n}.") }))
        } else {
            turn.call("task_complete", json!({ "summary": "Done." }))
        })
    })
}

#[tokio::test]
async fn resuming_works_while_conversations_commit_at_the_same_time() {
    let world = World::start().await;
    let gate = Gate::new("everybody watches");
    let mut tasks = Vec::new();
    for key in ["a", "b", "c"] {
        tasks.push(world.run(key, steps(&gate)).await);
    }
    let mut steady = Watcher::open(&world.daemon, Scope::All, None).await;
    let mut broken = Watcher::open(&world.daemon, Scope::All, Some(steady.cursor())).await;
    let mut seen = Vec::new();
    let start = steady.cursor();
    gate.open();
    let mut ended = 0;
    while ended < tasks.len() {
        // Disconnects and resumes every few facts.
        for _ in 0..3 {
            if matches!(broken.fact().await.body(), Some(RecordBody::TaskEnded(_))) {
                ended += 1;
                if ended == tasks.len() {
                    break;
                }
            }
        }
        seen.extend_from_slice(broken.seen());
        let cursor = broken.cursor();
        drop(broken);
        broken = Watcher::open(&world.daemon, Scope::All, Some(cursor)).await;
    }
    ended = 0;
    while ended < tasks.len() {
        ended += usize::from(matches!(steady.fact().await.body(), Some(RecordBody::TaskEnded(_))));
    }
    assert_eq!(seen, steady.seen(), "the one that came and went (left), the one that stayed (right)");
    steady.assert_agrees_with(&world.daemon, |_| true);
    assert!(seen.iter().all(|(seq, _)| *seq > start) && seen.is_sorted_by(|a, b| a.0 < b.0));
    for task in tasks {
        assert_eq!(world.get(task).await.task.status, Status::Completed);
    }
}

#[tokio::test]
async fn a_conversation_can_be_watched_from_its_first_record() {
    let world = World::start().await;
    let gate = Gate::new("nobody waits");
    gate.open();
    let task = world.run("own", steps(&gate)).await;
    let other = world.run("other", steps(&gate)).await;
    world.wait_end(task).await;
    world.wait_end(other).await;
    let scope = Scope::Conversation(task.conversation_id);
    let mut watcher = Watcher::open(&world.daemon, scope, Some(Seq(0))).await;
    watcher.facts_until("the end", |f| matches!(f.body(), Some(RecordBody::TaskEnded(_)))).await;
    watcher.assert_agrees_with(&world.daemon, |line| line.conversation == task.conversation_id);
}
