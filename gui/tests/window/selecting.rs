//! Text of a conversation is selected with the mouse and copied by key.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    inbox::Preview,
    message::{CallView, Role},
    notification::Snapshot,
    task::Status,
};
use abide_gui::{Message, keymap::Command, screen::conversation, theme};
use iced_test::core::{
    Background, Color, Point, Rectangle,
    keyboard::{Key, Modifiers, key::Named},
    renderer::Quad,
};

fn before(status: Status, history: Snapshot) -> Person {
    Person::opened(status, &[], history)
}

fn talk(messages: u64) -> Snapshot {
    let said = (1..=messages).map(|n| {
        let role = if n % 2 == 0 { Role::Agent } else { Role::User };
        preset::said(n, role, &format!("message number {n}"))
    });
    Snapshot { messages: said.collect(), ..preset::empty() }
}

fn shown(person: &mut Person, text: &str) -> Rectangle {
    let place = person.finds(text);
    assert!(place.is_some(), "{text:?} is not shown");
    place.unwrap()
}

fn left(place: Rectangle) -> Point {
    Point::new(place.x - 2.0, place.center_y())
}

fn right(place: Rectangle) -> Point {
    Point::new(place.x + place.width + 2.0, place.center_y())
}

fn selected(person: &Person) -> Option<String> {
    person.app.conversation().unwrap().selected_text()
}

#[test]
fn a_drag_selects_across_messages_and_control_c_copies() {
    let mut person = before(Status::Thinking, talk(4));
    let (from, to) = (shown(&mut person, "message number 2"), shown(&mut person, "message number 4"));
    person.drags(left(from), right(to));
    let words = "message number 2\n\nmessage number 3\n\nmessage number 4";
    assert_eq!(selected(&person).as_deref(), Some(words));
    person.control("c");
    assert_eq!(person.copied.as_deref(), Some(words));
}

#[test]
fn a_fast_drag_begins_where_the_button_went_down() {
    let mut person = before(Status::Thinking, talk(4));
    let place = shown(&mut person, "message number 2");
    person.drags_at_once(left(place), right(place));
    assert_eq!(selected(&person).as_deref(), Some("message number 2"));
}

#[test]
fn a_drag_upwards_selects_the_same() {
    let mut person = before(Status::Thinking, talk(4));
    let (from, to) = (shown(&mut person, "message number 4"), shown(&mut person, "message number 2"));
    person.drags(right(from), left(to));
    assert_eq!(
        selected(&person).as_deref(),
        Some("message number 2\n\nmessage number 3\n\nmessage number 4")
    );
}

#[test]
fn two_clicks_take_a_word_and_three_a_line() {
    let mut person = before(Status::Thinking, talk(4));
    let place = shown(&mut person, "message number 2");
    let at = Point::new(place.x + 10.0, place.center_y());
    person.drags(at, at);
    assert_eq!(selected(&person), None);
    person.drags(at, at);
    assert_eq!(selected(&person).as_deref(), Some("message"));
    person.drags(at, at);
    assert_eq!(selected(&person).as_deref(), Some("message number 2"));
}

#[test]
fn a_click_elsewhere_and_escape_select_nothing() {
    let mut person = before(Status::Thinking, talk(4));
    let place = shown(&mut person, "message number 2");
    for clear in [
        |person: &mut Person| person.named(Named::Escape),
        |person: &mut Person| person.drags(Point::new(600.0, 760.0), Point::new(600.0, 760.0)),
        |person: &mut Person| person.drags(Point::new(900.0, 200.0), Point::new(900.0, 200.0)),
    ] {
        person.drags(left(place), right(place));
        assert_eq!(selected(&person).as_deref(), Some("message number 2"));
        clear(&mut person);
        assert_eq!(selected(&person), None);
    }
    assert_eq!(person.asked(), [], "Escape was not for the task");
}

