//! A task that no person paused waits for one: it is among those that need the person, and says why and how
//! it goes on.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, NOW, TASK},
};
use abide_client::protocol::{
    Seq,
    event::{Event, EventKind},
    notification::Snapshot,
    task::{AgentTask, PauseReason, Status},
};
use abide_gui::{Message, keymap::Command, request::Request};
use iced_test::core::keyboard::{Key, Modifiers};

const WHY: &str = "Paused: the daemon ended three times while it worked";
const HOW: &str = "It goes on from where it was when you press Go on. Stop ends it.";

/// A person before the overview of a task that is paused for this reason.
fn paused(reason: PauseReason) -> (Person, Snapshot) {
    let (overview, conversation) = preset::waits(Status::Paused, &[], preset::history());
    let pause = |tasks: Vec<AgentTask>| {
        tasks.into_iter().map(|task| AgentTask { pause_reason: Some(reason), ..task }).collect()
    };
    let overview = Snapshot { tasks: pause(overview.tasks), ..overview };
    let pause_event = Event { seq: Seq(50), task_id: Some(TASK), at: NOW, kind: EventKind::Paused(reason) };
    let conversation =
        Snapshot { tasks: pause(conversation.tasks), events: vec![pause_event], ..conversation };
    (Person::before(overview), conversation)
}

#[test]
fn a_crash_loop_needs_the_person() {
    let (mut person, conversation) = paused(PauseReason::CrashLoop);
    assert!(person.finds("NEEDS YOU").is_some() && person.finds("PAUSED").is_none());
    assert_eq!(person.app.title(), "(1) Abide");
    assert!(person.finds("paused: the daemon ended three times while it worked").is_some(), "in the list");
    // It is on the page that has all that waits.
    person.control("i");
    assert!(person.finds(WHY).is_some() && person.finds("Open").is_some(), "in the inbox");
    person.control("i");
    person.press(Key::Character("j".into()), Modifiers::CTRL);
    person.tell(Message::Conversation(
        CONVERSATION,
        vec![abide_client::Update::Snapshot(Box::new(conversation))],
    ));
    assert_eq!(
        person.app.conversation().map(abide_gui::screen::conversation::Conversation::id),
        Some(CONVERSATION)
    );
    person.wait(1000);
    person.asked();
    assert!(person.finds_whole(WHY) && person.finds_whole(HOW), "{:?}", person.texts());
    person.clicks("Go on");
    assert_eq!(person.asked(), [Request::ResumeTask(TASK.into())]);
}

#[test]
fn a_pause_by_the_person_waits_for_nobody() {
    let (mut person, conversation) = paused(PauseReason::User);
    assert!(person.finds("NEEDS YOU").is_none() && person.finds("PAUSED").is_some());
    assert_eq!(person.app.title(), "Abide");
    person.tell(Message::Key(Command::Inbox));
    assert!(person.finds("Open").is_none());
    person.open(CONVERSATION, conversation);
    assert!(person.finds(HOW).is_none());
}
