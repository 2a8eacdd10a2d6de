//! Search results while conversations change.

use crate::{
    drawn, narrow,
    person::Person,
    preset::{self, CONVERSATION, QUESTION, TASK},
};
use abide_client::{
    Update,
    protocol::{
        ConversationId, RecordId, Seq,
        conversation::Conversation,
        inbox::Pending,
        message::{MessageKind, Role},
        method::search::{Excerpt, MessageHit, SearchReply, Span, TitleHit},
        notification::{ConversationUpdate, Notification, Snapshot},
        task::Status,
    },
};
use abide_gui::{
    Message,
    request::{self, Reply},
    theme,
};
use iced_test::core::{Point, keyboard::key::Named};

/// A conversation that the overview does not have.
const OTHER: ConversationId = ConversationId(uuid::Uuid::from_u128(77));
const TITLE: &str = "Fix flaky login test";

fn known() -> Conversation {
    preset::conversation(&preset::task(Status::Completed))
}

fn excerpt(text: &str, found: &str) -> Excerpt {
    let start = u32::try_from(text.find(found).unwrap()).unwrap();
    let end = start + u32::try_from(found.len()).unwrap();
    Excerpt { text: text.to_owned(), marks: vec![Span { start, end }] }
}

fn reply(line: &str) -> SearchReply {
    let title = TitleHit { conversation_id: CONVERSATION, archived: false, title: excerpt(TITLE, "flaky") };
    let message = MessageHit {
        conversation_id: CONVERSATION,
        conversation_title: TITLE.to_owned(),
        archived: false,
        message_id: RecordId(preset::id(9)),
        seq: Seq(2),
        task_id: None,
        at: preset::NOW,
        role: Role::Agent,
        kind: MessageKind::Text,
        line: excerpt(line, "flaky"),
    };
    SearchReply { titles: vec![title], messages: vec![message], before: None, searched_to: Seq(9) }
}

/// A person who has searched for *flaky*, with this line as the result.
fn found(line: &str) -> Person {
    let mut person = Person::before(Snapshot { conversations: vec![known()], ..preset::empty() });
    person.control("k");
    person.writes("flaky");
    for query in ["fl", "flaky"] {
        let request = request::search(query.to_owned());
        assert_eq!(person.asked(), std::slice::from_ref(&request));
        person.tell(Message::Answered(request, Ok(Reply::Search(reply(line)))));
    }
    assert_eq!(person.asked(), []);
    person
}

fn becomes(person: &mut Person, conversation: Option<Conversation>) {
    let update = ConversationUpdate { conversation_id: CONVERSATION, conversation };
    let update = Update::Notification(Notification::ConversationUpdate(update));
    person.tell(Message::Overview(vec![update]));
}

#[test]
fn archiving_moves_a_conversation_within_the_search_results() {
    let mut person = found("so flaky");
    assert!(person.finds("ARCHIVED").is_none());
    becomes(&mut person, Some(Conversation { archived: true, ..known() }));
    assert!(person.finds("ARCHIVED").is_some(), "the result stays, in another group");
    becomes(&mut person, Some(known()));
    assert!(person.finds("ARCHIVED").is_none(), "the conversation is back in the list");
}

#[test]
fn enter_waits_for_what_is_found_by_all_that_is_typed() {
    let mut person = Person::before(preset::empty());
    person.control("k");
    person.writes("fl");
    person.tell(Message::Answered(request::search("fl".into()), Ok(Reply::Search(reply("so flaky")))));
    person.writes("aky");
    person.named(Named::Enter);
    assert!(person.app.conversation().is_none(), "that was found by another query");
    for query in ["fla", "flaky"] {
        person.tell(Message::Answered(request::search(query.into()), Ok(Reply::Search(reply("so flaky")))));
    }
    assert_eq!(person.app.conversation().unwrap().id(), CONVERSATION);
}

#[test]
fn the_key_of_the_search_selects_an_earlier_one() {
    let mut person = found("so flaky");
    person.named(Named::Escape);
    person.control("k");
    person.writes("login");
    assert!(person.finds("login").is_some() && person.finds("flaky").is_none(), "{:?}", person.texts());
}

#[test]
fn the_arrows_pick_what_enter_opens() {
    let mut person = found("so flaky");
    person.named(Named::Escape);
    person.control("k");
    let mut reply = reply("so flaky");
    reply.messages[0].conversation_id = OTHER;
    person.tell(Message::Answered(request::search("flaky".into()), Ok(Reply::Search(reply))));
    let accent = theme::tokens(&person.app.theme()).accent;
    let picked = |person: &mut Person| {
        let rows = person.finds_all(TITLE);
        let border = drawn::bordered(person, accent, 100.0).into_iter().find(|row| row.height < 60.0)?;
        rows.into_iter().position(|title| border.contains(title.center()))
    };
    assert_eq!(picked(&mut person), Some(0), "the first");
    for (key, place) in
        [(Named::ArrowDown, 1), (Named::ArrowDown, 1), (Named::ArrowUp, 0), (Named::ArrowUp, 0)]
    {
        person.named(key);
        assert_eq!(picked(&mut person), Some(place), "{key:?}");
    }
    person.named(Named::ArrowDown);
    person.named(Named::Enter);
    assert_eq!(person.app.conversation().unwrap().id(), OTHER);
    person.control("k");
    person.writes("x");
    assert_eq!(picked(&mut person), Some(0), "another search begins at the first");
}

