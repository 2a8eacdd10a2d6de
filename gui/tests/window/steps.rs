//! Steps and failed model calls in the timeline.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::{
    Update,
    protocol::{
        Seq, Timestamp,
        event::{EndedEvent, Event, EventKind, ModelFailedEvent, StepEvent},
        message::{Message as Said, MessageKind, Role},
        notification::{DeltaItem, DeltaKind, Partial, Snapshot},
        record::ModelErrorKind,
        task::{EndReason, Retry, Status},
    },
};
use abide_gui::Message;

fn before(history: Snapshot) -> Person {
    Person::opened(Status::Thinking, &[], history)
}

fn failed(seq: u64, retry_in: i64) -> Event {
    let kind = EventKind::ModelFailed(ModelFailedEvent {
        kind: ModelErrorKind::Network,
        message: "connection refused".into(),
        retry_at: Some(Timestamp(preset::NOW.0 + retry_in)),
    });
    Event { seq: Seq(seq), task_id: Some(TASK), at: preset::NOW, kind }
}

#[test]
fn repeated_failures_of_a_model_are_one_line() {
    let events: Vec<Event> = (1..=9).map(|n| failed(10 + n, 8000)).collect();
    let (overview, mut snapshot) =
        preset::waits(Status::Thinking, &[], Snapshot { events, ..preset::history() });
    snapshot.tasks[0].retry = Some(Retry {
        attempt: 10,
        of: 12,
        kind: ModelErrorKind::Network,
        reason: "connection refused.".into(),
        next_at: Timestamp(preset::NOW.0 + 8000),
    });
    let mut person = Person::before(overview);
    person.open(CONVERSATION, snapshot.clone());
    let lines = |person: &Person| {
        let text = person.app.conversation().unwrap().as_text();
        text.lines().filter(|line| line.contains("connection refused")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&person), [] as [&str; 0], "a call that is tried again is not shown as ended");
    assert!(person.finds("Attempt 10 of 12 in 8 s: connection refused").is_some());
    person.wait(3000);
    assert!(person.finds("Attempt 10 of 12 in 5 s: connection refused").is_some());
    person.wait(6000);
    let under_way = "Attempt 10 of 12 is under way. Before: connection refused";
    assert!(person.finds(under_way).is_some());
    assert_eq!(lines(&person), [] as [&str; 0], "the line at the end says why");
    snapshot.partials = vec![piece(DeltaKind::Text, "That explains it.")];
    person.conversation(snapshot.clone());
    assert!(person.finds(under_way).is_none() && person.finds("Writing").is_some());
    assert_eq!(lines(&person), ["the model failed 9 times: connection refused"], "above the reply");
    snapshot.tasks[0].retry = None;
    person.conversation(snapshot);
    assert_eq!(lines(&person), ["the model failed 9 times: connection refused"]);
}

/// What to do about a failure comes at the end of its message.
#[test]
fn the_remedy_of_a_failed_model_call_is_not_cut() {
    let address = "a-long-name.".repeat(9);
    let message = format!(
        "local: nobody listens at http://{address}/v1 (connection refused); start the server there, or correct its base_url"
    );
    let mut event = failed(11, 8000);
    if let EventKind::ModelFailed(failed) = &mut event.kind {
        failed.message.clone_from(&message);
    }
    let (overview, mut snapshot) =
        preset::waits(Status::Thinking, &[], Snapshot { events: vec![event], ..preset::history() });
    let mut person = Person::before(overview);
    person.resizes(640.0, 600.0);
    person.open(CONVERSATION, snapshot.clone());
    assert!(person.finds_whole(&format!("the model failed: {message}")), "{:?}", person.texts());
    let (kind, next_at) = (ModelErrorKind::Network, Timestamp(preset::NOW.0 + 8000));
    snapshot.tasks[0].retry = Some(Retry { attempt: 2, of: 5, kind, reason: message.repeat(2), next_at });
    person.conversation(snapshot);
    assert!(
        person.finds_whole(&format!("Attempt 2 of 5 in 8 s: {message}{message}")),
        "{:?}",
        person.texts()
    );
}

