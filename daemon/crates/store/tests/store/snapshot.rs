use super::support::*;
use abide_protocol::{
    Seq,
    inbox::Pending,
    method::conversation::ListMessagesReply,
    notification::{DaemonUpdate, Snapshot},
    task::Status,
};
use abide_store::{Append, ConversationQuery, Feed};

#[tokio::test]
async fn each_scope_gets_its_own_snapshot() {
    let home = Home::new();
    let store = home.open();
    let empty = Snapshot {
        seq: Seq(0),
        conversations: Vec::new(),
        tasks: Vec::new(),
        inbox: Vec::new(),
        messages: Vec::new(),
        calls: Vec::new(),
        events: Vec::new(),
        partials: Vec::new(),
        daemon: DaemonUpdate {
            storage_full: false,
            storage_damaged: false,
            shutting_down: false,
            update: None,
        },
    };
    assert_eq!(store.snapshot(Feed::Overview, None).await.unwrap(), empty);

    let a = begin(&store, 1, 1).await;
    let b = begin(&store, 2, 2).await;
    start(&store, a, 3, Status::Paused).await;
    start(&store, a, 4, Status::Completed).await;
    start(&store, a, 5, Status::Completed).await;
    let asked = Pending::Question(question(1, None));
    let waiting = Append {
        tasks: vec![projection(task(b, 6, Status::WaitingUser, vec![asked]))],
        ..append(b, vec![record(6, Some(6), notice("hm")), record(7, Some(6), assessed(1, "{}"))])
    };
    store.append(waiting).await.unwrap();
    let (conversations, _) =
        store.conversations(ConversationQuery { limit: 10, ..ConversationQuery::default() }).await.unwrap();
    let brief = |conversation, n, status, pending| task(conversation, n, status, pending).brief();
    let inbox = store.inbox(None).await.unwrap();
    let six = brief(b, 6, Status::WaitingUser, vec![inbox[0].pending.clone()]);
    let three = brief(a, 3, Status::Paused, Vec::new());

    let all = Snapshot {
        seq: Seq(7),
        tasks: vec![six.clone(), three.clone()],
        inbox: inbox.clone(),
        ..empty.clone()
    };
    let of = |id| conversations.iter().filter(|c| c.id == id).cloned().collect::<Vec<_>>();
    assert_eq!(store.snapshot(Feed::All, None).await.unwrap(), all);
    let overview = Snapshot { conversations: conversations.clone(), ..all };
    assert_eq!(store.snapshot(Feed::Overview, None).await.unwrap(), overview);

    let events = store.messages(a, None, 10).await.unwrap().events;
    assert_eq!(events.len(), 3);
    let of_a = Snapshot {
        seq: Seq(7),
        conversations: of(a),
        tasks: vec![brief(a, 5, Status::Completed, Vec::new()), three],
        events,
        ..empty.clone()
    };
    assert_eq!(store.snapshot(Feed::Roots(a), None).await.unwrap(), of_a);

    let ListMessagesReply { messages, calls, .. } = store.messages(b, None, 10).await.unwrap();
    assert_eq!((messages.len(), calls.len()), (1, 1));
    let of_b = Snapshot { seq: Seq(7), conversations: of(b), tasks: vec![six], inbox, ..empty.clone() };
    assert_eq!(store.snapshot(Feed::Roots(b), Some(Seq(3))).await.unwrap(), of_b);
    let whole = Snapshot { messages, calls, ..of_b };
    assert_eq!(store.snapshot(Feed::Roots(b), None).await.unwrap(), whole);

    let of_none = Snapshot { seq: Seq(7), ..empty };
    assert_eq!(store.snapshot(Feed::Roots(conversation(9)), None).await.unwrap(), of_none);
}
