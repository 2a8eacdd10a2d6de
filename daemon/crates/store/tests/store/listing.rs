use super::support::*;
use abide_protocol::{
    ConversationId, Seq, Timestamp,
    notification::Snapshot,
    record::*,
    task::{AgentTask, PauseReason, Status},
};
use abide_store::{Append, ConversationQuery, Feed, ReadError, Store, TaskQuery, WriteError};

#[tokio::test]
async fn conversations_are_paged_last_changed_first() {
    let home = Home::new();
    let store = home.open();
    for n in 1..=5 {
        // 2 and 3 at the same time.
        let at = if n == 3 { 2 } else { n };
        let mut first = record(n, None, created("x"));
        first.at = Timestamp(at.cast_signed());
        store.append(append(conversation(n), vec![first])).await.unwrap();
    }
    store.append(append(conversation(1), vec![record(9, None, user("changed"))])).await.unwrap();
    let archive = RecordBody::ConversationArchived(ConversationArchived { archived: true });
    store.append(append(conversation(4), vec![record(10, None, archive)])).await.unwrap();

    let mut cursor = None;
    let mut pages = Vec::new();
    loop {
        let (page, next) = store
            .conversations(ConversationQuery { cursor, limit: 2, ..ConversationQuery::default() })
            .await
            .unwrap();
        pages.push(page.iter().map(|c| c.id).collect::<Vec<_>>());
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, [[1, 5].map(conversation), [3, 2].map(conversation)]);
    let (archived, next) = store
        .conversations(ConversationQuery { archived: true, limit: 10, ..ConversationQuery::default() })
        .await
        .unwrap();
    assert_eq!((archived.len(), archived[0].id, next), (1, conversation(4), None));
    let wrong = store
        .conversations(ConversationQuery {
            cursor: Some("nonsense".to_owned()),
            limit: 2,
            ..ConversationQuery::default()
        })
        .await;
    assert!(matches!(wrong, Err(ReadError::Cursor(_))), "{wrong:?}");
}

#[tokio::test]
async fn records_change_the_conversations_row() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let update = RecordBody::ConversationUpdated(ConversationUpdated {
        title: Some("new".to_owned()),
        model: Some("a/b".to_owned()),
        muted: Some(true),
        ..ConversationUpdated::default()
    });
    store.append(append(id, vec![record(2, None, update)])).await.unwrap();
    let now = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((now.title.as_str(), now.workspace.as_str(), now.muted), ("new", "/w", true));
    store
        .append(append(
            id,
            vec![record(3, None, RecordBody::ConversationUpdated(ConversationUpdated::default()))],
        ))
        .await
        .unwrap();
    assert!(store.conversation(id).await.unwrap().unwrap().muted, "what is absent stays");
    assert_eq!(
        (now.model.as_deref(), now.created_at, now.updated_at),
        (Some("a/b"), Timestamp(1), Timestamp(1)),
        "it keeps its place in lists"
    );
}

/// Else each archived conversation would be the newest, and one that is brought back would be above all
/// others.
#[tokio::test]
async fn an_archived_conversation_keeps_its_place_in_lists() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    for (n, archived) in [(2, true), (3, false)] {
        let body = RecordBody::ConversationArchived(ConversationArchived { archived });
        let committed = store.append(append(id, vec![record(n, None, body)])).await.unwrap();
        let now = store.conversation(id).await.unwrap().unwrap();
        assert_eq!((now.archived, now.updated_at), (archived, Timestamp(1)));
        let update = committed.conversation.clone();
        assert_eq!(update.and_then(|update| update.conversation), Some(now), "clients learn of it");
    }
}

/// The overview's snapshot.
async fn overview(store: &Store) -> Snapshot {
    store.snapshot(Feed::Overview, None).await.unwrap()
}

fn ids(snapshot: &Snapshot) -> Vec<ConversationId> {
    snapshot.conversations.iter().map(|conversation| conversation.id).collect()
}

/// A task that works or waits is shown in the list, whatever its conversation is.
#[tokio::test]
async fn the_overview_has_an_archived_conversation_until_its_task_has_ended() {
    let home = Home::new();
    let store = home.open();
    for n in 1..=3 {
        let id = begin(&store, n, n).await;
        start(&store, id, 10 + n, Status::WaitingUser).await;
    }
    let [kept, waits, ended] = [1, 2, 3].map(conversation);
    let done = vec![projection(task(ended, 13, Status::Completed, Vec::new()))];
    store
        .append(Append { tasks: done, ..append(ended, vec![record(20, Some(13), notice("x"))]) })
        .await
        .unwrap();
    for (n, id) in [(21, waits), (22, ended)] {
        let body = RecordBody::ConversationArchived(ConversationArchived { archived: true });
        store.append(append(id, vec![record(n, None, body)])).await.unwrap();
    }
    assert_eq!(ids(&overview(&store).await), [kept, waits]);
}

