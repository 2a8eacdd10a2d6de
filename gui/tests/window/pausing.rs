//! A pause that waits until what runs is finished: it is said, and can be taken back.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::{
    notification::Snapshot,
    task::{AgentTask, PauseReason, Status},
};
use abide_gui::request::Request;

/// A task with this status for which a person has pressed *Pause*.
fn pausing(status: Status) -> Person {
    let (overview, conversation) = preset::waits(status, &[], preset::history());
    let pause = |tasks: Vec<AgentTask>| {
        let pause = |task| AgentTask { pause_reason: Some(PauseReason::User), ..task };
        tasks.into_iter().map(pause).collect()
    };
    let overview = Snapshot { tasks: pause(overview.tasks), ..overview };
    let conversation = Snapshot { tasks: pause(conversation.tasks), ..conversation };
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person
}

#[test]
fn a_pause_that_waits_is_said_and_taken_back() {
    for (status, words, sentence) in [
        (Status::Thinking, "pauses after this reply", "Pauses after this reply"),
        (Status::ToolExecuting, "pauses after this call", "Pauses after this call"),
    ] {
        for by_key in [true, false] {
            let mut person = pausing(status);
            assert!(person.finds(words).is_some(), "{status:?}: in the list");
            assert!(person.finds(sentence).is_some(), "{status:?}: on the page");
            assert!(person.finds("Pause").is_none(), "{status:?}");
            if by_key {
                person.control("p");
            } else {
                person.clicks("Go on");
            }
            assert_eq!(person.asked(), [Request::Resume(TASK)], "{status:?}");
        }
    }
}
