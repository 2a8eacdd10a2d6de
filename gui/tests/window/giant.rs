//! A reply of 300 KB costs no more than what is in view of it.

use crate::{person::Person, preset};
use abide_client::protocol::{
    Seq,
    message::{Message, MessageKind, Role},
    notification::Snapshot,
    task::Status,
};
use abide_gui::screen::conversation::Row;

/// 300 KB: long paragraphs, one paragraph, a block of code, a table. "the" is all over them.
fn replies() -> [(&'static str, String); 4] {
    let sentence = "The session reads the clock twice, and `expiry` is compared with **the first** of both. ";
    let paragraph = sentence.repeat(60);
    let code: String =
        (0..6000).map(|n| format!("    let value_{n} = compute(\"{n}\"); // the next\n")).collect();
    let row = "| src/session.rs | the clock is read twice | mended |\n";
    [
        ("paragraphs", format!("{paragraph}\n\n").repeat(60)),
        ("paragraph", sentence.repeat(3600)),
        ("code", format!("See:\n\n```rust\n{code}```\n")),
        ("table", format!("| file | why | state |\n|---|---|---|\n{}", row.repeat(5700))),
    ]
}

/// The replies with three needles each: near their beginning, in their middle and near their end.
pub(crate) fn with_needles() -> [(&'static str, String); 4] {
    replies().map(|(name, mut text)| {
        let places: Vec<usize> = text.match_indices("the ").map(|(at, _)| at).collect();
        for at in [places[places.len() - 4], places[places.len() / 2], places[3]] {
            text.insert_str(at, "needle ");
        }
        (name, text)
    })
}

fn before(text: &str) -> Person {
    of(preset::said(2, Role::Agent, text))
}

fn of(reply: Message) -> Person {
    let messages =
        vec![preset::said(1, Role::User, "Tell me all."), reply, preset::said(3, Role::User, "Thanks.")];
    Person::opened(Status::Completed, &[], Snapshot { messages, ..preset::empty() })
}

#[test]
fn a_very_long_reply_is_shown_in_parts_with_all_of_its_text() {
    for (name, text) in replies() {
        let mut person = before(&text);
        let rows = person.app.conversation().unwrap().rows();
        let blocks = rows.iter().filter(|row| matches!(row, Row::Block(Seq(2), _))).count();
        assert!(if name == "code" { blocks == 1 } else { blocks >= 50 }, "{name}: {blocks}");
        let shown: usize = person.texts().iter().map(String::len).sum();
        assert!(name == "code" || shown < 40_000, "{name}: {shown} bytes are built");
        assert!(person.app.conversation().unwrap().as_text().len() > 270_000, "{name}");
        person.wheels(-2000.0);
    }
}

/// Each of them is one row.
#[test]
fn of_many_long_messages_few_are_built() {
    for role in [Role::User, Role::Agent] {
        let text = "All of it is said once more, and nothing is new. ".repeat(150);
        let messages = (1..=60).map(|n| preset::said(n, role, &text)).collect();
        let mut person = Person::opened(Status::Completed, &[], Snapshot { messages, ..preset::empty() });
        let shown: usize = person.texts().iter().map(String::len).sum();
        assert!((text.len()..40_000).contains(&shown), "{role:?}: {shown} bytes are built");
    }
}

#[test]
fn a_very_long_reply_of_any_kind_is_shown_in_parts() {
    for (kind, is_in_parts) in [
        (MessageKind::Text, true),
        (MessageKind::Update, true),
        (MessageKind::Partial, true),
        // It stands beside its "asked".
        (MessageKind::Question, false),
    ] {
        let [(_, text), ..] = replies();
        let mut person = of(Message { kind, ..preset::said(2, Role::Agent, &text) });
        let rows = person.app.conversation().unwrap().rows();
        assert_eq!(rows.contains(&Row::Block(Seq(2), 50)), is_in_parts, "{kind:?}");
        assert_eq!(person.finds_bounds("cut off").is_some(), kind == MessageKind::Partial, "{kind:?}");
    }
}