#[tokio::test]
async fn the_overview_has_each_unfinished_task_s_conversation_however_old_it_is() {
    let home = Home::new();
    let store = home.open();
    let oldest = begin(&store, 1, 1).await;
    start(&store, oldest, 2, Status::WaitingUser).await;
    for n in 3..=1003 {
        begin(&store, n, n).await;
    }
    let overview = overview(&store).await;
    assert_eq!(overview.conversations.len(), 1001, "a page, and the one at work");
    assert!(ids(&overview).contains(&oldest));
    assert_eq!(ids(&overview).iter().filter(|id| **id == oldest).count(), 1);
}

#[tokio::test]
async fn tasks_are_paged_newest_first() {
    let home = Home::new();
    let store = home.open();
    let a = begin(&store, 1, 1).await;
    let b = begin(&store, 2, 2).await;
    for n in 3..=9 {
        let status = if n % 3 == 0 { Status::Completed } else { Status::Paused };
        start(&store, if n < 6 { a } else { b }, n, status).await;
    }
    let list = async |query: TaskQuery| {
        let (page, next) = store.tasks(query).await.unwrap();
        assert!(page.iter().all(|task| task.original_prompt.is_empty() && task.scratchpad.is_empty()));
        (page.iter().map(|task| task.started_at.0).collect::<Vec<_>>(), next)
    };
    assert_eq!(
        list(TaskQuery { with_ended: true, limit: 100, ..TaskQuery::default() }).await,
        (vec![9, 8, 7, 6, 5, 4, 3], None)
    );
    assert_eq!(list(TaskQuery { limit: 4, ..TaskQuery::default() }).await, (vec![8, 7, 5, 4], None));
    assert_eq!(
        list(TaskQuery { conversation: Some(a), with_ended: true, limit: 100, ..TaskQuery::default() }).await,
        (vec![5, 4, 3], None)
    );
    assert_eq!(
        list(TaskQuery { conversation: Some(b), limit: 100, ..TaskQuery::default() }).await,
        (vec![8, 7], None)
    );
    let (first, next) = list(TaskQuery { limit: 3, ..TaskQuery::default() }).await;
    assert_eq!(first, [8, 7, 5]);
    assert_eq!(list(TaskQuery { cursor: next, limit: 3, ..TaskQuery::default() }).await, (vec![4], None));
    assert_eq!(store.task(task_id(99)).await.unwrap(), None);

    assert_eq!(store.counts().await.unwrap().tasks.paused, 4);
}

#[tokio::test]
async fn a_task_with_sub_tasks_waits_for_a_person_if_none_of_them_is_at_work() {
    let home = Home::new();
    let store = home.open();
    for (n, below, counts) in
        [(1, Status::Thinking, (1, 0)), (2, Status::WaitingApproval, (1, 1)), (3, Status::Paused, (1, 2))]
    {
        let id = begin(&store, n, n * 10).await;
        let root = n * 10 + 1;
        start(&store, id, root, Status::WaitingChildren).await;
        let child = AgentTask { parent_id: Some(task_id(root)), ..task(id, root + 1, below, Vec::new()) };
        let records = vec![record(root + 1, Some(root + 1), started_beneath(root))];
        store.append(Append { tasks: vec![projection(child)], ..append(id, records) }).await.unwrap();
        let tasks = store.counts().await.unwrap().tasks;
        assert_eq!((tasks.running, tasks.waiting), counts, "{below:?}");
    }
}

