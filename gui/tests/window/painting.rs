//! Only what has changed is repainted. After each step of a long run the window has to look as if all of it
//! had been repainted.

use crate::{
    display::{Display, save},
    person::Person,
    preset::{self, CONVERSATION, REPLY, TASK},
};
use abide_client::protocol::{
    QuestionId, Seq, Timestamp,
    event::{Event, EventKind, StepEvent},
    inbox::{Pending, Question},
    message::Role,
    notification::{DeltaItem, DeltaKind, Partial, Snapshot},
    task::{CallState, EndReason, Status},
};
use iced_test::core::Rectangle;
use iced_tiny_skia::{Layer, graphics::damage};
use std::time::{Duration, Instant};

const WIDTH: u32 = 900;
const HEIGHT: u32 = 600;

/// The areas in which two pictures differ by more than rounding.
fn differing(shown: &tiny_skia::Pixmap, meant: &tiny_skia::Pixmap) -> Option<(u32, u32, u32, u32, usize)> {
    let mut found: Option<(u32, u32, u32, u32, usize)> = None;
    for (n, (shown, meant)) in (0_u32..).zip(shown.data().chunks(4).zip(meant.data().chunks(4))) {
        if shown.iter().zip(meant).any(|(shown, meant)| shown.abs_diff(*meant) > 40) {
            let (x, y) = (n % WIDTH, n / WIDTH);
            let (left, top, right, bottom, count) = found.unwrap_or((x, y, x, y, 0));
            found = Some((left.min(x), top.min(y), right.max(x), bottom.max(y), count + 1));
        }
    }
    found
}

struct Run {
    person: Person,
    display: Display,
    snapshot: Snapshot,
    wrong: Vec<String>,
    scale: f32,
}

impl Run {
    fn step(&mut self, what: &str) {
        let snapshot = self.snapshot.clone();
        self.person.conversation(snapshot);
        self.look(what);
    }

    fn look(&mut self, what: &str) {
        self.display.present(&mut self.person);
        let mut whole = Display::scaled(WIDTH, HEIGHT, self.scale);
        whole.present(&mut self.person);
        if let Some(at) = differing(&self.display.pixels, &whole.pixels) {
            if let Some(folder) = std::env::var_os("ABIDE_TEST_PICTURES") {
                let folder = std::path::PathBuf::from(folder);
                let name = format!("{:03}-{}", self.wrong.len(), what.replace(' ', "-"));
                save(&self.display.pixels, &folder.join(format!("{name}-shown.png")));
                save(&whole.pixels, &folder.join(format!("{name}-meant.png")));
            }
            self.wrong.push(format!("{what}: {at:?}"));
        }
    }
}

fn run() -> Run {
    run_of(Status::Thinking)
}

fn run_of(status: Status) -> Run {
    run_at(status, 1.0)
}

/// With so many pixels for a logical one.
fn run_at(status: Status, scale: f32) -> Run {
    let (overview, snapshot) = preset::waits(status, &[], preset::history());
    let mut person = Person::before(overview);
    person.resizes(900.0 / scale, 600.0 / scale);
    person.open(CONVERSATION, snapshot.clone());
    let display = Display::scaled(WIDTH, HEIGHT, scale);
    Run { person, display, snapshot, wrong: Vec::new(), scale }
}

/// Rows of one height, whose words have one width.
#[test]
fn rows_that_move_up_by_one_are_repainted() {
    let mut run = run();
    for n in 0..44 {
        run.snapshot.calls.push(preset::call(10 + n, "read", &format!("notes-{n:03}.txt")));
        run.step("one more");
    }
    assert!(run.wrong.is_empty(), "{} of them: {:#?}", run.wrong.len(), run.wrong);
}