#[test]
fn consecutive_calls_form_one_group() {
    let step = |seq, step| Event {
        seq: Seq(seq),
        task_id: Some(TASK),
        at: preset::NOW,
        kind: EventKind::StepBegan(StepEvent { step }),
    };
    let calls =
        vec![preset::call(3, "read", "a"), preset::call(5, "read", "b"), preset::call(7, "read", "c")];
    let events = vec![step(2, 2), step(4, 3), step(6, 4), step(8, 5)];
    let messages = vec![preset::said(1, Role::User, "Go."), preset::said(9, Role::Agent, "Read.")];
    let person = before(Snapshot { messages, calls, events, ..preset::empty() });
    let text = person.app.conversation().unwrap().as_text();
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("STEP")).collect();
    assert_eq!(
        heads,
        ["STEP 2", "STEP 5"],
        "a heading is above the calls, and one above the text after them"
    );
}

/// Otherwise the head would be pushed in above text that is being read.
#[test]
fn a_reply_under_way_stands_below_the_head_of_its_step() {
    let step = EventKind::StepBegan(StepEvent { step: 2 });
    let began = Event { seq: Seq(3), task_id: Some(TASK), at: preset::NOW, kind: step };
    let history = Snapshot {
        messages: vec![preset::said(1, Role::User, "Go.")],
        calls: vec![preset::call(2, "read", "a")],
        events: vec![began],
        ..preset::empty()
    };
    let mut person = before(history.clone());
    assert!(person.finds("STEP 2").is_none(), "nothing is under it yet");
    for text in ["That explains", " it.", "\n\nAnd more."] {
        let offset = u64::from(text != "That explains") * 13 + u64::from(text.starts_with('\n')) * 4;
        let said = Update::Notification(preset::delta(offset, text));
        person.tell(Message::Conversation(CONVERSATION, vec![said]));
        assert!(person.finds("STEP 2").is_some(), "{text:?}: {:?}", person.texts());
    }
    let mut y = |text: &str| person.finds(text).unwrap().y;
    assert!(y("STEP 2") < y("That explains it."));
    let mut messages = history.messages.clone();
    messages.push(preset::said(4, Role::Agent, "That explains it."));
    let whole = Update::Snapshot(Box::new(Snapshot { messages, ..history }));
    person.tell(Message::Conversation(CONVERSATION, vec![whole]));
    assert_eq!(person.finds_all("STEP 2").len(), 1);
}

/// A task that has failed with this message after `attempts`, as the daemon records it.
fn ended_by(reason: &str, attempts: u64) -> Person {
    let at = |seq, kind| Event { seq: Seq(seq), task_id: Some(TASK), at: preset::NOW, kind };
    let attempt = |n| {
        let retry_at = (n < attempts).then_some(Timestamp(preset::NOW.0 + 1000));
        let kind = ModelErrorKind::Unreachable;
        at(10 + n, EventKind::ModelFailed(ModelFailedEvent { kind, message: reason.into(), retry_at }))
    };
    let mut events: Vec<Event> = (1..=attempts).map(attempt).collect();
    let ended = EndedEvent { reason: EndReason::Error, summary: None, error: Some(reason.into()) };
    events.push(at(90, EventKind::TaskEnded(ended)));
    let mut messages = vec![preset::said(1, Role::User, "Go.")];
    messages.push(Said { kind: MessageKind::Notice, ..preset::said(80, Role::System, reason) });
    let (overview, mut snapshot) =
        preset::waits(Status::Error, &[], Snapshot { events, messages, ..preset::empty() });
    let task = &mut snapshot.tasks[0];
    task.end_reason = Some(EndReason::Error);
    task.ended_at = Some(preset::NOW);
    task.error_message = Some(reason.into());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, snapshot);
    person
}

