//! The daemon itself neither skips nor repeats a record: read without the client library, which would drop a repeat.

use abide_client::{
    Client,
    protocol::{
        RecordId, Seq,
        method::{
            self,
            subscription::{Scope, SubscribeParams},
        },
        notification::Notification,
        record::RecordBody,
    },
};
use abide_tests::{
    ledger,
    model_server::{Gate, Script, Turn},
    wait,
    world::World,
};
use serde_json::json;

/// Subscribes on its own connection and reads facts until `is_enough`; returns each with its seq.
async fn read(
    client: Client,
    since: Seq,
    is_enough: impl Fn(usize, bool) -> bool,
) -> Vec<(Seq, RecordId, bool)> {
    let mut told = client.notifications();
    let params = SubscribeParams { scope: Scope::All, since: Some(since) };
    let reply = client.call::<method::Subscribe>(params).await.unwrap();
    let mut facts = Vec::new();
    wait::within("facts on the wire", async {
        while let Some(notification) = told.next().await {
            let fact = match notification {
                Notification::TaskMessage(m) => (m.seq, m.message.id, false, m.subscription_id),
                Notification::TaskEvent(e) => {
                    (e.seq, e.record.id, matches!(e.record.body, RecordBody::TaskEnded(_)), e.subscription_id)
                }
                _ => continue,
            };
            assert_eq!(fact.3, reply.subscription_id);
            facts.push((fact.0, fact.1, fact.2));
            if is_enough(facts.len(), fact.2) {
                break;
            }
        }
    })
    .await;
    facts
}

#[tokio::test]
async fn every_record_comes_once_and_in_order_through_reconnections() {
    let world = World::start().await;
    let gate = Gate::new("everybody is there");
    let script = {
        let gate = gate.clone();
        Script::by(move |n| {
            let turn = Turn::new().gate(&gate).text(format!("Step {n}."));
            Some(if n < 10 {
                turn.call("send_update", json!({ "message": n.to_string() }))
            } else {
                turn.call("task_complete", json!({ "summary": "Done." }))
            })
        })
    };
    world.model.script_for_all(script);
    for key in ["a", "b", "c"] {
        world.begin(world.task(key)).await;
    }
    gate.reached_times(3).await;
    gate.open();
    let (mut seen, mut cursor, mut ended) = (Vec::new(), Seq(0), 0);
    while ended < 3 {
        let client = world.daemon.client().await;
        let facts = read(client, cursor, |facts, is_end| facts >= 4 || is_end).await;
        ended += facts.iter().filter(|(_, _, is_end)| *is_end).count();
        cursor = facts.last().expect("some facts").0;
        seen.extend(facts.into_iter().map(|(seq, id, _)| (seq, id)));
    }
    let on_disk: Vec<_> =
        ledger::read(&world.daemon.home()).into_iter().map(|line| (line.seq, line.id)).collect();
    assert_eq!(seen, on_disk, "what was told (left), what is on disk (right)");
}
