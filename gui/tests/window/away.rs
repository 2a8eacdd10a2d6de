//! The window while the daemon is disconnected, and error messages.

use crate::{
    person::Person,
    preset::{self, APPROVAL, CONVERSATION},
};
use abide_client::{
    Update,
    protocol::{inbox::Decision, notification::Snapshot, task::Status},
};
use abide_gui::{
    Message,
    daemon::Failure,
    keymap::Command,
    request::{self},
};

fn before(history: Snapshot) -> Person {
    Person::opened(Status::Thinking, &[], history)
}

#[test]
fn durations_stand_still_while_the_daemon_is_disconnected() {
    let mut person = before(preset::history());
    person.wait(2000);
    assert!(person.finds("1 min 35 s").is_some());
    let lost = || Update::Disconnected { reason: "the connection is closed".into() };
    person.tell(Message::Overview(vec![lost()]));
    person.tell(Message::Conversation(CONVERSATION, vec![lost()]));
    person.wait(60_000);
    assert!(person.finds("1 min 35 s").is_some());
}

#[test]
fn what_worked_is_called_last_seen_while_the_daemon_is_away() {
    let mut person = before(preset::history());
    assert!(person.finds("When last seen:").is_none());
    let lost = || Update::Disconnected { reason: "the connection is closed".into() };
    person.tell(Message::Overview(vec![lost()]));
    person.tell(Message::Conversation(CONVERSATION, vec![lost()]));
    for words in ["When last seen:", "last seen: working"] {
        assert!(person.finds(words).is_some(), "{words}: {:?}", person.texts());
    }
}

#[test]
fn an_error_stays_on_its_page() {
    let mut person = before(preset::history());
    let request = request::decide(APPROVAL, Decision::AllowOnce, None, None);
    let failure = Failure { message: "It is not there any more.".into(), kind: None };
    person.tell(Message::Answered(request, Err(failure)));
    assert!(person.finds("It is not there any more.").is_some());
    person.tell(Message::Key(Command::Inbox));
    assert!(person.finds("It is not there any more.").is_none());
}
