use super::support::*;
use abide_protocol::record::{RecordBody, RuleRemembered};

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
