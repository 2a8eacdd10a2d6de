use super::support::*;
use abide_protocol::{
    RecordId, Seq, Timestamp,
    inbox::{Pending, PendingId},
    notification::{ConversationUpdate, InboxUpdate},
    record::{ConversationDeleted, Record, RecordBody, RuleRemembered},
    task::Status,
};
use abide_store::{
    Append, AppendError, Committed, ConversationQuery, HistorySnapshot, Lookup, SearchQuery, Store,
    WriteError,
};
use std::{path::Path, sync::Arc, time::Duration};

const SECRET: &str = "the-colour-of-the-cat";

pub(crate) fn files_that_hold(folder: &Path, needle: &str) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
            files.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    files
}

/// A conversation with the secret word in every kind of record.
async fn talkative(store: &Store) -> Append {
    let id = conversation(1);
    let mut asked = question(7, None);
    asked.text = SECRET.to_owned();
    let mut told = task(id, 2, Status::WaitingUser, vec![Pending::Question(asked.clone())]);
    told.original_prompt = SECRET.repeat(2000);
    told.scratchpad = vec![SECRET.to_owned()];
    let append = Append {
        tasks: vec![projection(told)],
        ..append(
            id,
            vec![
                record(1, None, created(SECRET)),
                record(2, Some(2), task_started(client_message(SECRET))),
                record(3, None, user(&SECRET.repeat(1000))),
                record(4, Some(2), RecordBody::QuestionAsked(asked)),
                record(5, Some(2), assessed(1, SECRET)),
                record(
                    6,
                    Some(2),
                    RecordBody::RuleRemembered(RuleRemembered {
                        rule: rule(&format!("{{\"a\":\"{SECRET}\"}}")),
                        allow: true,
                        text: None,
                    }),
                ),
            ],
        )
    };
    store.append(append.clone()).await.unwrap();
    let body = SECRET.repeat(1000).into_bytes();
    let snapshot = HistorySnapshot { conversation_id: id, task_id: task_id(2), form: 1, body };
    // The one that is replaced goes without a trace, too.
    for _ in 0..2 {
        store.keep_history_snapshot(snapshot.clone()).await.unwrap();
    }
    for n in 10..60 {
        store.append(super::support::append(id, vec![record(n, None, notice(SECRET))])).await.unwrap();
    }
    append
}

/// With few messages, removed one by one, and with many, when the index is emptied.
#[tokio::test]
async fn the_search_index_keeps_no_word_of_a_deleted_conversation() {
    for messages in [20, 200] {
        let home = Home::new();
        let store = home.open();
        let kept = begin(&store, 1, 1).await;
        store.append(append(kept, vec![record(2, None, notice("chartreuse"))])).await.unwrap();
        let id = begin(&store, 2, 3).await;
        let records =
            (4..4 + messages).map(|n| record(n, None, notice("vermilion and chartreuse"))).collect();
        store.append(append(id, records)).await.unwrap();
        let found = store
            .search(SearchQuery { words: "vermilion", limit: 1000, ..SearchQuery::default() })
            .await
            .unwrap();
        assert_eq!(found.messages.len(), messages as usize);
        let folder = home.path().parent().unwrap().to_owned();
        assert_ne!(files_that_hold(&folder, "vermilion"), [] as [String; 0]);

        store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
        assert_eq!(files_that_hold(&folder, "vermilion"), [] as [String; 0]);
        assert_eq!(
            store
                .search(SearchQuery { words: "chartreuse", limit: 9, ..SearchQuery::default() })
                .await
                .unwrap()
                .messages
                .len(),
            1
        );
    }
}

