use super::support::*;
use abide_protocol::{
    ConversationId, Seq,
    inbox::Pending,
    record::{PartialReply, RecordBody, RuleRemembered, Update},
    task::Status,
};
use abide_store::{Append, Store, WriteError};
use rusqlite::{Connection, OpenFlags, types::Value};
use std::path::Path;

/// All tables but the records, in readable form.
fn projections(path: &Path) -> Vec<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows = Vec::new();
    for table in [
        "conversations",
        "calls",
        "tasks",
        "task_texts",
        "inbox",
        "rules",
        "client_messages",
        "external_ids",
        "read_marks",
    ] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = statement.column_count();
        let values = statement
            .query_map([], |row| (0..columns).map(|i| row.get(i)).collect::<Result<Vec<Value>, _>>())
            .unwrap();
        let before = rows.len();
        rows.extend(values.map(|values| format!("{table} {:?}", values.unwrap())));
        assert!(rows.len() > before, "the story leaves {table} empty");
    }
    rows
}

/// A conversation that changes every projection.
pub(crate) async fn story(store: &Store) -> ConversationId {
    let id = begin(store, 1, 1).await;
    let waiting = vec![Pending::Question(question(2, None)), Pending::Approval(approval(2, 3))];
    let steps = [
        (task_started(client_message("m")), Status::Thinking, vec![]),
        (user("go"), Status::Thinking, vec![]),
        (
            reply("yes", &[(1, "shell", "{}"), (2, "ask_user", "{}"), (3, "shell", "{}")]),
            Status::Running,
            vec![],
        ),
        (assessed(1, "{}"), Status::Running, vec![]),
        (
            RecordBody::ApprovalRequested(approval(1, 1)),
            Status::WaitingApproval,
            vec![Pending::Approval(approval(1, 1))],
        ),
        (
            RecordBody::RuleRemembered(RuleRemembered { rule: rule("{}"), allow: true, text: None }),
            Status::Running,
            vec![],
        ),
        (started(1, 1), Status::ToolExecuting, vec![]),
        (finished(1, 1), Status::Running, vec![]),
        (
            RecordBody::QuestionAsked(question(1, Some(2))),
            Status::WaitingUser,
            vec![Pending::Question(question(1, Some(2)))],
        ),
        (answered(1), Status::Running, vec![]),
        (RecordBody::Update(Update { call_id: call_id(2), text: "so".to_owned() }), Status::Running, vec![]),
        (RecordBody::PartialReply(PartialReply { text: "cut".to_owned() }), Status::Running, vec![]),
        (RecordBody::ApprovalRequested(approval(2, 3)), Status::WaitingApproval, vec![waiting[1].clone()]),
        (RecordBody::QuestionAsked(question(2, None)), Status::WaitingApproval, waiting),
    ];
    for (n, (body, status, pending)) in (2..).zip(steps) {
        let tasks = vec![projection(task(id, 2, status, pending))];
        store.append(Append { tasks, ..append(id, vec![record(n, Some(2), body)]) }).await.unwrap();
    }
    store.mark_read(id, Seq(12)).await.unwrap();
    id
}

#[tokio::test]
async fn a_rebuild_gives_the_same_projections() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let named = task(id, 3, Status::Completed, vec![]);
    let append_named = Append {
        tasks: vec![projection(named.clone())],
        ..append(id, vec![record(80, Some(3), task_named(Some("agent-123")))])
    };
    store.append(append_named).await.unwrap();
    // The last record that was read is a message of the agent.
    store.mark_read(id, Seq(13)).await.unwrap();
    let inbox = store.inbox(None).await.unwrap();
    let before = projections(&home.path());
    let whole = store.task(task_id(2)).await.unwrap().unwrap();

    assert_eq!(store.recorded_conversations().await.unwrap(), [id]);
    home.told();
    assert_eq!(
        store.replace_projections(id, vec![projection(whole.clone()), projection(named.clone())]).await,
        Ok(false)
    );
    assert_eq!(store.replace_rules().await, Ok(false));
    assert_eq!(projections(&home.path()), before);
    assert_eq!(home.told(), []);
    assert_eq!(store.inbox(None).await.unwrap(), inbox);

    let change = "UPDATE conversations SET title = 'changed'; DELETE FROM calls; UPDATE rules SET allow = 0;";
    Connection::open(home.path()).unwrap().execute_batch(change).unwrap();
    assert_eq!(
        store.replace_projections(id, vec![projection(whole.clone()), projection(named.clone())]).await,
        Ok(true)
    );
    assert_eq!(store.replace_rules().await, Ok(true));
    assert_eq!(projections(&home.path()), before);
    store.close().await;

    // What is asked of remembered decisions, too, if they were read before the rebuild.
    Connection::open(home.path()).unwrap().execute("UPDATE rules SET allow = 0", []).unwrap();
    let store = home.open();
    assert_eq!(store.rule("shell", "{}", "/w"), Some(false));
    assert_eq!(store.replace_rules().await, Ok(true));
    assert_eq!(store.rule("shell", "{}", "/w"), Some(true));

    // The count of open items is still right.
    let done = Append {
        tasks: vec![projection(task(id, 2, Status::Completed, vec![]))],
        ..append(id, vec![record(90, Some(2), ended())])
    };
    assert_eq!(store.append(done).await.unwrap().inbox.as_ref().unwrap().count, 0);

    // A rebuild that fails changes nothing.
    let before = projections(&home.path());
    let foreign = projection(task(conversation(9), 2, Status::Running, vec![]));
    let refused = store.replace_projections(id, vec![foreign]).await;
    assert!(matches!(refused, Err(WriteError::Invalid { .. })), "{refused:?}");
    assert_eq!(projections(&home.path()), before);
    let gone = store.replace_projections(conversation(9), vec![]).await;
    assert_eq!(gone, Ok(false));
}
