use super::{Ack, Shared, Way, script::scripts};
use abide_client::{
    AtHome, Live, LiveOptions, Options, Update,
    protocol::{
        ErrorKind, Seq, TaskId,
        method::{
            self,
            subscription::Scope,
            task::{StartTaskParams, StartTaskReply},
        },
        notification::Notification,
        record::RecordBody,
        task::{Approvals, Mode},
    },
};
use std::{collections::HashMap, sync::Arc};

/// Keeps so many tasks running until the crowd closes.
pub(super) async fn keep(shared: Arc<Shared>, tasks: usize) {
    let mut way = Way::to(shared.ground.home.clone());
    let mut at_work: HashMap<TaskId, (usize, usize)> = HashMap::new();
    for slot in 0..tasks {
        at_work.insert(begin(&shared, &mut way, slot, 0).await.task_id, (slot, 0));
    }
    let home =
        AtHome { home: shared.ground.home.clone(), options: Options::new("abide-tests", "0"), start: None };
    let mut live = Live::eventually(home, Scope::All, Some(Seq(0)), LiveOptions::default());
    while !at_work.is_empty() {
        let ended = match live.next().await {
            Update::Notification(Notification::TaskEvent(event))
                if matches!(event.record.body, RecordBody::TaskEnded(_)) =>
            {
                event.record.task_id.expect("it is of a task")
            }
            Update::Ended { reason } => panic!("the keeper's subscription ended: {reason}"),
            _ => continue,
        };
        // Else it is a sub-task, or a root ended twice, which the audit finds.
        let Some((slot, round)) = at_work.remove(&ended) else { continue };
        shared.ended.notify_one();
        if !shared.is_closing() {
            let next = begin(&shared, &mut way, slot, round + 1).await;
            at_work.insert(next.task_id, (slot, round + 1));
        }
    }
}

/// Starts a task with the request sent twice, as a client does whose first reply was lost.
async fn begin(shared: &Shared, way: &mut Way, slot: usize, round: usize) -> StartTaskReply {
    let ground = &shared.ground;
    let key = format!("s{slot}r{round}");
    for (key, script) in scripts(&key, &ground.seed, &ground.witness) {
        ground.model.script(&key, script);
    }
    let params = StartTaskParams {
        message: format!("[k:{key}] Do what the script says."),
        mode: Some(Mode::Agent),
        workspace: Some(ground.workspace.display().to_string()),
        approvals: if slot.is_multiple_of(2) { Approvals::Allow } else { Approvals::Ask },
        environment: ground.environment.clone(),
        client_message_id: Some(key.clone()),
        ..StartTaskParams::default()
    };
    let mut reply = None;
    for _ in 0..2 {
        let again = loop {
            match way.ask::<method::StartTask>(params.clone()).await {
                Ok(reply) => break reply,
                // The daemon is shutting down; the next one gets the request.
                Err(e) if e.daemon().is_some_and(|e| e.kind() == ErrorKind::ShuttingDown) => {
                    way.client = None;
                }
                Err(e) => panic!("the daemon does not start {key}: {e}"),
            }
        };
        shared.acknowledged(Ack::Started { key: key.clone(), reply: again });
        assert_eq!(*reply.get_or_insert(again), again, "{key} was started twice");
    }
    reply.expect("it was started")
}