#[test]
fn a_field_with_a_caret_has_control_c() {
    let mut person = before(Status::Completed, talk(4));
    let place = shown(&mut person, "message number 2");
    person.drags(left(place), right(place));
    person.control("l");
    person.writes("mine");
    assert_eq!(person.draft(), "mine");
    person.control("c");
    assert_eq!(person.copied, None);
}

#[test]
fn a_drag_past_an_edge_scrolls_and_selects_rows_that_are_not_built() {
    let mut person = before(Status::Thinking, talk(300));
    let from = shown(&mut person, "message number 300");
    person.holds(right(from));
    // Holds the pointer above the list's top edge, for as many frames as needed.
    person.points(Point::new(640.0, 10.0));
    let mut frames = 0;
    while person.finds("message number 150").is_none() {
        person.redraw();
        frames += 1;
        assert!(frames < 3000, "the list does not scroll");
    }
    person.lets_go();
    assert!(person.finds("message number 300").is_none(), "the row of the other end is far away");
    let words = selected(&person).unwrap();
    assert!(words.ends_with("message number 299\n\nmessage number 300"), "{words:?}");
    for n in 151..=300 {
        assert!(words.contains(&format!("message number {n}")), "{n}");
    }
}

#[test]
fn new_messages_do_not_change_the_selection() {
    let mut person = before(Status::Thinking, talk(40));
    let place = shown(&mut person, "message number 40");
    person.drags(left(place), right(place));
    let update = preset::message(preset::said(41, Role::Agent, "and another"));
    person.tell(Message::Conversation(CONVERSATION, vec![abide_client::Update::Notification(update)]));
    assert_eq!(selected(&person).as_deref(), Some("message number 40"));
}

#[test]
fn code_and_output_are_copied_verbatim() {
    let mut call = preset::call(3, "shell", "make");
    call.result = Some(abide_client::protocol::transcript::ToolResult::success("first\nsecond", None));
    let id = call.call_id;
    let mut person = before(Status::Thinking, Snapshot { calls: vec![call], ..talk(2) });
    person.tell(Message::Thread(conversation::Message::CallToggled(id, true)));
    let place = shown(&mut person, "first\nsecond");
    person.drags(
        Point::new(place.x - 2.0, place.y + 4.0),
        Point::new(place.x + 500.0, place.y + place.height - 4.0),
    );
    assert_eq!(selected(&person).as_deref(), Some("first\nsecond"));
    person.tell(Message::Key(Command::Copy));
    assert_eq!(person.copied.as_deref(), Some("first\nsecond"));
    person.press(Key::Named(Named::Escape), Modifiers::empty());
    assert_eq!(selected(&person), None);
}

#[test]
fn joiners_between_typefaces_are_not_copied() {
    let messages = vec![preset::said(1, Role::Agent, "see (`a.rs`), **now**.")];
    let mut person = before(Status::Thinking, Snapshot { messages, ..preset::empty() });
    person.drags(Point::new(300.0, 80.0), Point::new(1200.0, 640.0));
    assert!(
        selected(&person).is_some_and(|words| words.contains("see (a.rs), now.")),
        "{:?}",
        selected(&person)
    );
}

/// A call and the end of a task are rows without selectable text, but they are copied, so the selection must
/// show them.
#[test]
fn a_selection_across_a_call_highlights_the_call() {
    let calls = vec![preset::call(3, "shell", "make"), preset::call(4, "shell", "make check")];
    let messages = vec![
        preset::said(1, Role::User, "build it"),
        preset::said(2, Role::Agent, "I begin."),
        preset::said(5, Role::Agent, "It is built."),
    ];
    let mut person = before(Status::Completed, Snapshot { messages, calls, ..preset::empty() });
    person.unfolds();
    let (from, to) = (shown(&mut person, "I begin."), shown(&mut person, "It is built."));
    let ground = theme::tokens(&person.app.theme()).marked;
    let painted = |person: &mut Person, text: &str| {
        let at = shown(person, text).center();
        let is_tint =
            |fill: &Background| matches!(fill, Background::Color(c) if Color { a: 1.0, ..*c } == ground);
        drawn::boxes_around(person, at).iter().any(|(_, fill)| is_tint(fill))
    };
    for call in ["make", "make check"] {
        assert!(!painted(&mut person, call));
    }
    person.drags(left(from), right(to));
    assert_eq!(
        selected(&person).as_deref(),
        Some("I begin.\n\nshell make\n\nshell make check\n\nIt is built.")
    );
    for call in ["make", "make check"] {
        assert!(painted(&mut person, call), "{call}");
    }
}

