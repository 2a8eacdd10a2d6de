use super::support::*;
use abide_protocol::{
    inbox::{InboxItem, Pending, PendingId},
    notification::InboxUpdate,
    record::RecordBody,
    task::Status,
};
use abide_store::{Addressee, Append, Lookup, PendingRef};

#[tokio::test]
async fn items_open_and_close_as_projections_list_them() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let other = begin(&store, 2, 2).await;
    start(&store, id, 3, Status::Running).await;
    start(&store, other, 4, Status::Running).await;

    let item = |conversation, title: &str, task, pending| InboxItem {
        task_id: task_id(task),
        conversation_id: conversation,
        conversation_title: title.to_owned(),
        pending,
        root_id: None,
        title: String::new(),
        depth: 0,
    };
    let asked = Pending::Question(question(20, None));
    let wanted = Pending::Approval(approval(10, 1));
    let committed = store
        .append(Append {
            tasks: vec![projection(task(
                id,
                3,
                Status::WaitingApproval,
                vec![asked.clone(), wanted.clone()],
            ))],
            ..append(
                id,
                vec![
                    record(5, Some(3), RecordBody::QuestionAsked(question(20, None))),
                    record(6, Some(3), RecordBody::ApprovalRequested(approval(10, 1))),
                ],
            )
        })
        .await
        .unwrap();
    let added = vec![item(id, "title 1", 3, asked.clone()), item(id, "title 1", 3, wanted.clone())];
    assert_eq!(committed.inbox, Some(InboxUpdate { added: added.clone(), removed: Vec::new(), count: 2 }));

    let more = Pending::Question(question(15, None));
    let committed = store
        .append(Append {
            tasks: vec![projection(task(other, 4, Status::WaitingUser, vec![more.clone()]))],
            ..append(other, vec![record(7, Some(4), RecordBody::QuestionAsked(question(15, None)))])
        })
        .await
        .unwrap();
    let more = item(other, "title 2", 4, more);
    assert_eq!(
        committed.inbox,
        Some(InboxUpdate { added: vec![more.clone()], removed: Vec::new(), count: 3 })
    );
    assert_eq!(store.counts().await.unwrap().inbox, 3);
    // Oldest first: the approval's time is 6.
    assert_eq!(store.inbox(Some(task_id(3))).await.unwrap(), added);
    assert_eq!(store.inbox(None).await.unwrap(), [&added[..], std::slice::from_ref(&more)].concat());

    // The same projection again publishes no update.
    let committed = store
        .append(Append {
            tasks: vec![projection(task(id, 3, Status::WaitingApproval, vec![asked, wanted.clone()]))],
            ..append(id, vec![record(8, Some(3), notice("still waiting"))])
        })
        .await
        .unwrap();
    assert_eq!(committed.inbox, None);

    let committed = store
        .append(Append {
            tasks: vec![projection(task(id, 3, Status::WaitingApproval, vec![wanted]))],
            ..append(id, vec![record(9, Some(3), answered(20))])
        })
        .await
        .unwrap();
    let question = PendingId::Question(question_id(20));
    assert_eq!(committed.inbox, Some(InboxUpdate { added: Vec::new(), removed: vec![question], count: 2 }));
    assert_eq!(store.inbox(None).await.unwrap(), [added[1].clone(), more]);

    // A late answer still finds the item's task and conversation.
    let found = store.find_addressee(&question_id(20).to_string()).await.unwrap();
    let item = PendingRef { id: question, task_id: task_id(3), conversation_id: id, open: false };
    assert_eq!(found, Lookup::One(Addressee::Item(item)));
}

#[tokio::test]
async fn the_count_survives_a_refused_append_and_a_restart() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    start(&store, id, 2, Status::Running).await;
    let asking = |n, records| Append {
        tasks: vec![projection(task(id, 2, Status::WaitingUser, vec![Pending::Question(question(n, None))]))],
        ..append(id, records)
    };
    let mut refused = asking(1, vec![record(3, None, notice("x"))]);
    refused.tasks.push(projection(task(conversation(9), 4, Status::Running, Vec::new())));
    store.append(refused).await.unwrap_err();
    let committed = store.append(asking(1, vec![record(3, None, notice("x"))])).await.unwrap();
    assert_eq!(committed.inbox.as_ref().unwrap().count, 1);
    store.close().await;
    let store = home.open();
    let committed = store.append(asking(2, vec![record(4, None, notice("y"))])).await.unwrap();
    let inbox = committed.inbox.as_ref().unwrap();
    assert_eq!((inbox.added.len(), inbox.removed.len(), inbox.count), (1, 1, 1));
}