#[tokio::test]
async fn a_conversation_with_a_damaged_record_can_be_deleted_and_is_no_longer_found() {
    let home = Home::new();
    let store = home.open();
    let kept = begin(&store, 1, 1).await;
    store.append(append(kept, vec![record(2, None, notice("chartreuse"))])).await.unwrap();
    let id = begin(&store, 2, 3).await;
    let words = ["vermilion", "mauve"];
    let records = (4..).zip(words).map(|(n, word)| record(n, None, notice(word))).collect();
    store.append(append(id, records)).await.unwrap();
    assert_eq!(
        store
            .search(SearchQuery { words: "vermilion", limit: 9, ..SearchQuery::default() })
            .await
            .unwrap()
            .messages
            .len(),
        1
    );
    let damage = "UPDATE records SET body = replace(body, 'vermilion', 'vermillon')";
    rusqlite::Connection::open(home.path()).unwrap().execute(damage, []).unwrap();
    assert!(store.conversation_records(id).await.is_err());

    store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    let folder = home.path().parent().unwrap().to_owned();
    for word in words.into_iter().chain(["vermillon"]) {
        assert_eq!(files_that_hold(&folder, word), [] as [String; 0]);
        assert_eq!(
            store
                .search(SearchQuery { words: word, limit: 9, ..SearchQuery::default() })
                .await
                .unwrap()
                .messages,
            []
        );
    }
    assert_eq!(
        store
            .search(SearchQuery { words: "chartreuse", limit: 9, ..SearchQuery::default() })
            .await
            .unwrap()
            .messages
            .len(),
        1
    );
}

#[tokio::test]
async fn only_a_tombstone_is_left_of_a_deleted_conversation() {
    let home = Home::new();
    let store = home.open();
    let kept = begin(&store, 5, 1000).await;
    let append = talkative(&store).await;
    let id = append.conversation_id;
    let folder = home.path().parent().unwrap().to_owned();
    assert_ne!(files_that_hold(&folder, SECRET), [] as [String; 0]);
    home.told();

    let deleted = store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await;
    assert_eq!(deleted.unwrap().records, 56);
    assert_eq!(files_that_hold(&folder, SECRET), [] as [String; 0]);

    let tombstone = Record {
        seq: Seq(59),
        id: RecordId(uuid(1, 1)),
        conversation_id: id,
        task_id: None,
        at: Timestamp(99),
        body: RecordBody::ConversationDeleted(ConversationDeleted { records: 56 }),
    };
    assert_eq!(store.conversation_records(id).await.unwrap(), std::slice::from_ref(&tombstone));
    assert_eq!(
        home.told(),
        [Committed {
            conversation_id: id,
            records: vec![Arc::new(tombstone)],
            tasks: Vec::new(),
            inbox: Some(InboxUpdate {
                added: Vec::new(),
                removed: vec![PendingId::Question(question_id(7))],
                count: 0
            }),
            conversation: Some(ConversationUpdate { conversation_id: id, conversation: None }),
        }]
    );
    assert_eq!(store.conversation(id).await.unwrap(), None);
    assert_eq!(store.task(task_id(2)).await.unwrap(), None);
    assert_eq!(store.inbox(None).await.unwrap(), []);
    assert_eq!(store.client_message(SECRET).await.unwrap(), None);
    let decision = store.rule("shell", &format!("{{\"a\":\"{SECRET}\"}}"), "/w");
    assert_eq!(decision, Some(true), "a remembered decision outlives its conversation, as a digest");
    assert_eq!(store.find_addressee(&question_id(7).to_string()).await.unwrap(), Lookup::None);
    let (left, _) =
        store.conversations(ConversationQuery { limit: 10, ..ConversationQuery::default() }).await.unwrap();
    assert_eq!(left.iter().map(|c| c.id).collect::<Vec<_>>(), [kept]);

    // It stays deleted.
    let late = store.append(super::support::append(id, vec![record(70, None, notice("late"))])).await;
    assert_eq!(late, Err(AppendError::ConversationGone(id)));
    assert!(matches!(store.append(append).await, Err(AppendError::Invalid { .. })));
    let twice = store.delete_conversation(id, Timestamp(100), RecordId(uuid(1, 2))).await;
    assert_eq!(twice, Err(WriteError::ConversationGone(id)));
}

/// A backup may read an older state for long. What was deleted meanwhile is erased after it.
#[tokio::test]
async fn deleted_text_leaves_the_log_when_its_last_reader_has_ended() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    store.append(append(id, vec![record(2, None, notice(SECRET))])).await.unwrap();
    let reader = rusqlite::Connection::open(home.path()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |reader: &rusqlite::Connection| -> i64 {
        reader.query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(&reader), 2);
    store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    let folder = home.path().parent().unwrap().to_owned();
    assert_ne!(files_that_hold(&folder, SECRET), [] as [String; 0], "the reader still needs it");
    assert_eq!(count(&reader), 2);
    reader.execute_batch("COMMIT").unwrap();
    // Nothing else is asked of the store: it tries again by itself.
    let erased = async {
        while !files_that_hold(&folder, SECRET).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), erased).await.expect("it is erased");
}
