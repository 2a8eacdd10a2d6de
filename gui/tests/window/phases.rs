//! The phases of a step in the timeline.

use crate::{
    drawn, finding,
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::{
    Seq,
    event::{EndedEvent, Event, EventKind, PhaseEvent, StartedEvent},
    message::{CallView, Message as Said, Role},
    notification::Snapshot,
    record::InstructionFile,
    task::{EndReason, Mode, Phase, Status},
};
use abide_gui::{Message, keymap::Command, theme};

const ANSWER: &str = "The clock is read twice; it is mended.";
const PLAN: &str = "First the failing test has to be found.\n\nThen its clock is looked at, line by line.";
const SEEN: &str = "Six of 50 runs fail.\n\nAll of them at the same line of the session.";

fn event(seq: u64, kind: EventKind) -> Event {
    Event { seq: Seq(seq), task_id: Some(TASK), at: preset::NOW, kind }
}

fn began(seq: u64, step: u32, phase: Phase) -> Event {
    event(seq, EventKind::PhaseBegan(PhaseEvent { step, phase }))
}

fn says(seq: u64, text: &str) -> Said {
    preset::said(seq, Role::Agent, text)
}

/// Two steps of mode `roa`; the second one has nothing to do in act.
fn two_steps() -> Snapshot {
    let messages = vec![
        preset::said(1, Role::User, "Mend login_test."),
        says(3, PLAN),
        says(7, SEEN),
        says(9, "The session reads the clock twice.\n\nNothing is left to run."),
    ];
    let calls = vec![preset::call(5, "read", "session.rs")];
    let events = vec![
        began(2, 1, Phase::Reason),
        began(4, 1, Phase::Act),
        began(6, 1, Phase::Observe),
        began(8, 2, Phase::Reason),
        began(10, 2, Phase::Act),
        began(11, 2, Phase::Observe),
    ];
    Snapshot { messages, calls, events, ..preset::empty() }
}

/// The same after its end: the last observation, then the answer.
fn answered() -> Snapshot {
    let mut snapshot = two_steps();
    snapshot.messages.extend([says(12, "All runs pass.\n\nNothing is left to do."), says(13, ANSWER)]);
    let ended = EndedEvent { reason: EndReason::Completed, summary: Some(ANSWER.to_owned()), error: None };
    snapshot.events.push(event(14, EventKind::TaskEnded(ended)));
    snapshot
}

fn before(status: Status, phase: Option<Phase>, history: Snapshot) -> Person {
    let (overview, mut snapshot) = preset::waits(status, &[], history);
    let task = &mut snapshot.tasks[0];
    (task.mode, task.phase) = (Mode::Roa, phase);
    if status.has_ended() {
        task.end_reason = Some(EndReason::Completed);
        task.ended_at = Some(preset::NOW);
        task.summary = Some(ANSWER.to_owned());
    }
    let mut person = Person::before(overview);
    person.open(CONVERSATION, snapshot);
    person
}

fn heads(person: &Person) -> Vec<String> {
    let names = ["reason", "act", "observe", "plan"];
    let text = person.app.conversation().unwrap().as_text();
    let is_head = |line: &&str| line.starts_with("STEP") || names.contains(&&*line.to_lowercase());
    text.lines().filter(is_head).map(str::to_owned).collect()
}

#[test]
fn a_step_has_one_head_and_a_word_for_each_phase_that_has_something() {
    let person = before(Status::Thinking, Some(Phase::Observe), two_steps());
    assert_eq!(heads(&person), ["reason", "act", "observe", "STEP 2", "reason"]);
}

#[test]
fn a_phase_that_was_skipped_leaves_no_head() {
    let person = before(Status::Completed, None, answered());
    assert_eq!(heads(&person), ["reason", "act", "observe", "STEP 2", "reason", "observe"]);
}

/// If reason shows no text, the step still has its head.
#[test]
fn a_step_without_words_at_reason_begins_with_act() {
    let mut snapshot = two_steps();
    snapshot.messages.truncate(3);
    snapshot.calls.push(CallView { seq: Seq(11), ..preset::call(11, "read", "clock.rs") });
    snapshot.events.truncate(5);
    let person = before(Status::Thinking, Some(Phase::Act), snapshot);
    assert_eq!(heads(&person), ["reason", "act", "observe", "STEP 2", "act"]);
}

/// Its only phase needs no name.
#[test]
fn a_step_of_a_plan_has_one_head() {
    let messages = vec![preset::said(1, Role::User, "Go."), says(3, "I read it."), says(5, "I run it.")];
    let events = vec![began(2, 1, Phase::Plan), began(4, 2, Phase::Plan)];
    let person =
        before(Status::Thinking, Some(Phase::Plan), Snapshot { messages, events, ..preset::empty() });
    assert_eq!(heads(&person), ["STEP 2"]);
}

#[test]
fn the_newest_text_of_a_phase_is_open_and_earlier_ones_show_their_first_line() {
    let mut person = before(Status::Thinking, Some(Phase::Observe), two_steps());
    for line in ["First the failing test has to be found.", "Six of 50 runs fail."] {
        assert!(person.finds(line).is_some(), "{line}");
    }
    for line in ["Then its clock is looked at, line by line.", "All of them at the same line of the session."]
    {
        assert!(person.finds(line).is_none(), "{line}");
    }
    assert!(person.finds("Nothing is left to run.").is_some());
    person.clicks("Six of 50 runs fail.");
    assert!(person.finds("All of them at the same line of the session.").is_some());
    person.tell(Message::Key(Command::ToggleDetails));
    assert!(person.finds("Then its clock is looked at, line by line.").is_some());
}

/// It is one row, however long it is, since it can be folded.
#[test]
fn a_match_in_a_very_long_text_of_a_phase_is_seen() {
    let mut snapshot = two_steps();
    snapshot.messages[2].text = format!("Runs.\n\n{}The needle.", "Hay.\n\n".repeat(2000));
    let mut person = before(Status::Thinking, Some(Phase::Observe), snapshot);
    person.wait(1000);
    person.control("f");
    person.writes("needle");
    finding::answers(&mut person, "ne", &[7]);
    finding::answers(&mut person, "needle", &[7]);
    assert!(drawn::found(&mut person).is_some());
}

/// A text of one line has nothing to open.
#[test]
fn a_text_of_a_phase_can_be_closed_if_it_has_more_than_a_line() {
    let mut snapshot = two_steps();
    snapshot.messages[1].text = "Look at the clock.".to_owned();
    let mut person = before(Status::Thinking, Some(Phase::Observe), snapshot);
    assert!(person.finds("Look at the clock.").is_some());
    let has_sign = |person: &mut Person, line: &str, sign: &str| {
        let line = person.finds(line).unwrap();
        person.finds_all(sign).iter().any(|sign| (sign.center_y() - line.center_y()).abs() < 8.0)
    };
    assert!(
        !has_sign(&mut person, "Look at the clock.", "+")
            && !has_sign(&mut person, "Look at the clock.", "−")
    );
    assert!(has_sign(&mut person, "Six of 50 runs fail.", "+"));
    person.clicks("−");
    assert!(person.finds("Nothing is left to run.").is_none());
    assert!(person.finds("The session reads the clock twice.").is_some());
}

#[test]
fn the_answer_is_stronger_than_what_led_to_it() {
    let mut person = before(Status::Completed, None, answered());
    person.unfolds();
    let tokens = *theme::tokens(&person.app.theme());
    let ink = |person: &mut Person, text: &str| {
        let at = person.finds(text).unwrap();
        drawn::ink(person, at)
    };
    assert_eq!(ink(&mut person, ANSWER), Some(tokens.text));
    assert_eq!(ink(&mut person, "Nothing is left to do."), Some(tokens.muted));
    assert_eq!(ink(&mut person, "Six of 50 runs fail."), Some(tokens.muted));
    // An observation that is the answer itself is not said again by the daemon.
    let mut snapshot = answered();
    snapshot.messages.truncate(4);
    snapshot.messages.push(says(12, ANSWER));
    let mut person = before(Status::Completed, None, snapshot);
    person.unfolds();
    assert_eq!(person.finds_all(ANSWER).len(), 1);
    assert_eq!(ink(&mut person, ANSWER), Some(tokens.text));
    assert_eq!(heads(&person), ["reason", "act", "observe", "STEP 2", "reason"]);
}

#[test]
fn the_activity_line_names_the_phase() {
    let phases = [
        (Some(Phase::Reason), "Reasoning"),
        (Some(Phase::Act), "Acting"),
        (Some(Phase::Observe), "Observing"),
        (Some(Phase::Plan), "Planning"),
        (None, "Thinking"),
    ];
    for (phase, words) in phases {
        let mut person = before(Status::Thinking, phase, two_steps());
        assert!(person.finds(words).is_some(), "{words}");
    }
}

/// A failed attempt is not shown while the next one is awaited, and neither are the heads above it.
#[test]
fn a_phase_whose_call_is_tried_again_has_no_head_yet() {
    use abide_client::protocol::{Timestamp, event::ModelFailedEvent, record::ModelErrorKind, task::Retry};
    let mut history = two_steps();
    history.messages.truncate(3);
    history.events.truncate(4);
    let (kind, next_at) = (ModelErrorKind::Network, Timestamp(preset::NOW.0 + 8000));
    let reason = "connection refused".to_owned();
    let failed = ModelFailedEvent { kind, message: reason.clone(), retry_at: Some(next_at) };
    history.events.push(event(9, EventKind::ModelFailed(failed)));
    let (overview, mut snapshot) = preset::waits(Status::Thinking, &[], history);
    snapshot.tasks[0].retry = Some(Retry { attempt: 2, of: 5, kind, reason, next_at });
    let mut person = Person::before(overview);
    person.open(CONVERSATION, snapshot);
    assert_eq!(heads(&person), ["reason", "act", "observe"]);
    let mut later = answered();
    later.events.push(event(9, EventKind::Restarted));
    person.conversation(later);
    person.unfolds();
    assert_eq!(person.finds_all("STEP 2").len(), 1);
}

#[test]
fn a_task_names_its_persona_and_the_notes_of_the_repository_below_its_prompt() {
    let started = |persona: Option<&str>, notes: &[(&str, u64)]| {
        let file = |(path, bytes): &(&str, u64)| InstructionFile {
            path: (*path).to_owned(),
            bytes: *bytes,
            sha256: String::new(),
        };
        EventKind::TaskStarted(StartedEvent {
            parent_id: None,
            mode: Mode::Roa,
            model: "local/smollm2".to_owned(),
            persona: persona.map(str::to_owned),
            instructions: notes.iter().map(file).collect(),
        })
    };
    for (kind, words) in [
        (
            started(None, &[("AGENTS.md", 1025), ("web/AGENTS.md", 40)]),
            Some("AGENTS.md (2 KiB) · web/AGENTS.md (40 bytes)"),
        ),
        (started(Some("reviewer"), &[("AGENTS.md", 1)]), Some("persona reviewer · AGENTS.md (1 byte)")),
        (started(None, &[("a\x1b[2K/AGENTS.md", 1)]), Some("a\\x1b[2K/AGENTS.md (1 byte)")),
        (started(None, &[]), None),
    ] {
        let mut history = two_steps();
        history.events.insert(0, event(0, kind));
        let mut person = before(Status::Thinking, Some(Phase::Observe), history);
        let prompt = person.finds("Mend login_test.").unwrap();
        match words {
            Some(words) => {
                let place = person.finds(words).unwrap_or_else(|| panic!("{:?}", person.texts()));
                let head = person.finds("reason").unwrap();
                assert!(place.y > prompt.y && place.y < head.y, "{prompt:?} {place:?} {head:?}");
                assert!(person.app.conversation().unwrap().as_text().contains(words));
            }
            None => assert!(person.texts().iter().all(|text| !text.contains("AGENTS.md"))),
        }
    }
}
