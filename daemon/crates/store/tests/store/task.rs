//! What is read of one task and of its tree.

use super::support::*;
use abide_protocol::{
    RecordId, TaskId,
    checkpoint::{CheckpointState, Checkpointed},
    inbox::{InboxItem, Pending, PendingId},
    method::{subscription::Scope, task::FileChange},
    record::{
        By, CallAssessed, CallFinished, EditHashes, Intervened, Intervener, InterventionKind, RecordBody,
        TaskStarted, Via,
    },
    task::{AgentTask, Status},
    transcript::ToolResult,
};
use abide_store::{Append, Feed, PendingRef, TreeOf};

/// The assessment of a call that writes this file.
fn writes(n: u64, path: &str) -> RecordBody {
    let RecordBody::CallAssessed(call) = assessed(n, "{}") else { unreachable!("it is assessed") };
    let edit = EditHashes { path: path.to_owned(), before: None, after: "hash".to_owned(), bytes: 3 };
    RecordBody::CallAssessed(CallAssessed { edit: Some(edit), ..call })
}

fn failed(n: u64) -> RecordBody {
    let RecordBody::CallFinished(call) = finished(n, 1) else { unreachable!("it is finished") };
    RecordBody::CallFinished(CallFinished { result: ToolResult::failure("no room"), ..call })
}

fn naming(files: &[&str]) -> RecordBody {
    let RecordBody::TaskStarted(head) = task_started(None) else { unreachable!("it is started") };
    let files = files.iter().map(|path| (*path).to_owned()).collect();
    RecordBody::TaskStarted(Box::new(TaskStarted { files, ..*head }))
}

#[tokio::test]
async fn the_files_of_a_task_are_those_named_and_those_written() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    let checkpointed = Checkpointed { number: 0, step: 1, state: CheckpointState::Unchanged };
    let bodies = [
        naming(&["named.txt"]),
        writes(1, "second.txt"),
        writes(2, "first.txt"),
        writes(3, "failed.txt"),
        writes(4, "running.txt"),
        assessed(5, "{}"),
        finished(2, 1),
        finished(1, 1),
        failed(3),
        finished(5, 1),
        RecordBody::Checkpointed(checkpointed),
    ];
    let records = (1..).zip(bodies).map(|(n, body)| record(n, Some(1), body)).collect();
    let tasks = vec![projection(task(id, 1, Status::Running, Vec::new()))];
    store.append(Append { tasks, ..append(id, records) }).await.unwrap();

    let files = store.task_files(id, task_id(1)).await.unwrap();
    let seen: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.change, file.call_id)).collect();
    let expected = [
        ("named.txt", FileChange::Named, None),
        ("first.txt", FileChange::Created, Some(call_id(2))),
        ("second.txt", FileChange::Created, Some(call_id(1))),
    ];
    assert_eq!(seen, expected, "in the order in which they were written");
    assert_eq!(store.task_files(id, task_id(2)).await.unwrap(), []);

    let of_files = store.file_records(id).await.unwrap();
    assert_eq!(of_files.len(), 1);
    assert!(matches!(of_files[0].body, RecordBody::Checkpointed(_)));
    let head = store.task_head(id, task_id(1)).await.unwrap().unwrap();
    assert_eq!(head.files, ["named.txt"]);
    assert_eq!(store.task_head(id, task_id(2)).await.unwrap(), None);
    assert_eq!(store.feed(Scope::Task(task_id(1))).await.unwrap(), Some(Feed::Task(id, task_id(1))));
    assert_eq!(store.feed(Scope::Task(task_id(2))).await.unwrap(), None);
    assert_eq!(store.feed(Scope::Tree(id)).await.unwrap(), Some(Feed::Tree(id)));
}

/// A root task and one beneath it, with a question of the latter.
async fn tree(store: &abide_store::Store) -> (abide_protocol::ConversationId, AgentTask) {
    let id = begin(store, 1, 100).await;
    start(store, id, 1, Status::Running).await;
    let below = AgentTask {
        parent_id: Some(task_id(1)),
        depth: 1,
        title: "A half.".to_owned(),
        ..task(id, 2, Status::WaitingUser, vec![Pending::Question(question(7, None))])
    };
    (id, below)
}

