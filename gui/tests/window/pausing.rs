//! A pending pause, which waits for the running attempt: it is shown, and can be withdrawn.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, NOW, TASK},
};
use abide_client::protocol::{
    Seq, Timestamp,
    event::{Event, EventKind, ModelFailedEvent, StepEvent},
    message::{CallView, Message as Said, MessageKind, Role},
    notification::Snapshot,
    record::ModelErrorKind,
    task::{ActiveCall, AgentTask, CallState, EndReason, Mode, PauseReason, Status},
};
use abide_gui::request::Request;
use iced_test::core::keyboard::key::Named;

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
fn a_pending_pause_is_shown_and_can_be_withdrawn() {
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
                person.named(Named::Escape);
                person.control("p");
            } else {
                person.clicks("Go on");
            }
            assert_eq!(person.asked(), [Request::ResumeTask(TASK.into())], "{status:?}");
        }
    }
}

/// They stand above the reply that is under way.
#[test]
fn words_that_the_agent_has_not_read_are_named() {
    let step = Event {
        seq: Seq(94),
        task_id: Some(TASK),
        at: NOW,
        kind: EventKind::StepBegan(StepEvent { step: 6 }),
    };
    let comment = Said { kind: MessageKind::Intervention, ..preset::said(95, Role::User, "Mind the gap.") };
    let reply = preset::said(96, Role::Agent, "I look.");
    let next = Event { seq: Seq(97), ..step.clone() };
    let failed =
        ModelFailedEvent { kind: ModelErrorKind::Network, message: "reset".into(), retry_at: Some(NOW) };
    let failed = Event { kind: EventKind::ModelFailed(failed), ..next.clone() };
    for (events, mode, is_named) in [
        (vec![step.clone()], Mode::Agent, true),
        // A chat makes one more request for them.
        (vec![step.clone()], Mode::Chat, true),
        (vec![step.clone(), next], Mode::Agent, false),
        // The next attempt has the words.
        (vec![step, failed], Mode::Agent, false),
    ] {
        let mut history = preset::history();
        history.messages.extend([comment.clone(), reply.clone()]);
        history.events.extend(events.clone());
        let (overview, conversation) = preset::waits(Status::Thinking, &[], history);
        let tasks =
            |tasks: Vec<AgentTask>| tasks.into_iter().map(|task| AgentTask { mode, ..task }).collect();
        let mut person = Person::before(Snapshot { tasks: tasks(overview.tasks), ..overview });
        person.open(CONVERSATION, Snapshot { tasks: tasks(conversation.tasks), ..conversation });
        assert_eq!(person.finds("Has not read your words yet").is_some(), is_named, "{mode:?} {events:?}");
    }
}

/// Beside a long command the words of the pause keep their room.
#[test]
fn a_pending_pause_is_one_line() {
    for width in [1280.0, 640.0, 500.0] {
        let (overview, conversation) = preset::waits(Status::ToolExecuting, &[], preset::history());
        let pause = |tasks: Vec<AgentTask>| {
            let call = ActiveCall {
                call_id: preset::call(9, "shell", "").call_id,
                tool: "shell".into(),
                summary: "cargo test --workspace --all-features -- --nocapture a_rather_long_name_of_a_test"
                    .into(),
                state: CallState::Running,
                started_at: Some(NOW),
                attempt: 1,
            };
            let pause = |task| AgentTask {
                pause_reason: Some(PauseReason::User),
                active_calls: vec![call.clone()],
                ..task
            };
            tasks.into_iter().map(pause).collect()
        };
        let mut person = Person::before(Snapshot { tasks: pause(overview.tasks), ..overview });
        person.resizes(width, 600.0);
        person.open(CONVERSATION, Snapshot { tasks: pause(conversation.tasks), ..conversation });
        person.wait(1000);
        let at = person.finds("Pauses after this call").unwrap();
        assert!(at.height < 24.0, "{width}: {at:?}");
    }
}

#[test]
fn the_timeline_shows_no_pending_pause() {
    let mut person = pausing(Status::ToolExecuting);
    for (status, end_reason, is_told) in [
        (Status::ToolExecuting, None, false),
        (Status::Thinking, None, false),
        (Status::Paused, None, true),
        (Status::Cancelled, Some(EndReason::Stopped), false),
    ] {
        let pause = EventKind::Paused(PauseReason::User);
        let pause = Event { seq: Seq(50), task_id: Some(TASK), at: NOW, kind: pause };
        let pause_reason = (!status.has_ended()).then_some(PauseReason::User);
        let task = AgentTask { pause_reason, end_reason, ..preset::task(status) };
        let snapshot = Snapshot { tasks: vec![task], events: vec![pause], ..preset::history() };
        person.conversation(snapshot);
        // The list also shows the task's activity.
        let told = person.finds_all("paused").into_iter().any(|at| at.x > 400.0);
        assert_eq!(told, is_told, "{status:?}");
    }
}

/// The lines of the pause and of its end would suggest that the task had been paused.
#[test]
fn a_withdrawn_pause_leaves_no_lines_in_the_timeline() {
    let at =
        |seq, ms: i64, kind| Event { seq: Seq(seq), task_id: Some(TASK), at: Timestamp(NOW.0 + ms), kind };
    let paused = at(50, 1000, EventKind::Paused(PauseReason::User));
    let resumed = at(51, 2000, EventKind::Resumed(PauseReason::User));
    let step = at(52, 2000, EventKind::StepBegan(StepEvent { step: 6 }));
    let reply = preset::said(53, Role::Agent, "A reply.");
    let call = |ended: Option<i64>| CallView {
        started_at: Some(NOW),
        ended_at: ended.map(|ms| Timestamp(NOW.0 + ms)),
        ..preset::call(49, "shell", "sleep 2")
    };
    let told = |calls: Vec<CallView>, messages: Vec<Said>, events: Vec<Event>, status| {
        let events = [paused.clone(), resumed.clone()].into_iter().chain(events).collect();
        let snapshot = Snapshot { calls, messages, events, ..preset::empty() };
        let person = Person::opened(status, &[], snapshot);
        let text = person.app.conversation().unwrap().as_text();
        (text.contains("paused"), text.contains("goes on"))
    };
    let begun = || vec![step.clone()];
    assert_eq!(told(vec![call(Some(1500))], vec![], begun(), Status::Thinking), (true, true));
    assert_eq!(told(vec![call(Some(2500))], vec![], begun(), Status::Thinking), (false, false));
    assert_eq!(told(vec![call(None)], vec![], vec![], Status::ToolExecuting), (false, false));
    assert_eq!(told(vec![], vec![reply.clone()], begun(), Status::Thinking), (true, true));
    assert_eq!(told(vec![], vec![reply], vec![], Status::Thinking), (false, false));
    assert_eq!(told(vec![], vec![], vec![], Status::Thinking), (false, false));
}