#[test]
fn after_each_step_of_a_long_run_the_window_is_fully_painted() {
    let mut run = run();
    let mut seq = 10;
    let mut next = || {
        seq += 1;
        seq
    };
    for n in 0..4_u32 {
        run.snapshot.tasks[0].step_count = n + 2;
        run.snapshot.tasks[0].usage.input += 1000;
        let step = EventKind::StepBegan(StepEvent { step: n + 2 });
        let began = Event { seq: Seq(next()), task_id: Some(TASK), at: preset::NOW, kind: step };
        run.snapshot.events.push(began);
        run.step("a step begins");
        let words = ["You may ", "close this window; ", "it goes on. ", "Look at `session.rs` next."];
        let mut said = String::new();
        for word in words {
            said.push_str(word);
            run.snapshot.partials = vec![Partial {
                conversation_id: CONVERSATION,
                task_id: TASK,
                item: DeltaItem::Reply(REPLY),
                attempt: 1,
                kind: DeltaKind::Text,
                offset: 0,
                text: said.clone(),
            }];
            run.step("a word");
        }
        run.snapshot.partials.clear();
        run.snapshot.messages.push(preset::said(next(), Role::Agent, &said));
        run.step("a reply");
        for command in ["cat notes-1.txt", "cat notes-2.txt"] {
            let mut call = preset::call(next(), "shell", command);
            call.state = CallState::Running;
            call.ended_at = None;
            call.started_at = Some(Timestamp(preset::NOW.0 - 1000));
            let result = call.result.take();
            run.snapshot.calls.push(call.clone());
            run.step("a call runs");
            run.person.wait(1000);
            run.look("a second later");
            let last = run.snapshot.calls.last_mut().unwrap();
            (last.state, last.ended_at, last.result) = (CallState::Finished, Some(preset::NOW), result);
            run.step("a call ends");
        }
        if n % 3 == 1 {
            run.person.wheels(3.0);
            run.look("the wheel up");
            run.person.wheels(-9.0);
            run.look("the wheel down");
        }
    }
    let task = &mut run.snapshot.tasks[0];
    task.status = Status::Completed;
    task.end_reason = Some(EndReason::Completed);
    task.ended_at = Some(preset::NOW);
    run.step("the end");
    assert!(run.wrong.is_empty(), "{} of them: {:#?}", run.wrong.len(), run.wrong);
}

/// A blinking caret repaints only its own line, in whatever field it is.
#[test]
fn a_blinking_caret_repaints_only_its_line() {
    type Open = fn(&mut Person);
    let places: [(&str, Open); 4] = [
        ("the composer", |_| {}),
        ("the composer, with a draft", |person| person.writes("half a thought")),
        ("the search", |person| person.control("k")),
        ("the palette", |person| {
            person.control_shift("P");
        }),
    ];
    for (name, open) in places {
        // No activity indicator turns.
        let mut run = run_of(Status::Completed);
        run.person.control("l");
        open(&mut run.person);
        let now = Instant::now();
        let frames = run.person.frames(&[now, now + Duration::from_millis(500)]);
        let damage = damage::diff(&frames[0], &frames[1], |layer| vec![layer.bounds], Layer::damage);
        assert!(!damage.is_empty(), "{name}: there is a caret");
        let painted: f32 = damage.iter().map(Rectangle::area).sum();
        assert!(painted < 200.0, "{name}: {damage:?}");
    }
}

/// What the daemon sends while a question waits, after it was answered, and when another one comes.
#[test]
fn after_a_question_was_declined_the_window_is_fully_painted() {
    for (is_inbox, scale, lines) in [(false, 1.0, 1), (false, 1.5, 2), (true, 1.0, 2), (true, 1.5, 1)] {
        let text = "Some words before what is asked.\n\n".repeat(lines);
        let question = |id: u128| {
            let id = QuestionId(preset::id(id));
            Pending::Question(Question { id, text: text.clone(), ..preset::question() })
        };
        let waits = |pending: &[Pending]| {
            let status = if pending.is_empty() { Status::Thinking } else { Status::WaitingUser };
            preset::waits(status, pending, preset::history())
        };
        let mut run = run_at(Status::Thinking, scale);
        let step = |run: &mut Run, pending: &[Pending], what: &str| {
            let (overview, snapshot) = waits(pending);
            run.person.overview(overview);
            run.snapshot = snapshot;
            run.step(what);
            run.person.wait(1000);
            run.look("a second later");
        };
        step(&mut run, &[question(61)], "a question");
        if is_inbox {
            run.person.control("i");
            run.person.wait(1000);
            run.look("the inbox");
        }
        run.person.clicks("Decline");
        run.look("it is declined");
        step(&mut run, &[], "the daemon knows");
        step(&mut run, &[question(62), question(63)], "two questions");
        run.person.clicks("Decline");
        run.look("one is declined");
        step(&mut run, &[question(63)], "one is left");
        assert!(run.wrong.is_empty(), "{} of them: {:#?}", run.wrong.len(), run.wrong);
    }
}

/// Iced repaints only the lower half of a picker's words.
#[test]
fn after_another_mode_was_picked_the_window_is_fully_painted() {
    let mut run = run_of(Status::Completed);
    run.person.control("n");
    run.look("a new conversation");
    for (n, mode) in ["chat: one", "agent: uses", "plan: a list"].into_iter().enumerate() {
        run.person.picks(mode);
        run.look("another mode");
        // What is said about it moves other words, which would be repainted with it.
        run.person.wait(6000);
        run.look(&format!("some time after the mode {n}"));
    }
    assert!(run.wrong.is_empty(), "{} of them: {:#?}", run.wrong.len(), run.wrong);
}