/// A child task is neither listed as a task nor shown in the timeline.
#[tokio::test]
async fn lists_and_timelines_leave_out_sub_tasks() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let root = projection(task(id, 2, Status::Running, Vec::new()));
    let child = AgentTask { parent_id: Some(task_id(2)), ..task(id, 3, Status::Running, Vec::new()) };
    let said = |n, of, words| record(n, Some(of), notice(words));
    let tasks = vec![root, projection(child)];
    let records = vec![
        record(2, Some(2), task_started(None)),
        said(4, 2, "of the root"),
        record(5, Some(3), started_beneath(2)),
        said(6, 3, "of the child"),
        record(7, Some(3), assessed(1, "{}")),
        said(8, 2, "of the root"),
        said(9, 3, "of the child"),
    ];
    store.append(Append { tasks: tasks.clone(), ..append(id, records) }).await.unwrap();

    let now = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((now.unread, now.updated_at), (2, Timestamp(8)));
    assert_eq!(now.task.map(|task| task.id), Some(task_id(2)));
    let page = store.messages(id, None, 100).await.unwrap();
    let words: Vec<_> = page.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!((words, page.calls.len(), page.events.len()), (vec!["of the root"; 2], 0, 1));
    let of_child = store.messages(Feed::Task(id, task_id(3)), None, 100).await.unwrap();
    let words: Vec<_> = of_child.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!((words, of_child.calls.len(), of_child.events.len()), (vec!["of the child"; 2], 1, 1));
    for (feed, tasks, messages, records) in [
        (Feed::Overview, &[2][..], 0, &[][..]),
        (Feed::All, &[3, 2], 0, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (Feed::Roots(id), &[2, 3], 2, &[1, 2, 3, 7]),
        (Feed::Tree(id), &[2, 3], 4, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (Feed::Task(id, task_id(2)), &[2, 3], 2, &[2, 3, 7]),
        (Feed::Task(id, task_id(3)), &[2, 3], 2, &[4, 5, 6, 8]),
    ] {
        let snapshot = store.snapshot(feed, None).await.unwrap();
        let ids: Vec<_> = snapshot.tasks.iter().map(|task| task.id).collect();
        assert_eq!(ids, tasks.iter().map(|n| task_id(*n)).collect::<Vec<_>>(), "{feed:?}");
        assert_eq!(snapshot.messages.len(), messages, "{feed:?}");
        let after = store.records_after(feed, Seq(0), 100).await.unwrap();
        assert_eq!(after.iter().map(|record| record.seq.0).collect::<Vec<_>>(), records, "{feed:?}");
        // A subscription decides in memory what the queries decide in SQL.
        let is_shown = |record: &&Record| {
            feed.has(record.conversation_id, record.task_id, record.task_id == Some(task_id(3)))
        };
        let all = store.records_after(Feed::All, Seq(0), 100).await.unwrap();
        assert_eq!(all.iter().filter(is_shown).map(|record| record.seq.0).collect::<Vec<_>>(), records);
        let elsewhere = feed.has(conversation(9), None, false);
        assert_eq!(elsewhere, feed == Feed::All, "{feed:?}");
    }
    for with_ended in [true, false] {
        let query = TaskQuery { with_ended, limit: 10, ..TaskQuery::default() };
        assert_eq!(store.tasks(query).await.unwrap().0.len(), 1);
    }
    assert_eq!(store.counts().await.unwrap().tasks.running, 1);
    assert_eq!(store.task_calls(task_id(3)).await.unwrap().calls.len(), 1, "it has them itself");

    // Read marks and unread counts concern the shown messages only.
    let seq = page.messages[0].seq;
    assert_eq!(store.mark_read(id, seq).await.unwrap().unread, 1);
    assert_eq!(store.replace_projections(id, tasks).await, Ok(false));
    assert_eq!(store.mark_read(id, Seq(99)).await.unwrap().unread, 0);
}

#[tokio::test]
async fn wake_times_are_listed_soonest_first_and_cleared() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let wake = async |n, task_n, at: Option<i64>| {
        let mut projection = projection(task(id, task_n, Status::Running, Vec::new()));
        projection.wake_at = at.map(Timestamp);
        let append = Append { tasks: vec![projection], ..append(id, vec![record(n, None, notice("x"))]) };
        store.append(append).await.unwrap();
    };
    wake(2, 1, Some(50)).await;
    wake(3, 2, Some(40)).await;
    assert_eq!(store.wakes().await.unwrap(), [(Timestamp(40), id)], "the next one of each conversation");
    wake(4, 2, None).await;
    assert_eq!(store.wakes().await.unwrap(), [(Timestamp(50), id)]);
}

#[tokio::test]
async fn conversations_that_need_a_daemon_are_found() {
    let home = Home::new();
    let store = home.open();
    let (a, b) = (begin(&store, 1, 1).await, begin(&store, 2, 2).await);
    start(&store, a, 3, Status::Thinking).await;
    start(&store, b, 4, Status::WaitingUser).await;
    assert_eq!(store.needing_daemon().await.unwrap(), [a]);
    let ended = vec![projection(task(a, 3, Status::Completed, Vec::new()))];
    let append = Append { tasks: ended, ..append(a, vec![record(5, Some(3), notice("x"))]) };
    store.append(append).await.unwrap();
    assert_eq!(store.needing_daemon().await.unwrap(), []);
}