/// What is highlighted between two messages is what is copied: opened calls with their output, words of files
/// and code.
#[test]
fn a_selection_copies_what_is_shown_between_its_ends() {
    let mut edit = preset::call(3, "patch", "src/a.rs");
    let diff = "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;".to_owned();
    edit.preview = Some(Box::new(Preview { path: "src/a.rs".into(), diff, changed: None }));
    for (between, expected) in [
        (Between::Call(Box::new(preset::call(3, "shell", "make"))), "shell make"),
        (Between::Call(Box::new(edit)), "patch src/a.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;"),
        (Between::Said("See `a.rs`:\n\n```\none\n\ntwo\n```\n"), "See a.rs:\n\none\n\ntwo"),
        (Between::Said("- one\n- two"), "• one\n• two"),
    ] {
        let (mut messages, mut calls) = (vec![preset::said(2, Role::Agent, "I begin.")], Vec::new());
        match between {
            Between::Call(call) => calls.push(*call),
            Between::Said(text) => messages.push(preset::said(3, Role::Agent, text)),
        }
        messages.push(preset::said(5, Role::Agent, "It is built."));
        let mut person = before(Status::Thinking, Snapshot { messages, calls, ..preset::empty() });
        let (from, to) = (shown(&mut person, "I begin."), shown(&mut person, "It is built."));
        person.drags(left(from), right(to));
        let words = selected(&person).unwrap();
        let inner =
            words.strip_prefix("I begin.\n\n").and_then(|words| words.strip_suffix("\n\nIt is built."));
        assert_eq!(inner, Some(expected), "{words}");
    }
}

enum Between {
    Call(Box<CallView>),
    Said(&'static str),
}

/// A spreadsheet separates the cells again.
#[test]
fn the_cells_of_a_table_are_copied_with_tabs_between_them() {
    let table = "Before.\n\n| file | size | owner |\n|---|---|---|\n| a rather long name | 1 | me |\n| b |  | you |\n\nAfter.\n\n- item";
    let messages = vec![preset::said(1, Role::Agent, table)];
    let mut person = before(Status::Thinking, Snapshot { messages, ..preset::empty() });
    let (from, to) = (shown(&mut person, "Before."), shown(&mut person, "item"));
    person.drags(left(from), right(to));
    let words = selected(&person).unwrap();
    assert_eq!(
        words,
        "Before.\n\nfile\tsize\towner\na rather long name\t1\tme\nb\t\tyou\n\nAfter.\n\n• item"
    );
}

#[test]
fn what_is_struck_through_is_so_while_it_is_selected() {
    let history = Snapshot {
        messages: vec![preset::said(1, Role::Agent, "it is ~~nothing~~ small")],
        ..preset::empty()
    };
    let mut person = before(Status::Thinking, history);
    let place = shown(&mut person, "it is nothing small");
    person.drags(left(place), right(place));
    let ground = Background::Color(theme::style::selected(&person.app.theme()));
    let is_here = |quad: &Quad| quad.bounds.intersects(&place);
    let selection = drawn::turns(&mut person, |quad, fill| is_here(quad) && *fill == ground);
    let stroke = drawn::turns(&mut person, |quad, _| is_here(quad) && quad.bounds.height < 2.0);
    assert_eq!((selection.len(), stroke.len()), (1, 1));
    assert!(stroke > selection, "the stroke is drawn above the selection");
}
