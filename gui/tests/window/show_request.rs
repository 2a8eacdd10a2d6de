//! What other processes want the window to show.

use crate::{person::Person, preset};
use abide_client::protocol::{
    ConversationId, ErrorKind,
    notification::Snapshot,
    task::{AgentTask, Status},
};
use abide_client::protocol::{
    conversation::Conversation,
    method::conversation::{ConversationParams, ConversationReply},
};
use abide_gui::{
    Message,
    app::Page,
    arguments::ShowRequest,
    daemon::Failure,
    request::{Reply, Request},
};
use iced::advanced::subscription::{Hasher, Recipe, into_recipes};
use std::{collections::BTreeSet, hash::Hasher as _};
use uuid::Uuid;

/// The id of no conversation in the list.
const OTHER: ConversationId = ConversationId(Uuid::from_u128(0x4d));

/// A window whose list has the conversation of one task.
fn window() -> (Person, AgentTask) {
    let task = preset::task(Status::Thinking);
    let conversations = vec![preset::conversation(&task)];
    let person = Person::before(Snapshot { conversations, ..preset::empty() });
    drop(person.asked());
    (person, task)
}

fn wants(person: &mut Person, id: &str) {
    person.tell(Message::ShowRequested(ShowRequest::Conversation(id.to_owned())));
}

fn asks(name: String) -> Request {
    Request::GetConversation(ConversationParams { conversation_id: name })
}

fn found() -> Reply {
    let known = preset::conversation(&preset::task(Status::Thinking));
    Reply::GetConversation(ConversationReply { conversation: Conversation { id: OTHER, ..known } })
}

fn refused(kind: ErrorKind, message: &str) -> Result<Reply, Failure> {
    Err(Failure { message: message.to_owned(), kind: Some(kind) })
}

#[test]
fn a_conversation_of_the_list_is_shown_at_once_over_all_that_covers_the_page() {
    let (mut person, task) = window();
    person.letter("?");
    assert!(person.finds("open or close all details").is_some(), "the help covers the page");
    wants(&mut person, &task.conversation_id.to_string());
    assert_eq!(person.app.page(), Page::Conversation);
    assert_eq!(person.app.conversation().unwrap().id(), task.conversation_id);
    assert!(person.finds("open or close all details").is_none());
    assert_eq!(person.asked(), []);
    person.tell(Message::ShowRequested(ShowRequest::Inbox));
    assert_eq!(person.app.page(), Page::Inbox);
    person.tell(Message::ShowRequested(ShowRequest::Inbox));
    assert_eq!(person.app.page(), Page::Inbox, "unlike the key, it does not leave the inbox");
    person.tell(Message::ShowRequested(ShowRequest::Window));
    assert_eq!(person.app.page(), Page::Inbox);
}

#[test]
fn the_daemon_is_asked_for_any_other_conversation() {
    let (mut person, _) = window();
    let request = asks("0000004d".to_owned());
    wants(&mut person, "0000004d");
    assert_eq!(person.asked(), std::slice::from_ref(&request));
    assert_eq!(person.app.page(), Page::NewConversation);
    person.tell(Message::Answered(request, Ok(found())));
    assert_eq!(person.app.conversation().unwrap().id(), OTHER);
}

#[test]
fn an_unknown_conversation_is_named_and_nothing_else_changes() {
    let (mut person, task) = window();
    wants(&mut person, &task.conversation_id.to_string());
    let name = OTHER.to_string();
    wants(&mut person, &name);
    let gone = refused(ErrorKind::NotFound, "there is no conversation");
    person.tell(Message::Answered(asks(name.clone()), gone));
    let words = format!("There is no conversation {name}. It may have been deleted.");
    assert!(person.finds(&words).is_some(), "{:?}", person.texts());
    assert_eq!(person.app.conversation().unwrap().id(), task.conversation_id);
    wants(&mut person, "0");
    let many = refused(ErrorKind::Ambiguous, "\"0\" fits more than one conversation");
    person.tell(Message::Answered(asks("0".to_owned()), many));
    let words = "The conversation 0 cannot be shown: \"0\" fits more than one conversation.";
    assert!(person.finds(words).is_some(), "{:?}", person.texts());
}

#[test]
fn an_answer_about_an_older_wish_is_dropped() {
    let (mut person, task) = window();
    wants(&mut person, &OTHER.to_string());
    wants(&mut person, &task.conversation_id.to_string());
    let late = asks(OTHER.to_string());
    person.tell(Message::Answered(late, Ok(found())));
    assert_eq!(person.app.conversation().unwrap().id(), task.conversation_id);
}

#[test]
fn a_wish_for_the_window_alone_takes_no_earlier_one_back() {
    let (mut person, _) = window();
    wants(&mut person, &OTHER.to_string());
    person.tell(Message::ShowRequested(ShowRequest::Window));
    let answered = asks(OTHER.to_string());
    person.tell(Message::Answered(answered, Ok(found())));
    assert_eq!(person.app.conversation().unwrap().id(), OTHER);
}

/// Requests may come faster than the window looks at which subscriptions it needs.
#[test]
fn a_conversation_that_was_left_and_is_shown_again_is_subscribed_anew() {
    let subscribed = |person: &Person| -> BTreeSet<u64> {
        let hash = |recipe: Box<dyn Recipe<Output = Message>>| {
            let mut state = Hasher::default();
            recipe.hash(&mut state);
            state.finish()
        };
        into_recipes(person.app.subscription()).into_iter().map(hash).collect()
    };
    let (mut person, task) = window();
    wants(&mut person, &task.conversation_id.to_string());
    let before = subscribed(&person);
    assert_eq!(subscribed(&person), before);
    // Left, and shown again before the window looked.
    person.control("n");
    wants(&mut person, &task.conversation_id.to_string());
    let after = subscribed(&person);
    assert_eq!(after.difference(&before).count(), 1, "its new view has no snapshot");
}