#[tokio::test]
async fn messages_are_paged_with_the_calls_and_events_among_them() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let bodies = [
        user("one"),
        reply("", &[(1, "shell", "{}"), (2, "read", "{}")]),
        assessed(1, "{}"),
        assessed(2, "{}"),
        RecordBody::Paused(Paused { reason: PauseReason::User }),
        notice("two"),
        RecordBody::Nudge(Nudge::new("not shown".to_owned())),
        reply("three", &[(3, "shell", "{}")]),
        assessed(3, "{}"),
        RecordBody::Restarted(Restarted {
            without_progress: 1,
            cause: Interruption::DaemonRestarted,
            ran_until: None,
        }),
    ];
    let records = bodies.into_iter().zip(2..).map(|(body, n)| record(n, Some(1), body)).collect();
    store.append(append(id, records)).await.unwrap();
    let page = async |before: Option<u64>, limit| {
        let page = store.messages(id, before.map(Seq), limit).await.unwrap();
        (
            page.messages.into_iter().map(|message| message.text).collect::<Vec<_>>(),
            page.calls.into_iter().map(|call| (call.seq.0, call.call_id)).collect::<Vec<_>>(),
            page.events.into_iter().map(|event| event.seq.0).collect::<Vec<_>>(),
            page.before.map(|seq| seq.0),
        )
    };
    let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let early = vec![(4, call_id(1)), (5, call_id(2))];
    let all = [early.clone(), vec![(10, call_id(3))]].concat();
    assert_eq!(page(None, 100).await, (text(&["one", "two", "three"]), all, vec![6, 11], None));
    assert_eq!(page(None, 1).await, (text(&["three"]), vec![(10, call_id(3))], vec![11], Some(9)));
    assert_eq!(page(Some(9), 1).await, (text(&["two"]), vec![], vec![], Some(7)));
    assert_eq!(page(Some(7), 1).await, (text(&["one"]), early, vec![6], None));
    assert_eq!(page(Some(2), 1).await, (vec![], vec![], vec![], None));
    let after = async |after: u64, before: Option<u64>, limit| {
        let page = store.messages_after(id, Seq(after), before.map(Seq), limit).await.unwrap();
        assert_eq!(page.before, None);
        (
            page.messages.into_iter().map(|message| message.text).collect::<Vec<_>>(),
            page.calls.into_iter().map(|call| (call.seq.0, call.call_id)).collect::<Vec<_>>(),
            page.events.into_iter().map(|event| event.seq.0).collect::<Vec<_>>(),
            page.after.map(|seq| seq.0),
        )
    };
    let early = vec![(4, call_id(1)), (5, call_id(2))];
    assert_eq!(after(0, None, 100).await, page(None, 100).await, "all");
    assert_eq!(after(0, None, 1).await, (text(&["one"]), vec![], vec![], Some(3)));
    assert_eq!(after(3, None, 1).await, (text(&["two"]), early.clone(), vec![6], Some(8)));
    assert_eq!(after(8, None, 1).await, (text(&["three"]), vec![], vec![], Some(9)));
    assert_eq!(after(9, None, 1).await, (vec![], vec![(10, call_id(3))], vec![11], None));
    assert_eq!(after(3, Some(7), 1).await, (vec![], early, vec![6], None), "up to the other bound");
    assert_eq!(after(11, None, 1).await, (vec![], vec![], vec![], None));
}

#[tokio::test]
async fn a_page_ends_early_when_its_texts_are_long() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let long = "x".repeat(1024 * 1024);
    for n in 2..12 {
        store.append(append(id, vec![record(n, None, notice(&long))])).await.unwrap();
    }
    let page = store.messages(id, None, 100).await.unwrap();
    assert_eq!((page.messages.len(), page.before), (4, Some(Seq(8))));
}

#[tokio::test]
async fn read_marks_move_forward_up_to_the_last_message() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let records = (2..7).map(|n| record(n, None, if n == 4 { user("own") } else { notice("x") })).collect();
    let committed = store.append(append(id, records)).await.unwrap();
    let unread =
        |c: &abide_store::Committed| c.conversation.as_ref().unwrap().conversation.as_ref().unwrap().unread;
    assert_eq!(unread(&committed), 4);
    home.told();
    assert_eq!(store.mark_read(id, Seq(4)).await.unwrap().unread, 2);
    let told = home.told();
    assert_eq!((told.len(), unread(&told[0]), told[0].records.len()), (1, 2, 0));
    // It does not move back, and no update is published.
    assert_eq!(store.mark_read(id, Seq(2)).await.unwrap().unread, 2);
    assert_eq!(home.told(), []);
    // Not beyond the last message.
    assert_eq!(store.mark_read(id, Seq(u64::MAX)).await.unwrap().unread, 0);
    let committed = store.append(append(id, vec![record(7, None, notice("new"))])).await.unwrap();
    assert_eq!(unread(&committed), 1);
    let nobody = conversation(9);
    assert_eq!(store.mark_read(nobody, Seq(1)).await, Err(WriteError::ConversationGone(nobody)));
}
