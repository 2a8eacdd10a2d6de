use super::support::*;
use abide_protocol::{
    RecordId, Timestamp,
    inbox::{RuleEffect, TextRule},
    method::rule::RememberedRule,
    record::{By, RecordBody, RuleRemembered, Via},
};
use abide_store::{Existing, Lookup, OpenError, RuleId, Store};
use rusqlite::Connection;

const ARGUMENTS: &str = r#"{"command":"make","env":{"A":"1","B":"2"}}"#;

async fn remember(store: &Store, n: u64, allow: bool) {
    let body = RecordBody::RuleRemembered(RuleRemembered { rule: rule(ARGUMENTS), allow, text: None });
    store.append(append(conversation(1), vec![record(n, Some(1), body)])).await.unwrap();
}

#[tokio::test]
async fn a_remembered_decision_outlives_its_conversation() {
    let home = Home::new();
    let store = home.open();
    let (first, second) = (begin(&store, 1, 1).await, begin(&store, 2, 2).await);
    for (n, id, allow) in [(3, first, false), (4, second, true)] {
        let rule = rule(&format!(r#"{{"command":"make {n}"}}"#));
        let body = RecordBody::RuleRemembered(RuleRemembered { rule, allow, text: None });
        store.append(append(id, vec![record(n, Some(1), body)])).await.unwrap();
    }
    store.delete_conversation(first, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let decisions = |store: &Store| {
        [r#"{"command":"make 3"}"#, r#"{"command":"make 4"}"#]
            .map(|command| store.rule("shell", command, "/w"))
    };
    assert_eq!(decisions(&store), [Some(false), Some(true)]);
    store.close().await;
    assert_eq!(decisions(&home.open()), [Some(false), Some(true)]);
}

#[tokio::test]
async fn the_newest_decision_on_the_very_same_call_counts() {
    let home = Home::new();
    let store = home.open();
    begin(&store, 1, 1).await;
    let reordered = r#"{ "env": {"B": "2", "A": "1"}, "command": "make" }"#;
    assert_eq!(store.rule("shell", reordered, "/w"), None);
    remember(&store, 2, true).await;
    assert_eq!(store.rule("shell", reordered, "/w"), Some(true));
    remember(&store, 3, false).await;
    assert_eq!(store.rule("shell", reordered, "/w"), Some(false));
    for (tool, arguments, workspace) in [
        ("read", reordered, "/w"),
        ("shell", reordered, "/w/x"),
        ("shell", r#"{"command":"make","env":{"A":"2","B":"1"}}"#, "/w"),
        ("shell", "not json", "/w"),
    ] {
        assert_eq!(store.rule(tool, arguments, workspace), None);
    }
}

#[tokio::test]
async fn remembered_decisions_survive_reopening() {
    let home = Home::new();
    let store = home.open();
    begin(&store, 1, 1).await;
    remember(&store, 2, true).await;
    remember(&store, 3, false).await;
    store.close().await;
    assert_eq!(home.open().rule("shell", ARGUMENTS, "/w"), Some(false));
}

/// With appends and deletions at the same time: a decision is in the rule book when its append is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_counts_once_its_append_is_answered() {
    const CONVERSATIONS: u64 = 8;
    let home = Home::new();
    let store = home.open();
    let mut lives = tokio::task::JoinSet::new();
    for n in 1..=CONVERSATIONS {
        let store = store.clone();
        lives.spawn(async move {
            let id = begin(&store, n, n).await;
            let command = format!(r#"{{"command":"make {n}"}}"#);
            for (turn, allow) in [true, false, true, false].into_iter().enumerate() {
                let body =
                    RecordBody::RuleRemembered(RuleRemembered { rule: rule(&command), allow, text: None });
                let number = 1000 * n + u64::try_from(turn).unwrap();
                store.append(append(id, vec![record(number, Some(n), body)])).await.unwrap();
                assert_eq!(store.rule("shell", &command, "/w"), Some(allow));
            }
            if n % 2 == 0 {
                let tombstone = RecordId(uuid(0, 1000 * n + 999));
                store.delete_conversation(id, Timestamp(9), tombstone).await.unwrap();
            }
        });
    }
    while let Some(ended) = lives.join_next().await {
        ended.unwrap();
    }
    let decided = |store: &Store| -> Vec<Option<bool>> {
        let of = |n| store.rule("shell", &format!(r#"{{"command":"make {n}"}}"#), "/w");
        (1..=CONVERSATIONS).map(of).collect()
    };
    let in_memory = decided(&store);
    store.close().await;
    assert_eq!(decided(&home.open()), in_memory, "the book says what the table says");
}

async fn listed(store: &Store) -> Vec<RememberedRule> {
    store.rules(None, 100).await.unwrap().rules
}

async fn only(store: &Store) -> RuleId {
    let id = listed(store).await.remove(0).id;
    let found = store.find_rule(&id).await.unwrap();
    let Lookup::One(found) = found else { unreachable!("one rule {id}: {found:?}") };
    found
}

/// Whether the decision was remembered.
async fn forget(store: &Store, id: RuleId, number: u64) -> bool {
    let by = By { via: Via::Socket, name: "test".to_owned() };
    store.forget_rule(id, by, Timestamp(9), RecordId(uuid(0xf0, number))).await.unwrap()
}

#[tokio::test]
async fn a_forgotten_decision_stays_forgotten_until_a_later_one() {
    let home = Home::new();
    let store = home.open();
    begin(&store, 1, 1).await;
    remember(&store, 2, true).await;
    let id = only(&store).await;
    home.told();
    assert!(forget(&store, id, 1).await);
    assert_eq!(home.told(), [], "no conversation has changed");
    assert!(!forget(&store, id, 2).await, "forgotten once");
    assert_eq!((listed(&store).await, store.rule("shell", ARGUMENTS, "/w")), (Vec::new(), None));
    assert_eq!(store.find_rule(&id.to_string()).await.unwrap(), Lookup::None);
    store.close().await;
    let store = home.open();
    assert_eq!(store.rule("shell", ARGUMENTS, "/w"), None);
    remember(&store, 4, false).await;
    assert_eq!(store.rule("shell", ARGUMENTS, "/w"), Some(false), "a later decision counts");
}

#[tokio::test]
async fn a_decision_is_listed_with_its_call_until_its_conversation_is_deleted() {
    let home = Home::new();
    let store = home.open();
    let (first, second) = (begin(&store, 1, 1).await, begin(&store, 2, 2).await);
    remember(&store, 3, true).await;
    let body = RecordBody::RuleRemembered(RuleRemembered { rule: rule(ARGUMENTS), allow: false, text: None });
    store.append(append(second, vec![record(4, Some(2), body)])).await.unwrap();
    let [newest] = &listed(&store).await[..] else { panic!("two decisions on one call are one rule") };
    let origin = newest.origin.as_ref().unwrap();
    assert_eq!((newest.allow, origin.conversation_id, &origin.rule), (false, second, &rule(ARGUMENTS)));

    store.delete_conversation(second, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let [newest] = &listed(&store).await[..] else { panic!("one rule") };
    assert_eq!((newest.allow, &newest.origin), (false, &None));
    assert!(forget(&store, only(&store).await, 1).await);
    assert_eq!(
        store.rule("shell", ARGUMENTS, "/w"),
        None,
        "the call asks again: the first decision was replaced"
    );
    assert!(store.conversation(first).await.unwrap().is_some());
}

/// A rebuild of everything. Says whether the decisions differed before.
async fn rebuild(store: &Store) -> bool {
    for id in store.recorded_conversations().await.unwrap() {
        store.replace_projections(id, Vec::new()).await.unwrap();
    }
    store.replace_rules().await.unwrap()
}

#[tokio::test]
async fn a_rebuild_restores_the_decision_of_a_deleted_conversation() {
    let home = Home::new();
    let store = home.open();
    let deleted = begin(&store, 1, 1).await;
    remember(&store, 2, false).await;
    store.delete_conversation(deleted, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    assert!(!rebuild(&store).await);
    Connection::open(home.path()).unwrap().execute_batch("DELETE FROM rules").unwrap();
    assert!(rebuild(&store).await);
    assert_eq!(store.rule("shell", ARGUMENTS, "/w"), Some(false));
    store.close().await;
    assert_eq!(home.open().rule("shell", ARGUMENTS, "/w"), Some(false));
}

#[tokio::test]
async fn a_rebuild_removes_a_forgotten_decision_of_a_deleted_conversation() {
    let home = Home::new();
    let store = home.open();
    let deleted = begin(&store, 1, 1).await;
    remember(&store, 2, true).await;
    store.delete_conversation(deleted, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let change = |sql: &str| Connection::open(home.path()).unwrap().execute_batch(sql).unwrap();
    change("CREATE TABLE kept AS SELECT * FROM rules");
    forget(&store, only(&store).await, 1).await;
    change("INSERT INTO rules SELECT * FROM kept; DROP TABLE kept");
    assert!(rebuild(&store).await);
    store.close().await;
    assert_eq!(home.open().rule("shell", ARGUMENTS, "/w"), None);
}

#[tokio::test]
async fn a_database_that_has_lost_a_forgetting_is_refused() {
    let home = Home::new();
    let store = home.open();
    begin(&store, 1, 1).await;
    remember(&store, 2, true).await;
    let before = home.folder.path().join("before.db");
    Store::copy(&home.path(), &before, Existing::Keep).unwrap();
    forget(&store, only(&store).await, 1).await;
    store.close().await;
    std::fs::rename(before, home.path()).unwrap();
    let opened = Store::open(options(&home.path()), Box::new(|_| {}));
    assert!(matches!(opened, Err(OpenError::Behind { .. })), "{opened:?}");
}

#[tokio::test]
async fn rules_are_listed_newest_first_page_by_page_and_found_by_a_part_of_their_id() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    for n in 2..7 {
        let rule = rule(&format!(r#"{{"command":"make {n}"}}"#));
        let body = RecordBody::RuleRemembered(RuleRemembered { rule, allow: n % 2 == 0, text: None });
        store.append(append(id, vec![record(n, Some(1), body)])).await.unwrap();
    }
    let mut commands = Vec::new();
    let (mut before, mut pages) = (None, 0);
    loop {
        let page = store.rules(before, 2).await.unwrap();
        pages += 1;
        for rule in page.rules {
            let found = [&rule.id[..12], &rule.id[52..], &rule.id[56..62], &rule.id.to_ascii_uppercase()];
            for part in found {
                let lookup = store.find_rule(part).await.unwrap();
                assert!(matches!(lookup, Lookup::One(id) if id.to_string() == rule.id), "{part}");
            }
            commands.push(rule.origin.unwrap().rule.arguments.as_str().to_owned());
        }
        before = page.before;
        if before.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (2..7).rev().map(|n| format!(r#"{{"command":"make {n}"}}"#)).collect();
    assert_eq!((commands, pages), (expected, 3));
    for typed in ["", "xyz", &"0".repeat(65)] {
        assert_eq!(store.find_rule(typed).await.unwrap(), Lookup::None, "{typed:?}");
    }
}

#[tokio::test]
async fn a_rule_is_kept_with_its_text_and_matches_no_call_by_digest() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let wide = RuleRemembered { rule: rule(ARGUMENTS), allow: true, text: Some("shell(make *)".to_owned()) };
    let body = RecordBody::RuleRemembered(wide);
    store.append(append(id, vec![record(2, Some(1), body)])).await.unwrap();
    let by = By { via: Via::Socket, name: "test".to_owned() };
    let denied = TextRule {
        text: "shell(rm *)".to_owned(),
        workspace: "/elsewhere".to_owned(),
        effect: RuleEffect::Deny,
    };
    let added = store.add_rule(denied.clone(), by, Timestamp(7), RecordId(uuid(7, 7))).await.unwrap();
    store.delete_conversation(id, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let stand = |store: &Store| {
        assert_eq!(store.rule("shell", ARGUMENTS, "/w"), None);
        let texts = |workspace: &str| {
            store.rules_of(workspace).into_iter().map(|rule| (rule.text, rule.effect)).collect::<Vec<_>>()
        };
        assert_eq!(texts("/w"), [("shell(make *)".to_owned(), RuleEffect::Allow)]);
        assert_eq!(texts("/elsewhere"), [("shell(rm *)".to_owned(), RuleEffect::Deny)]);
    };
    stand(&store);
    assert!(!rebuild(&store).await);
    stand(&store);
    store.close().await;
    let store = home.open();
    stand(&store);
    assert_eq!(store.remembered_rule(added).await.unwrap().unwrap().text, Some(denied));
    assert!(forget(&store, added, 8).await);
    assert!(store.rules_of("/elsewhere").is_empty());
}

/// A reply with a page has to fit in a frame.
#[tokio::test]
async fn a_page_of_decisions_on_long_calls_ends_early() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    for n in 0..15 {
        let arguments = format!(r#"{{"command":"{n} {}"}}"#, "x".repeat(100_000));
        let rule = rule(&arguments);
        let body = RecordBody::RuleRemembered(RuleRemembered { rule, allow: true, text: None });
        store.append(append(id, vec![record(10 + n, Some(1), body)])).await.unwrap();
    }
    let first = store.rules(None, 100).await.unwrap();
    assert_eq!(first.rules.len(), 11, "11 of 100 kB are the first to exceed 1 MiB");
    let rest = store.rules(first.before, 100).await.unwrap();
    assert_eq!((rest.rules.len(), rest.before), (4, None));
}
