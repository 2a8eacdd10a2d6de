use super::support::*;
use abide_protocol::{
    Seq,
    conversation::LatestTask,
    notification::ConversationUpdate,
    record::Record,
    task::{AgentTask, EndReason, Incomplete, Status},
};
use abide_store::{Append, AppendError, ClientMessageUse, Committed, Feed};

#[tokio::test]
async fn an_append_is_published_and_read_back_unchanged() {
    let home = Home::new();
    let store = home.open();
    let id = conversation(1);
    let bodies =
        [created("one"), task_started(client_message("m")), user("hello"), reply("hi", &[(1, "shell", "{")])];
    let records =
        bodies.into_iter().zip(1..).map(|(body, n)| record(n, (n > 1).then_some(1), body)).collect();
    let tasks = vec![projection(task(id, 1, Status::Thinking, Vec::new()))];
    let committed = store.append(Append { tasks, ..append(id, records) }).await.unwrap();

    let records: Vec<Record> = committed.records.iter().map(|record| (**record).clone()).collect();
    assert_eq!(records.iter().map(|record| record.seq.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(records, store.conversation_records(id).await.unwrap());
    assert_eq!(records[2..], store.records_after(Feed::Tree(id), Seq(2), 10).await.unwrap());
    assert_eq!(records[2..3], store.records_after(Feed::All, Seq(2), 1).await.unwrap());
    assert_eq!(store.records_after(Feed::All, Seq(u64::MAX), 10).await.unwrap(), []);

    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((conversation.unread, conversation.updated_at.0), (1, 4));
    assert_eq!(conversation.task.unwrap().status, Status::Thinking);
    assert_eq!(
        *committed,
        Committed {
            conversation_id: id,
            records: committed.records.clone(),
            tasks: vec![task(id, 1, Status::Thinking, Vec::new()).brief().into()],
            inbox: None,
            conversation: Some(ConversationUpdate { conversation_id: id, conversation: Some(conversation) }),
        }
    );
    assert_eq!(home.told(), [(*committed).clone()]);
    assert_eq!(store.task(task_id(1)).await.unwrap(), Some(task(id, 1, Status::Thinking, Vec::new())));
    assert_eq!(store.conversation_of(task_id(1)).await.unwrap(), Some(id));
}

#[tokio::test]
async fn a_conversation_shows_how_its_newest_task_ended() {
    let home = Home::new();
    let store = home.open();
    let id = conversation(1);
    let ended = AgentTask {
        end_reason: Some(EndReason::StepLimit),
        incomplete: Some(Incomplete::Length),
        ..task(id, 1, Status::Completed, Vec::new())
    };
    let records =
        vec![record(1, None, created("one")), record(2, Some(1), task_started(client_message("m")))];
    let tasks = vec![projection(ended.clone())];
    let committed = store.append(Append { tasks, ..append(id, records) }).await.unwrap();
    let told = committed.conversation.clone().and_then(|update| update.conversation);
    let read = store.conversation(id).await.unwrap();
    for conversation in [told, read] {
        assert_eq!(conversation.unwrap().task, Some(LatestTask::from(&ended)));
    }
}

#[tokio::test]
async fn an_append_that_leaves_the_conversation_unchanged_publishes_no_update_of_it() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    start(&store, id, 2, Status::Running).await;
    let append = Append {
        tasks: vec![projection(task(id, 2, Status::Running, Vec::new()))],
        ..append(id, vec![record(3, Some(2), assessed(1, "{}"))])
    };
    let committed = store.append(append).await.unwrap();
    assert_eq!((&committed.inbox, &committed.conversation), (&None, &None));
}

#[tokio::test]
async fn appends_that_conflict_with_stored_records_change_nothing() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    home.told();
    let nobody = conversation(9);
    let gone = store.append(append(nobody, vec![record(2, None, notice("x"))])).await;
    assert_eq!(gone, Err(AppendError::ConversationGone(nobody)));

    let again = append(id, vec![record(2, None, created("again"))]);
    let same_record_id = append(id, vec![record(2, None, notice("x")), record(2, None, notice("y"))]);
    let no_task = append(id, vec![record(2, None, assessed(1, "{}"))]);
    let foreign_task = Append {
        tasks: vec![projection(task(nobody, 1, Status::Running, Vec::new()))],
        ..append(id, vec![record(2, None, notice("x"))])
    };
    for bad in [again, same_record_id, no_task, foreign_task] {
        let refused = store.append(bad).await;
        assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(store.conversation_records(id).await.unwrap().len(), 1);
    assert_eq!(store.conversation(id).await.unwrap().unwrap().unread, 0);
    assert_eq!(home.told(), []);
}

#[tokio::test]
async fn a_client_message_starts_one_task() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let other = begin(&store, 2, 2).await;
    store.append(append(id, vec![record(3, Some(3), task_started(client_message("m")))])).await.unwrap();
    let again =
        store.append(append(other, vec![record(4, Some(4), task_started(client_message("m")))])).await;
    let first =
        ClientMessageUse { digest: "digest of m".to_owned(), task_id: task_id(3), conversation_id: id };
    assert_eq!(again, Err(AppendError::DuplicateClientMessage(first.clone())));
    assert_eq!(store.client_message("m").await.unwrap(), Some(first));
    assert_eq!(store.client_message("n").await.unwrap(), None);
    assert_eq!(store.conversation_records(other).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_tasks_id_and_external_id_are_used_once() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let other = begin(&store, 2, 2).await;
    let named = |n, task, external| record(n, Some(task), task_named(external));
    let tasks = vec![projection(task(id, 3, Status::Running, Vec::new()))];
    store.append(Append { tasks, ..append(id, vec![named(3, 3, Some("agent-123"))]) }).await.unwrap();
    for (conversation, task, external) in [(other, 3, None), (id, 3, None), (other, 4, Some("agent-123"))] {
        let refused = store.append(append(conversation, vec![named(4, task, external)])).await;
        assert_eq!(refused, Err(AppendError::DuplicateTaskId(task_id(3))), "{task} {external:?}");
    }
    assert_eq!(store.external_task("agent-123").await.unwrap(), Some(task_id(3)));
    assert_eq!(store.external_task("agent-12").await.unwrap(), None);
}

#[tokio::test]
async fn a_closed_store_refuses_with_closed() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    store.clone().close().await;
    assert_eq!(store.append(append(id, vec![record(2, None, notice("x"))])).await, Err(AppendError::Closed));
    assert!(matches!(store.conversation(id).await, Err(abide_store::ReadError::Closed)));
    store.close().await;
}

/// A start that was withdrawn while it waits is not stored; another task's is.
#[tokio::test]
async fn a_start_that_nobody_wants_any_more_is_refused() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let start = |n: u64| append(id, vec![record(10 + n, Some(n), task_started(None))]);
    let withdrawal = store.withdraw_start(task_id(2));
    assert_eq!(store.append(start(2)).await, Err(AppendError::Withdrawn));
    store.append(start(3)).await.unwrap();
    drop(withdrawal);
    store.append(start(2)).await.unwrap();
}
