//! The hidden conversation, in which remembered decisions are records.

use super::support::*;
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    inbox::Decision,
    record::{ApprovalDecided, By, RecordBody, RuleRemembered, Via},
};
use abide_store::{AppendError, ConversationQuery, Feed, Integrity, Lookup, SearchQuery, Store, WriteError};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;
use uuid::Uuid;

const ARGUMENTS: &str = r#"{"command":"make"}"#;

fn by(name: &str) -> By {
    By { via: Via::Socket, name: name.to_owned() }
}

/// A decision and what is remembered of it, in one append.
async fn decide(store: &Store, id: ConversationId, number: u64, allow: bool) {
    let decided = ApprovalDecided {
        approval_id: approval_id(number),
        call_id: call_id(number),
        decision: if allow { Decision::AllowAlways } else { Decision::RejectAlways },
        note: None,
        by: by("window"),
    };
    let records = vec![
        record(number, Some(1), RecordBody::ApprovalDecided(decided)),
        record(
            number + 1,
            Some(1),
            RecordBody::RuleRemembered(RuleRemembered { rule: rule(ARGUMENTS), allow, text: None }),
        ),
        record(number + 2, Some(1), notice("after it")),
    ];
    store.append(append(id, records)).await.unwrap();
}

async fn forget(store: &Store, number: u64) {
    let id = store.rules(None, 1).await.unwrap().rules.remove(0).id;
    let Lookup::One(id) = store.find_rule(&id).await.unwrap() else { unreachable!("one rule {id}") };
    assert!(store.forget_rule(id, by("cli"), Timestamp(50), RecordId(uuid(0xf0, number))).await.unwrap());
}

/// Seq, conversation, kind, time and body of all records whose kind begins with this.
fn rows(path: &Path, kind: &str) -> Vec<(u64, ConversationId, String, i64, Value)> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT seq, conversation, kind, at, body FROM records WHERE kind LIKE ?1 || '%' ORDER BY seq",
        )
        .unwrap();
    let rows = statement.query_map([kind], |row| {
        let (seq, body): (i64, String) = (row.get(0)?, row.get(4)?);
        let body = serde_json::from_str(&body).unwrap();
        Ok((seq.cast_unsigned(), ConversationId(row.get(1)?), row.get(2)?, row.get(3)?, body))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// The id of the hidden conversation. It is in stored records: it never changes.
const HIDDEN: ConversationId = ConversationId(Uuid::from_u128(0xab1d_e000_0000_8000_8000_0000_0000_0000));

#[tokio::test]
async fn a_decision_and_its_forgetting_are_records_of_one_conversation() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    decide(&store, id, 10, true).await;
    let digest = store.rules(None, 1).await.unwrap().rules.remove(0).id;
    let committed = home.told().pop().unwrap();
    let seqs: Vec<_> = committed.records.iter().map(|record| record.seq.0).collect();
    assert_eq!(seqs, [2, 3, 4], "the sink gets the conversation's records alone");
    forget(&store, 1).await;

    let window = json!({ "via": "socket", "name": "window" });
    let cli = json!({ "via": "socket", "name": "cli" });
    assert_eq!(
        [rows(&home.path(), "rule_added"), rows(&home.path(), "rule_removed")].concat(),
        [
            (
                5,
                HIDDEN,
                "rule_added".to_owned(),
                11,
                json!({ "rule": digest, "allow": true, "source": 3, "by": window, "text": null })
            ),
            (6, HIDDEN, "rule_removed".to_owned(), 50, json!({ "rule": digest, "by": cli })),
        ]
    );
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    let change = "UPDATE records SET body = replace(body, 'cli', 'clj')";
    Connection::open(home.path()).unwrap().execute_batch(change).unwrap();
    let Integrity::Damaged(findings) = store.check().await.unwrap() else { panic!("a changed record") };
    assert!(findings[0].contains("record 6 (rule_removed)"), "{findings:?}");
}

#[tokio::test]
async fn an_append_that_is_refused_leaves_no_hidden_record() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let remembered =
        RecordBody::RuleRemembered(RuleRemembered { rule: rule(ARGUMENTS), allow: true, text: None });
    let again = record(1, None, notice("its id is used already"));
    let refused = store.append(append(id, vec![record(2, Some(1), remembered), again])).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
    assert_eq!(rows(&home.path(), "rule_added"), []);
    assert_eq!(store.rule("shell", ARGUMENTS, "/w"), None);
}

#[tokio::test]
async fn no_read_shows_the_hidden_conversation_and_no_write_reaches_it() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    // It cannot be created either.
    let created = store.append(append(HIDDEN, vec![record(21, None, created("mine"))])).await;
    assert!(matches!(created, Err(AppendError::Invalid { .. })), "{created:?}");
    decide(&store, id, 10, true).await;

    assert_eq!(store.conversation(HIDDEN).await.unwrap(), None);
    for typed in [HIDDEN.to_string(), HIDDEN.to_string()[..8].to_owned()] {
        assert_eq!(store.find_conversation(&typed).await.unwrap(), Lookup::None);
    }
    for archived in [false, true] {
        let all = ConversationQuery { archived, limit: 10, ..ConversationQuery::default() };
        let (listed, _) = store.conversations(all).await.unwrap();
        assert!(listed.iter().all(|c| c.id == id), "{listed:?}");
    }
    assert_eq!(store.recorded_conversations().await.unwrap(), [id]);
    assert_eq!(Store::examine(&home.path()).unwrap().conversations, 1);
    let records = store.records_after(Feed::All, Seq(0), 100).await.unwrap();
    let seqs: Vec<_> = records.iter().map(|r| r.seq.0).collect();
    assert_eq!(seqs, [1, 2, 3, 4], "5 is hidden");
    assert!(records.iter().all(|record| record.conversation_id == id));
    let snapshot = store.snapshot(Feed::Roots(HIDDEN), None).await.unwrap();
    assert_eq!((snapshot.seq, snapshot.conversations, snapshot.events), (Seq(5), vec![], vec![]));
    let page = store.messages(HIDDEN, None, 10).await.unwrap();
    assert_eq!((page.messages, page.events), (vec![], vec![]));
    let words = SearchQuery { words: "rule", limit: 10, ..SearchQuery::default() };
    assert_eq!(store.search(words).await.unwrap().messages, []);

    for body in [
        notice("x"),
        RecordBody::RuleRemembered(RuleRemembered { rule: rule("{}"), allow: true, text: None }),
    ] {
        let late = store.append(append(HIDDEN, vec![record(20, None, body)])).await;
        assert_eq!(late, Err(AppendError::ConversationGone(HIDDEN)));
    }
    let deleted = store.delete_conversation(HIDDEN, Timestamp(9), RecordId(uuid(1, 1))).await;
    assert_eq!(deleted, Err(WriteError::ConversationGone(HIDDEN)));
    let read = store.mark_read(HIDDEN, Seq(5)).await;
    assert_eq!(read, Err(WriteError::ConversationGone(HIDDEN)));
    let rebuilt = store.replace_projections(HIDDEN, Vec::new()).await;
    assert!(matches!(rebuilt, Err(WriteError::Invalid { .. })), "{rebuilt:?}");
    assert_eq!(store.rule("shell", ARGUMENTS, "/w"), Some(true));
    assert_eq!(rows(&home.path(), "").len(), 5);
}
