use super::{check, prefix};
use crate::model_server::{
    script::Turn,
    view::{Item, ItemKind, Part, Sent, View},
};
use serde_json::json;

fn user(text: &str) -> Item {
    Item { raw: format!("user {text}"), kind: ItemKind::User(text.to_owned()) }
}

fn result(id: &str) -> Item {
    Item { raw: format!("result {id}"), kind: ItemKind::Result { id: id.to_owned() } }
}

fn call(id: &str, arguments: &str) -> Part {
    Part::Call {
        id: id.to_owned(),
        tool: "shell".to_owned(),
        arguments: arguments.to_owned(),
        extra: Some("{}".to_owned()),
    }
}

fn reply(parts: &[Part]) -> Item {
    Item { raw: format!("reply {parts:?}"), kind: ItemKind::Reply(parts.to_vec()) }
}

fn whole(parts: &[Part]) -> Sent {
    Sent { parts: parts.to_vec(), is_complete: true, read_as: None }
}

fn view(items: Vec<Item>) -> View {
    View { head: "head".to_owned(), has_tools: true, items }
}

/// Two calls, with results in this order.
fn answered(results: &[&str]) -> Result<(), String> {
    let parts = [call("a", "{}"), call("b", "{}")];
    let mut items = vec![user("hello"), reply(&parts)];
    items.extend(results.iter().map(|id| result(id)));
    check(&view(items), &[], &[vec![whole(&parts)]], None)
}

#[test]
fn every_call_has_exactly_one_result_in_call_order() {
    assert_eq!(answered(&["a", "b"]), Ok(()));
    for wrong in [&["a"][..], &[], &["b", "a"], &["a", "b", "b"], &["a", "a", "b"], &["a", "c"]] {
        assert!(answered(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn calls_need_a_declared_tool() {
    let given = [call("a", "{}")];
    let whole_view = view(vec![user("hi"), reply(&given), result("a")]);
    assert_eq!(check(&whole_view, &[], &[vec![whole(&given)]], None), Ok(()));
    assert!(check(&View { has_tools: false, ..whole_view }, &[], &[vec![whole(&given)]], None).is_err());
}

#[test]
fn a_person_speaks_first_and_the_model_not_last() {
    let said = [Part::Text("hello".to_owned())];
    let sent = [vec![whole(&said)]];
    assert!(check(&view(vec![reply(&said), user("hi")]), &[], &sent, None).is_err());
    assert!(check(&view(vec![user("hi"), reply(&said)]), &[], &sent, None).is_err());
    assert!(check(&view(vec![user("hi"), reply(&said), user("and?")]), &[], &sent, None).is_ok());
    assert!(check(&view(vec![user("hi"), result("a")]), &[], &sent, None).is_err());
}

#[test]
fn a_reply_comes_back_as_it_was_given() {
    let given = [Part::Opaque("secret".to_owned()), call("a", r#"{"x":1}"#)];
    let comes_back = |parts: &[Part], sent: Sent| {
        check(&view(vec![user("hi"), reply(parts), result("a")]), &[], &[vec![sent]], None)
    };
    assert_eq!(comes_back(&given, whole(&given)), Ok(()));
    assert!(
        comes_back(&given, Sent { is_complete: false, ..whole(&given) }).is_err(),
        "a cut reply was used"
    );
    assert!(comes_back(&given[1..], whole(&given)).is_err(), "the opaque block is gone");
    let altered = [Part::Opaque("secre".to_owned()), given[1].clone()];
    assert!(comes_back(&altered, whole(&given)).is_err(), "the opaque block is altered");
    let reformatted = [given[0].clone(), call("a", r#"{"x": 1}"#)];
    assert!(comes_back(&reformatted, whole(&given)).is_err(), "the arguments are altered");
}

#[test]
fn arguments_that_are_no_json_come_back_as_an_empty_object() {
    let given = [call("a", "{nonsense")];
    let ok = check(
        &view(vec![user("hi"), reply(&[call("a", "{}")]), result("a")]),
        &[],
        &[vec![whole(&given)]],
        None,
    );
    assert_eq!(ok, Ok(()));
}

#[test]
fn what_was_shown_of_a_stopped_reply_may_stay() {
    let given = [Part::Text("hello world".to_owned()), call("a", "{}")];
    let sent = || vec![vec![Sent { is_complete: false, ..whole(&given) }]];
    let shown = |text: &str| view(vec![user("hi"), reply(&[Part::Text(text.to_owned())]), user("go on")]);
    assert_eq!(check(&shown("hello w"), &[], &sent(), None), Ok(()));
    assert!(check(&shown("world"), &[], &sent(), None).is_err());
}

#[test]
fn the_prefix_stays_byte_identical() {
    let before = view(vec![user("hi")]);
    let parts = [Part::Text("hello".to_owned())];
    assert!(prefix(&view(vec![user("hi"), reply(&parts)]), &before).is_ok());
    assert!(prefix(&view(vec![user("hi!")]), &before).is_err());
    let said = |text: &str| Item {
        raw: format!(r#"{{"role":"user","content":"{text}"}}"#),
        kind: ItemKind::User(text.to_owned()),
    };
    assert!(
        prefix(&view(vec![said(r"hi\n\nmore")]), &view(vec![said("hi")])).is_ok(),
        "the last message may grow"
    );
    assert!(prefix(&view(vec![said(r"hi\n\nmore"), said("x")]), &view(vec![said("hi"), said("x")])).is_err());
    assert!(prefix(&view(vec![]), &before).is_err());
    assert!(prefix(&View { head: "heed".to_owned(), ..before.clone() }, &before).is_err());
}

#[test]
fn only_what_replies_have_confirmed_stays() {
    let parts = [call("a", "{}")];
    let asked = view(vec![user("hi"), reply(&parts), result("a")]);
    let again = view(vec![user("hi"), reply(&parts), Item { raw: "another".to_owned(), ..result("a") }]);
    assert!(prefix(&again, &asked).is_err());
    assert!(prefix(&again, &asked.confirmed_by(1)).is_ok());
    assert!(prefix(&view(vec![user("hi!")]), &view(vec![user("hi")]).confirmed_by(0)).is_err());
    // The daemon died before the reply was committed.
    assert!(prefix(&view(vec![user("hi")]), &asked.confirmed_by(0)).is_ok());
    assert!(prefix(&view(vec![user("hi!")]), &asked.confirmed_by(0)).is_err());
}

#[test]
fn imported_replies_come_first_and_their_calls_have_new_ids() {
    let theirs = [Turn::say("Hm.").call("shell", json!({}))];
    let imported = reply(&[Part::Text("Hm.".to_owned()), call("new", "{ }")]);
    let sent = [whole(&[Part::Text("own".to_owned())])];
    let items = |first: Item| {
        vec![user("hi"), first, result("new"), reply(&[Part::Text("own".to_owned())]), user("and?")]
    };
    assert_eq!(check(&view(items(imported)), &theirs, &[sent.to_vec()], None), Ok(()));
    for wrong in [
        reply(&[Part::Text("Ha.".to_owned()), call("new", "{}")]),
        reply(&[Part::Text("Hm.".to_owned()), call("new", r#"{"a":1}"#)]),
        reply(&[Part::Text("Hm.".to_owned()), call("new", "{}"), Part::Opaque("x".to_owned())]),
    ] {
        assert!(check(&view(items(wrong.clone())), &theirs, &[sent.to_vec()], None).is_err(), "{wrong:?}");
    }
    assert!(check(&view(vec![user("hi")]), &theirs, &[], None).is_err(), "it is missing");
}
