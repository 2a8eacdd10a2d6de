use super::support::*;
use abide_protocol::{
    RecordId, Timestamp,
    record::{RecordBody, RuleRemembered},
};
use abide_store::Store;

#[tokio::test]
async fn a_decision_outlives_the_conversation_in_which_it_was_remembered() {
    let home = Home::new();
    let store = home.open();
    let (first, second) = (begin(&store, 1, 1).await, begin(&store, 2, 2).await);
    for (n, id, allow) in [(3, first, false), (4, second, true)] {
        let rule = rule(&format!(r#"{{"command":"make {n}"}}"#));
        let body = RecordBody::RuleRemembered(RuleRemembered { rule, allow });
        store.append(append(id, vec![record(n, Some(1), body)])).await.unwrap();
    }
    store.delete_conversation(first, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let decisions = async |store: &Store| {
        [
            store.rule("shell", r#"{"command":"make 3"}"#, "/w").await.unwrap(),
            store.rule("shell", r#"{"command":"make 4"}"#, "/w").await.unwrap(),
        ]
    };
    assert_eq!(decisions(&store).await, [Some(false), Some(true)]);
    // A rebuild leaves alone what it cannot derive.
    assert_eq!(store.recorded_conversations().await.unwrap(), [second]);
    for id in [first, second] {
        assert_eq!(store.replace_projections(id, Vec::new()).await, Ok(false));
    }
    assert_eq!(decisions(&store).await, [Some(false), Some(true)]);
    store.close().await;
    assert_eq!(decisions(&home.open()).await, [Some(false), Some(true)]);
}

#[tokio::test]
async fn the_newest_decision_on_the_very_same_call_counts() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let remember = async |n, allow| {
        let rule = rule(r#"{"command":"make","env":{"A":"1","B":"2"}}"#);
        let body = RecordBody::RuleRemembered(RuleRemembered { rule, allow });
        store.append(append(id, vec![record(n, Some(1), body)])).await.unwrap();
    };
    let reordered = r#"{ "env": {"B": "2", "A": "1"}, "command": "make" }"#;
    assert_eq!(store.rule("shell", reordered, "/w").await.unwrap(), None);
    remember(2, true).await;
    assert_eq!(store.rule("shell", reordered, "/w").await.unwrap(), Some(true));
    remember(3, false).await;
    assert_eq!(store.rule("shell", reordered, "/w").await.unwrap(), Some(false));
    for (tool, arguments, workspace) in [
        ("read", reordered, "/w"),
        ("shell", reordered, "/w/x"),
        ("shell", r#"{"command":"make","env":{"A":"2","B":"1"}}"#, "/w"),
        ("shell", "not json", "/w"),
    ] {
        assert_eq!(store.rule(tool, arguments, workspace).await.unwrap(), None);
    }
}