#[tokio::test]
async fn an_item_of_a_sub_task_says_where_it_belongs() {
    let home = Home::new();
    let store = home.open();
    let (id, below) = tree(&store).await;
    let records = vec![record(2, Some(2), started_beneath(1))];
    let tasks = vec![projection(below)];
    let committed = store.append(Append { tasks, ..append(id, records) }).await.unwrap();
    let item = InboxItem {
        task_id: task_id(2),
        conversation_id: id,
        conversation_title: "title 1".to_owned(),
        pending: Pending::Question(question(7, None)),
        root_id: Some(task_id(1)),
        title: "A half.".to_owned(),
        depth: 1,
    };
    assert_eq!(committed.inbox.as_ref().unwrap().added, std::slice::from_ref(&item));
    assert_eq!(store.inbox(None).await.unwrap(), [item]);

    let found = |open| PendingRef {
        id: PendingId::Question(question_id(7)),
        task_id: task_id(2),
        conversation_id: id,
        open,
    };
    assert_eq!(store.pending_of(task_id(2)).await.unwrap(), [found(true)]);
    assert_eq!(store.pending_of(task_id(1)).await.unwrap(), []);
    let records = (3..).zip([answered(7), answered(8)]).map(|(n, body)| record(n, Some(2), body)).collect();
    store.append(append(id, records)).await.unwrap();
    let newest = store.task_answers(id, task_id(2), 1).await.unwrap();
    assert_eq!(newest.len(), 1);
    let both = store.task_answers(id, task_id(2), 9).await.unwrap();
    assert!(both.len() == 2 && both[0].seq < both[1].seq && both[1] == newest[0], "oldest first");
    assert_eq!(store.task_answers(id, task_id(1), 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_tree_has_the_newest_words_that_people_said_to_each_task() {
    let home = Home::new();
    let store = home.open();
    let (id, below) = tree(&store).await;
    let person = || Intervener::Person(By { via: Via::Socket, name: "test".to_owned() });
    let said = |by, kind, comment: &str, content: Option<&str>| {
        let (comment, content) = (comment.to_owned(), content.map(str::to_owned));
        RecordBody::Intervened(Intervened { by, kind, comment, content, withdraws: None })
    };
    let bodies = [
        said(person(), InterventionKind::Comment, "Old.", None),
        said(person(), InterventionKind::Comment, "In French.", None),
        said(person(), InterventionKind::Modify, "", Some("Do that instead.")),
        said(Intervener::Task(task_id(2)), InterventionKind::Comment, "I am a task.", None),
    ];
    let mut records = vec![record(2, Some(2), started_beneath(1))];
    records.extend((3..).zip(bodies).map(|(n, body)| record(n, Some(1), body)));
    store.append(Append { tasks: vec![projection(below.clone())], ..append(id, records) }).await.unwrap();
    start(&store, id, 9, Status::Completed).await;

    let agents = store.tree(TreeOf::Conversation(id), false).await.unwrap();
    let seen: Vec<(TaskId, &str, u32)> =
        agents.iter().map(|agent| (agent.task.id, agent.title.as_str(), agent.depth)).collect();
    assert_eq!(seen, [(task_id(2), "A half.", 1), (task_id(1), "title 1", 0)], "newest first");
    let words = |of: usize| (agents[of].user_comment.as_deref(), agents[of].user_content.as_deref());
    assert_eq!((words(0), words(1)), ((None, None), (Some("In French."), Some("Do that instead."))));
    for (of, with_ended, count) in [
        (TreeOf::Conversation(id), true, 3),
        (TreeOf::Everything, false, 2),
        (TreeOf::Task(task_id(1)), true, 2),
        (TreeOf::Task(task_id(2)), true, 1),
        (TreeOf::Conversation(conversation(9)), true, 0),
    ] {
        assert_eq!(store.tree(of, with_ended).await.unwrap().len(), count, "{of:?}");
    }

    let ended = AgentTask { status: Status::Completed, ..below };
    let tasks = vec![projection(ended), projection(task(id, 1, Status::Completed, Vec::new()))];
    store.append(Append { tasks, ..append(id, vec![record(20, Some(2), answered(7))]) }).await.unwrap();
    for (of, count) in [(TreeOf::Task(task_id(1)), 2), (TreeOf::Conversation(id), 0)] {
        assert_eq!(store.tree(of, false).await.unwrap().len(), count, "{of:?} after their end");
    }
}

#[tokio::test]
async fn a_tree_with_more_tasks_than_are_read_has_its_root() {
    let home = Home::new();
    let store = home.open();
    let (id, below) = tree(&store).await;
    let tasks = (2..1002).map(|n| AgentTask { id: task_id(n), ..below.clone() }).map(projection).collect();
    let records = vec![record(2, Some(2), started_beneath(1))];
    store.append(Append { tasks, ..append(id, records) }).await.unwrap();
    let agents = store.tree(TreeOf::Task(task_id(1)), true).await.unwrap();
    assert_eq!(agents.len(), 1000);
    assert!(agents.iter().any(|agent| agent.task.id == task_id(1)));
}

/// An append may change only what people have to answer, or only a task's status: lists and the inbox show it
/// all the same.
#[tokio::test]
async fn every_change_that_people_see_is_published() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::Running).await;
    let requested = |n| {
        let item = RecordId(uuid(9, n));
        let body = abide_protocol::record::ModelRequested { item, step: 1, attempt: 1, phase: None };
        record(n, Some(1), RecordBody::ModelRequested(body))
    };
    let change = async |n, status, pending, scratchpad: &str| {
        let task = AgentTask { scratchpad: vec![scratchpad.to_owned()], ..task(id, 1, status, pending) };
        let append = Append { tasks: vec![projection(task)], ..append(id, vec![requested(n)]) };
        let committed = store.append(append).await.unwrap();
        (committed.inbox.is_some(), committed.conversation.is_some())
    };
    assert_eq!(change(2, Status::Running, Vec::new(), "one").await, (false, false), "nothing");
    let pending = vec![Pending::Question(question(7, None))];
    assert_eq!(change(3, Status::Running, pending.clone(), "one").await, (true, false), "the inbox");
    assert_eq!(change(4, Status::Thinking, pending, "two").await, (false, true), "the status");
    let stored = store.task(task_id(1)).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.scratchpad), (Status::Thinking, vec!["two".to_owned()]));
}