#[test]
fn the_final_failure_of_a_model_is_shown_once() {
    let reason = "local: http://127.0.0.1:9 cannot be reached: connection refused";
    for attempts in [1, 3] {
        let mut person = ended_by(reason, attempts);
        let text = person.app.conversation().unwrap().as_text();
        assert_eq!(text.matches("cannot be reached").count(), 1, "{text}");
        assert!(person.finds(reason).is_some());
        assert_eq!(person.finds("the model failed 3 times").is_some(), attempts == 3);
    }
}

#[test]
fn a_model_call_interrupted_by_a_restart_is_not_shown_as_a_failure() {
    let at = |seq, kind| Event { seq: Seq(seq), task_id: Some(TASK), at: preset::NOW, kind };
    let interrupted = EventKind::ModelFailed(ModelFailedEvent {
        kind: ModelErrorKind::Interrupted,
        message: "The daemon stopped during this model call.".into(),
        retry_at: Some(preset::NOW),
    });
    let events = vec![at(10, EventKind::Restarted), at(11, interrupted)];
    let person = before(Snapshot { events, ..preset::history() });
    let text = person.app.conversation().unwrap().as_text();
    assert!(text.contains("picked up after a restart of the daemon"), "{text}");
    assert!(!text.contains("failed") && !text.contains("daemon stopped"), "{text}");
}

#[test]
fn a_failure_and_its_reason_are_one_sentence() {
    let mut event = failed(10, 8000);
    if let EventKind::ModelFailed(failed) = &mut event.kind {
        failed.message = "The provider is overloaded (503).".into();
    }
    let messages = vec![preset::said(1, Role::User, "Go."), preset::said(20, Role::Agent, "Gone.")];
    let person = before(Snapshot { messages, events: vec![event], ..preset::empty() });
    let text = person.app.conversation().unwrap().as_text();
    assert!(text.contains("the model failed: the provider is overloaded (503)\n"), "{text}");
}

/// The beginning of a reply that is being received.
fn piece(kind: DeltaKind, text: &str) -> Partial {
    Partial {
        conversation_id: CONVERSATION,
        task_id: TASK,
        item: DeltaItem::Reply(preset::REPLY),
        attempt: 1,
        kind,
        offset: 0,
        text: text.into(),
    }
}

#[test]
fn the_activity_line_says_writing_while_text_arrives() {
    let thought = piece(DeltaKind::Reasoning, "Why would it?");
    let mut person = before(Snapshot { partials: vec![thought.clone()], ..preset::history() });
    assert!(person.finds("Thinking").is_some() && person.finds("Writing").is_none());
    let said = piece(DeltaKind::Text, "That explains it.");
    let mut person = before(Snapshot { partials: vec![thought, said], ..preset::history() });
    assert!(person.finds("Writing").is_some() && person.finds("Thinking").is_none());
}

#[test]
fn the_limit_that_ended_a_task_is_shown_once() {
    for (reason, notice, words) in [
        (
            EndReason::StepLimit,
            "I have reached the maximum number of steps. Stopping here.",
            "Step limit reached",
        ),
        (EndReason::QuestionTimeout, "Nobody answered in time. Stopping here.", "Cancelled: no answer"),
    ] {
        let messages = vec![
            preset::said(1, Role::User, "Go."),
            Said { kind: MessageKind::Notice, ..preset::said(80, Role::System, notice) },
        ];
        let ended = EventKind::TaskEnded(EndedEvent { reason, summary: None, error: None });
        let events = vec![Event { seq: Seq(81), task_id: Some(TASK), at: preset::NOW, kind: ended }];
        let history = Snapshot { messages, events, ..preset::empty() };
        let (overview, mut snapshot) = preset::waits(reason.status(), &[], history);
        snapshot.tasks[0].end_reason = Some(reason);
        snapshot.tasks[0].ended_at = Some(preset::NOW);
        let mut person = Person::before(overview);
        person.open(CONVERSATION, snapshot);
        assert!(person.finds(words).is_some(), "{words}");
        assert!(person.finds(notice).is_none(), "{notice}");
    }
}
