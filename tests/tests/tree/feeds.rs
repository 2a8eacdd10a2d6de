//! What a sub-task says is in its own feed and list; its conversation's have the root's, and the state of the
//! tree.

use abide_client::protocol::{
    Seq, TaskId,
    event::EventKind,
    message::Message,
    method::{
        self,
        conversation::{ConversationParams, ListMessagesParams, MarkReadParams},
        subscription::{Scope, SubscribeParams},
        task::StartTaskReply,
    },
    notification::Notification,
    record::RecordBody,
    task::Status,
};
use abide_tests::{
    ledger,
    model_server::{Gate, Turn},
    wait,
    watcher::{Fact, Watcher},
    world::World,
};
use serde_json::{Value, json};

const OF_SUB_TASK: &str = "A word of the sub-task.";
const OF_ROOT: &str = "A word of the root.";

/// A task whose sub-task says something, once the gate is open, while its parent waits for it.
async fn begin(world: &World, gate: &Gate) -> StartTaskReply {
    let root = [
        Turn::new().call("fork", json!({ "prompt": "[k:below] Look closer." })),
        Turn::new().call("wait", json!({})),
        Turn::new().text(OF_ROOT).call("task_complete", json!({ "summary": "All of it is done." })),
    ];
    let below = [
        Turn::new().gate(gate).text("I look.").call("send_update", json!({ "message": OF_SUB_TASK })),
        Turn::done("Looked at."),
    ];
    world.model.script("below", below);
    let task = world.run("above", root).await;
    gate.reached().await;
    world.wait_status(task, Status::WaitingChildren).await;
    task
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.text.as_str()).collect()
}

/// The records that a scope has on the wire since the conversation began, up to the end of this task, with
/// the number of the others' deltas.
async fn read(world: &World, scope: Scope, last: TaskId) -> Vec<Seq> {
    let client = world.daemon.json_client().await;
    let mut notifications = client.notifications();
    let params = SubscribeParams { scope, since: Some(Seq(0)) };
    client.call::<method::Subscribe>(params).await.expect("a subscription");
    wait::within("the task's end on the wire", async {
        let mut seqs = Vec::new();
        while let Some(notification) = notifications.next().await {
            match notification {
                Notification::TaskMessage(n) => seqs.push(n.seq),
                Notification::TaskEvent(n) => {
                    seqs.push(n.seq);
                    if matches!(n.record.body, RecordBody::TaskEnded(_)) && n.record.task_id == Some(last) {
                        break;
                    }
                }
                _ => {}
            }
        }
        seqs
    })
    .await
}

#[tokio::test]
async fn the_feed_of_a_conversation_is_free_of_what_its_sub_tasks_say() {
    let world = World::start().await;
    let gate = Gate::new("the sub-task works");
    let task = begin(&world, &gate).await;
    let (conversation, above) = (task.conversation_id, task.task_id);
    let below = world.get(task).await.task.children[0];
    let id = conversation.to_string();
    let cli = world.daemon.cli();
    let mut shown = cli.start(&["watch", &id]);
    let mut lines = cli.start(&["watch", &above.to_string(), "--json", "--since", "0"]);
    let mut watcher = Watcher::open(&world.daemon, Scope::Conversation(conversation), None).await;
    let mut watcher_below = Watcher::open(&world.daemon, Scope::Task(below), None).await;
    let unread = async || {
        let params = ConversationParams { conversation_id: id.clone() };
        world.client.call::<method::GetConversation>(params).await.expect("it is there").conversation.unread
    };
    let before = unread().await;
    // Live output is not repeated for a script that subscribes after it.
    lines.lines_until(|_| true).await;
    gate.open();
    watcher_below.wait_output("I look.").await;
    let end = world.wait_end(task).await;
    assert_eq!(end.status, Status::Completed);

    // Live and from the store, each record once.
    let on_disk = |is_ours: &dyn Fn(Option<TaskId>) -> bool| {
        let lines = ledger::read(&world.daemon.home()).into_iter();
        lines
            .filter(|line| line.conversation == conversation && is_ours(line.task))
            .map(|line| line.seq)
            .collect::<Vec<_>>()
    };
    for (scope, last, ours) in [
        (Scope::Conversation(conversation), above, on_disk(&|task| task != Some(below))),
        (Scope::Tree(conversation), above, on_disk(&|_| true)),
        (Scope::Task(below), below, on_disk(&|task| task == Some(below))),
    ] {
        assert_eq!(read(&world, scope, last).await, ours, "{scope:?}");
    }
    let is_end = |fact: &Fact| matches!(fact.body(), Some(RecordBody::TaskEnded(_)));
    watcher.facts_until("the root's end", is_end).await;
    watcher_below.facts_until("the sub-task's end", is_end).await;
    watcher.assert_agrees_with(&world.daemon, |line| {
        line.conversation == conversation && line.task != Some(below)
    });
    watcher_below.assert_agrees_with(&world.daemon, |line| line.task == Some(below));

    // The list, the snapshot and the unread mark.
    let of_root = world.texts(conversation).await;
    assert!(of_root.iter().any(|text| text == OF_ROOT), "{of_root:?}");
    assert!(!of_root.iter().any(|text| text == OF_SUB_TASK || text == "I look."), "{of_root:?}");
    let params = |task: TaskId| ListMessagesParams {
        conversation_id: id.clone(),
        task_id: Some(task.short()),
        before: None,
        after: None,
        limit: None,
    };
    let page = world.client.call::<method::ListMessages>(params(below)).await.expect("its messages");
    assert_eq!(texts(&page.messages), ["[k:below] Look closer.", "I look.", OF_SUB_TASK, "Looked at."]);
    assert_eq!(page.calls.len(), 2);
    assert!(page.events.iter().any(|event| matches!(event.kind, EventKind::TaskEnded(_))));
    let snapshot = async |scope| {
        let params = SubscribeParams { scope, since: None };
        world.client.call::<method::Subscribe>(params).await.expect("a subscription").snapshot
    };
    let now = snapshot(Scope::Conversation(conversation)).await;
    assert_eq!(texts(&now.messages), of_root);
    assert_eq!(now.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), [above, below], "the tree");
    assert_eq!(snapshot(Scope::Task(below)).await.messages, page.messages);
    assert_eq!(unread().await, before + 2, "the root's word and its summary");
    let read = MarkReadParams { conversation_id: id.clone(), seq: now.seq };
    let read = world.client.call::<method::MarkRead>(read).await.expect("a mark").conversation;
    assert_eq!(read.unread, 0);

    // A person's terminal and a script.
    let shown = shown.lines_until(|line| line.contains("All of it is done.")).await.join("\n");
    assert!(shown.contains(OF_ROOT) && !shown.contains(OF_SUB_TASK), "{shown}");
    let lines = lines.lines_until(|line| line.contains("\"task_ended\"")).await;
    let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!lines.iter().any(|line| line["params"]["message"]["taskId"] == below.to_string()));
    let updates = lines.iter().filter(|line| line["method"] == "taskUpdate");
    assert!(updates.map(|line| &line["params"]["task"]["id"]).any(|id| *id == below.to_string()));
    world.model.assert_no_violations();
}