#[test]
fn a_renamed_conversation_has_its_name_in_the_search_results() {
    let mut person = found("so flaky");
    becomes(&mut person, Some(Conversation { title: "A flaky story".into(), ..known() }));
    assert_eq!(person.finds_all("A flaky story").len(), 2, "in the list and above its message");
}

#[test]
fn a_deleted_conversation_leaves_the_search_results() {
    let mut person = found("so flaky");
    becomes(&mut person, None);
    assert!(person.finds(TITLE).is_none());
    assert!(person.finds("Nothing found.").is_some());
}

#[test]
fn returning_to_a_search_runs_it_again() {
    let mut person = found("so flaky");
    person.clicks("so flaky");
    person.asked();
    person.control("k");
    assert_eq!(person.asked(), [request::search("flaky".to_owned())]);
    assert!(person.finds("so flaky").is_some(), "until the new result comes, the earlier one is shown");
}

#[test]
fn a_result_is_shown_without_marks_of_markdown() {
    for (line, shown) in [
        ("some **very `flaky` words** here", "some very flaky words here"),
        ("it **was flaky**", "it was flaky"),
        ("2 ** 3 is flaky", "2 ** 3 is flaky"),
        ("## Why **flaky** tests", "Why flaky tests"),
        ("#3 is flaky", "#3 is flaky"),
    ] {
        let mut person = found(line);
        assert!(drawn::words(&mut person).contains(&shown.to_owned()), "{:?}", drawn::words(&mut person));
    }
}

#[test]
fn a_result_that_is_too_long_ends_in_an_ellipsis() {
    let line = "a line in which the flaky test is told of, and that goes on for much longer than there is room for it";
    let mut person = found(line);
    let words = drawn::words(&mut person);
    let shown: Vec<_> = words.iter().filter(|words| words.contains("the flaky test")).collect();
    assert!(matches!(&shown[..], [shown] if shown.starts_with('…') && shown.ends_with('…')), "{shown:?}");
    let mut person = found("so flaky");
    assert!(drawn::words(&mut person).contains(&"so flaky".to_owned()));
}

/// The shown part ends before the second match.
#[test]
fn a_match_within_a_word_is_bold_and_what_is_beside_it_is_not() {
    let line = "a 'ZQ' and so on, for much longer than there is room for it, until ZQ comes once more";
    let mut person = found("so flaky");
    person.named(Named::Escape);
    person.control("k");
    let mut reply = reply("so flaky");
    let marks = line.match_indices("ZQ").map(|(at, _)| at as u32).map(|start| Span { start, end: start + 2 });
    reply.messages[0].line = Excerpt { text: line.to_owned(), marks: marks.collect() };
    person.tell(Message::Answered(request::search("flaky".into()), Ok(Reply::Search(reply))));
    let faces = narrow::faces(&mut person, "Z");
    let of = |letter: &str| faces.iter().find(|(known, _)| known == letter).map(|(_, face)| face).unwrap();
    assert_ne!(of("Z"), of("'"));
    assert_eq!(of("Z"), of("Q"));
    assert_eq!(of("'"), of("n"));
    let shown: String = faces.iter().map(|(letter, _)| letter.as_str()).collect();
    assert!(shown.starts_with("a ") && shown.ends_with('…') && shown.contains("so on"), "{shown}");
}

#[test]
fn what_was_found_is_marked_until_the_search_is_cleared() {
    for by_key in [true, false] {
        let mut person = found("so flaky");
        person.named(Named::ArrowDown);
        person.named(Named::Enter);
        let messages = vec![preset::said(2, Role::Agent, "The test is so flaky.")];
        let snapshot = Snapshot { conversations: vec![known()], messages, ..preset::empty() };
        person.conversation(snapshot);
        assert_eq!(drawn::marks(&mut person).len(), 1);
        if by_key {
            person.named(Named::Escape);
            person.named(Named::Escape);
        } else {
            person.clicks("Clear");
        }
        assert_eq!(drawn::marks(&mut person), [], "by key: {by_key}");
    }
}

/// A conversation that is found by its title, too, has a row above the messages.
#[test]
fn the_list_stays_where_a_found_message_was_picked() {
    let mut person = Person::before(Snapshot { conversations: vec![known()], ..preset::empty() });
    person.control("k");
    person.writes("flaky");
    let mut found = reply("so flaky");
    found.messages = (0..40).flat_map(|_| found.messages.clone()).collect();
    for query in ["fl", "flaky"] {
        person.tell(Message::Answered(request::search(query.into()), Ok(Reply::Search(found.clone()))));
    }
    assert!(person.finds("MESSAGES").is_some());
    person.wheels_over(Point::new(100.0, 400.0), -10.0);
    assert!(person.finds("MESSAGES").is_none());
    let hits = person.finds_all(TITLE);
    let lowest = hits.iter().filter(|at| at.x < 100.0).max_by(|a, b| a.y.total_cmp(&b.y)).expect("a message");
    person.clicks_at(lowest.center());
    assert_eq!(person.app.conversation().map(|open| open.id()), Some(CONVERSATION));
    assert!(person.finds("MESSAGES").is_none());
}

#[test]
fn the_keyboard_comes_back_when_a_search_is_cleared() {
    let question = Pending::Question(preset::question());
    let mut person = Person::opened(Status::WaitingUser, &[question], preset::history());
    person.control("k");
    person.writes("fl");
    person.named(Named::Escape);
    person.named(Named::Escape);
    person.asked();
    person.writes("in May");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::answer(TASK, QUESTION, Some("in May".into()))]);
}
