//! Every card can be answered by keyboard alone and by mouse alone, however small the window is and however
//! long the card.

use crate::{
    drawn, narrow,
    person::Person,
    preset::{self, APPROVAL, CONVERSATION, QUESTION, TASK},
    replies::is_done,
    settings,
};
use abide_client::{
    Update,
    protocol::{
        JsonText,
        inbox::{Approval, Decision, Pending, Preview, Question, Rule},
        task::Status,
        transcript::Risk,
    },
};
use abide_gui::{
    Message,
    request::{self, Request},
    theme,
};
use iced_test::core::{
    Point, Rectangle,
    keyboard::{Key, Modifiers, key::Named},
};

/// Window sizes in logical pixels: common ones, and 800 by 600 and 640 by 420 at scale 2.
const WINDOWS: [(f32, f32); 6] =
    [(1280.0, 800.0), (800.0, 600.0), (640.0, 420.0), (500.0, 420.0), (400.0, 300.0), (320.0, 210.0)];

/// 640 by 420 at the largest scale.
const SMALLEST: (f32, f32) = (256.0, 168.0);

fn allowed() -> Request {
    request::decide(APPROVAL, Decision::AllowOnce, None, None)
}

/// The buttons of an approval, and the ones that confirm them.
const DECISIONS: [(&str, Option<&str>, Decision); 4] = [
    ("Allow once", None, Decision::AllowOnce),
    ("Always allow…", Some("Always allow"), Decision::AllowAlways),
    ("Reject…", Some("Reject"), Decision::RejectOnce),
    ("Always reject…", Some("Always reject"), Decision::RejectAlways),
];

fn approval(change: impl FnOnce(&mut Approval)) -> Pending {
    let Pending::Approval(mut approval) = preset::approval() else { unreachable!() };
    change(&mut approval);
    Pending::Approval(approval)
}

fn long_command() -> Pending {
    let lines =
        (0..60).map(|n| format!("echo line {n} of a script that somebody wrote \\n")).collect::<String>();
    approval(|approval| {
        let outside = r#""outside":true,"reason":"It needs the network.""#;
        approval.arguments = JsonText::parse(format!(r#"{{"command":"{lines}",{outside}}}"#)).unwrap();
        approval.workspace = "/home/me/src/a-folder-with-a-long-name/and-another-one-below-it".into();
        approval.rule = Rule::of("shell", &approval.arguments, &approval.workspace);
    })
}

fn long_edit() -> Pending {
    let diff: Vec<String> = (0..80).map(|n| format!("+line {n}")).collect();
    approval(|approval| {
        approval.preview =
            Some(Box::new(Preview { path: "a.txt".into(), diff: diff.join("\n"), changed: None }));
        approval.risk = Risk::Low;
    })
}

fn long_choice(n: usize) -> String {
    format!("Choice {n}: {}", "which says in very many words what comes of it ".repeat(3).trim_end())
}

fn question(text: &str, choices: Vec<String>) -> Pending {
    Pending::Question(Question { text: text.into(), choices, ..preset::question() })
}

fn questions() -> [(&'static str, Pending, String); 3] {
    let long = "Some words before what is asked. ".repeat(20);
    [
        ("two choices", Pending::Question(preset::question()), "16–19 March".to_owned()),
        ("nine long choices", question("Which one?", (1..=9).map(long_choice).collect()), long_choice(2)),
        ("a long text", question(&long, vec!["yes".into(), "no".into()]), "no".to_owned()),
    ]
}

fn approvals() -> [(&'static str, Pending); 3] {
    [("a command", preset::approval()), ("a long script", long_command()), ("a long edit", long_edit())]
}

/// A person at a window of this size, in the conversation or in the inbox, who has had time to read it.
fn before(pending: &Pending, (width, height): (f32, f32), is_inbox: bool) -> Person {
    let status = match pending {
        Pending::Approval(_) => Status::WaitingApproval,
        Pending::Question(_) => Status::WaitingUser,
    };
    let (overview, conversation) = preset::waits(status, std::slice::from_ref(pending), preset::history());
    let mut person = Person::before(overview);
    person.resizes(width, height);
    person.open(CONVERSATION, conversation);
    if is_inbox {
        person.control("i");
    }
    person.wait(60_000);
    person.asked();
    person
}

/// The bounds of this text, if all of it can be seen and clicked.
fn sees(person: &mut Person, text: &str) -> Option<Rectangle> {
    let whole = Rectangle::with_size(person.size).expand(1.0);
    person.finds(text).filter(|at| at.is_within(&whole) && at.height > 8.0 && at.width > 4.0)
}

/// Turns the wheel over the card, then beside it, until the text can be seen. The widget that was scrolled
/// last keeps the wheel for a moment of real time, unless the pointer leaves it.
fn looks_for(person: &mut Person, name: &str, text: &str) {
    let (width, height) = (person.size.width, person.size.height);
    let step = (height / 600.0).min(2.0);
    let turns = [(width * 0.6, -step), (width - 4.0, -step), (width - 4.0, step)];
    let is_seen = turns.into_iter().flat_map(|turn| std::iter::repeat_n(turn, 250)).any(|(x, notches)| {
        sees(person, text).is_some() || {
            person.wheels_over(Point::new(x, height * 0.5), notches);
            sees(person, text).is_some()
        }
    });
    assert!(is_seen, "{name}: {text:?} cannot be seen");
}

/// Clicks the button that scrolls the card on, or turns the wheel, until the end of the card has been shown.
fn reads(person: &mut Person, name: &str) {
    const ON: &str = "Scroll to the end to allow";
    let (width, height) = (person.size.width, person.size.height);
    let step = (height / 600.0).min(2.0);
    let places = [0.5, 0.4, 0.3, 0.2].map(|part| (width * 0.6, height * part));
    for (x, y) in places.into_iter().chain([(width - 4.0, height * 0.5)]) {
        for _ in 0..120 {
            if !person.has_unread() {
                return person.wait(600);
            }
            if sees(person, ON).is_some() {
                person.clicks(ON);
            } else {
                person.wheels_over(Point::new(x, y), -step);
            }
        }
    }
    unreachable!("{name}: the end of the card cannot be shown");
}

fn each(mut test: impl FnMut(&str, (f32, f32), bool)) {
    for window in WINDOWS.into_iter().chain([SMALLEST]) {
        for is_inbox in [false, true] {
            let place = if is_inbox { "in the inbox" } else { "in the conversation" };
            test(&format!("{window:?} {place}"), window, is_inbox);
        }
    }
}

#[test]
fn an_approval_is_answered_by_keyboard_alone() {
    each(|name, window, is_inbox| {
        for (what, pending) in approvals() {
            let mut person = before(&pending, window, is_inbox);
            // Scrolls the card into view, if some of it is not.
            person.named(Named::ArrowDown);
            person.wait(600);
            person.reads();
            person.letter("a");
            if what != "a long edit" {
                assert_eq!(person.asked(), [], "{name}, {what}");
                person.named(Named::Enter);
            }
            assert_eq!(person.asked(), [allowed()], "{name}, {what}");
        }
    });
}

#[test]
fn an_approval_is_answered_by_mouse_alone() {
    each(|name, window, is_inbox| {
        for (what, pending) in approvals() {
            for (button, second, decision) in DECISIONS {
                let mut person = before(&pending, window, is_inbox);
                let is_high = matches!(&pending, Pending::Approval(approval) if approval.risk == Risk::High);
                let second = second.or((is_high && decision == Decision::AllowOnce).then_some("Yes, allow"));
                reads(&mut person, name);
                for button in [Some(button), second].into_iter().flatten() {
                    assert_eq!(person.asked(), [], "{name}, {what}: before {button:?}");
                    if is_inbox {
                        looks_for(&mut person, name, button);
                    }
                    person.wait(600);
                    assert!(sees(&mut person, button).is_some(), "{name}, {what}: {button:?} is cut");
                    person.clicks(button);
                }
                assert_eq!(
                    person.asked(),
                    [request::decide(APPROVAL, decision, None, None)],
                    "{name}, {what}"
                );
            }
        }
    });
}

/// The text of what a lasting decision would remember, if all of it is in view.
fn remembers(person: &mut Person) -> bool {
    let words = person.texts().into_iter().find(|words| words.starts_with("“Always”"));
    words.is_some_and(|words| person.finds_whole(&words))
}

/// A lasting decision is accepted only after what it would remember has been in view for a moment.
#[test]
fn a_lasting_decision_shows_what_it_remembers_before_it_acts() {
    each(|name, window, is_inbox| {
        for (what, pending) in approvals() {
            for (button, second, decision) in DECISIONS {
                let (Some(second), Decision::AllowAlways | Decision::RejectAlways) = (second, decision)
                else {
                    continue;
                };
                let mut person = before(&pending, window, is_inbox);
                reads(&mut person, name);
                if is_inbox {
                    looks_for(&mut person, name, button);
                }
                person.wait(600);
                person.clicks(button);
                assert_eq!(person.asked(), [], "{name}, {what}: {button:?}");
                assert!(remembers(&mut person), "{name}, {what}: {button:?}");
                if sees(&mut person, second).is_some() {
                    person.clicks(second);
                    person.wait(599);
                    person.clicks(second);
                    assert_eq!(person.asked(), [], "{name}, {what}: it has just come");
                }
            }
        }
    });
}

#[test]
fn a_question_is_answered_by_keyboard_alone() {
    each(|name, window, is_inbox| {
        for (what, pending, second) in questions() {
            let answered = request::answer(TASK, QUESTION, Some(second));
            let mut person = before(&pending, window, is_inbox);
            if !is_inbox {
                person.named(Named::Escape);
            }
            person.named(Named::ArrowDown);
            person.wait(600);
            person.letter("2");
            let mut asked = person.asked();
            if asked.is_empty() {
                // If not all choices can be seen, the card shows which one the digit means.
                assert!(sees(&mut person, "Enter answers with 2. Esc: not yet.").is_some(), "{name}, {what}");
                person.named(Named::Enter);
                asked = person.asked();
            }
            assert_eq!(asked, [answered], "{name}, {what}");
        }
    });
}

#[test]
fn a_question_is_answered_by_mouse_alone() {
    each(|name, window, is_inbox| {
        for (what, pending, second) in questions() {
            let mut person = before(&pending, window, is_inbox);
            looks_for(&mut person, name, &second);
            person.wait(600);
            person.clicks(&second);
            let answered = request::answer(TASK, QUESTION, Some(second));
            assert_eq!(person.asked(), [answered], "{name}, {what}");
        }
        let mut person = before(&questions()[1].1, window, is_inbox);
        looks_for(&mut person, name, "Decline");
        person.wait(600);
        person.clicks("Decline");
        assert_eq!(person.asked(), [request::answer(TASK, QUESTION, None)], "{name}");
    });
}

#[test]
fn a_typed_reply_can_be_sent_by_a_visible_button() {
    each(|name, window, is_inbox| {
        let mut person = before(&questions()[2].1, window, is_inbox);
        if is_inbox {
            looks_for(&mut person, name, "Reply");
            let reply = person.finds("Reply").unwrap();
            person.holds(Point::new(reply.x - 60.0, reply.center_y()));
            person.lets_go();
        }
        person.writes("maybe");
        person.wait(600);
        assert!(sees(&mut person, "Reply").is_some(), "{name}");
        person.clicks("Reply");
        assert_eq!(person.asked(), [request::answer(TASK, QUESTION, Some("maybe".into()))], "{name}");
    });
}

#[test]
fn a_task_that_waits_is_stopped_by_mouse() {
    for window in WINDOWS.into_iter().chain([SMALLEST]) {
        for pending in [preset::approval(), questions()[1].1.clone()] {
            let mut person = before(&pending, window, false);
            assert!(sees(&mut person, "Stop").is_some(), "{window:?}");
            person.clicks("Stop");
            assert_eq!(person.asked(), [Request::StopTask(TASK.into())], "{window:?}");
        }
    }
}

/// A digit may mean a hidden choice, so it needs a second key; any other key cancels it.
#[test]
fn a_digit_needs_enter_if_some_choices_are_hidden() {
    let pending = question("Which one?", (1..=9).map(long_choice).collect());
    let mut person = before(&pending, (640.0, 420.0), false);
    person.named(Named::Escape);
    person.wait(600);
    person.letter("9");
    assert_eq!(person.asked(), []);
    person.named(Named::Escape);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "taken back");
    person.wait(600);
    person.letter("9");
    person.wait(59_000);
    person.wait(1100);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "forgotten");
    person.letter("9");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::answer(TASK, QUESTION, Some(long_choice(9)))]);
}

#[test]
fn the_key_of_a_long_choice_is_not_cut() {
    for window in [(1280.0, 800.0), (640.0, 420.0)] {
        let mut person = before(&question("Which?", vec![long_choice(1), long_choice(2)]), window, false);
        for number in ["1", "2"] {
            let key = sees(&mut person, number).unwrap_or_else(|| panic!("{window:?}: {number} is squeezed"));
            assert!(key.height < 20.0, "{window:?}: {number} is broken: {key:?}");
        }
    }
}

/// The name of a key is bright only while the key does something.
#[test]
fn key_names_are_bright_only_while_the_keys_act() {
    let low = approval(|approval| approval.risk = Risk::Low);
    let (overview, conversation) = preset::waits(Status::WaitingApproval, &[low], preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    let key = |person: &mut Person| {
        let at = person.finds("⇧A").unwrap();
        drawn::ink(person, at)
    };
    let dead = key(&mut person);
    person.letter("a");
    assert_eq!(person.asked(), []);
    person.wait(700);
    let live = key(&mut person);
    assert_ne!(live, dead, "the card has stood still long enough");
    person.control("l");
    assert_eq!(key(&mut person), dead, "a caret is drawn");
    person.named(Named::Escape);
    assert_eq!(key(&mut person), dead, "the caret has just left");
    person.wait(700);
    assert_eq!(key(&mut person), live);
    person.letter("a");
    assert_eq!(person.asked(), [allowed()]);
}

/// In an empty field a digit picks a choice, so its key is bright there, too.
#[test]
fn the_keys_of_choices_are_bright_while_the_answer_is_empty() {
    let mut person = before(&Pending::Question(preset::question()), (1280.0, 800.0), false);
    let key = |person: &mut Person| {
        let choice = person.finds("9–12 March").unwrap();
        let keys = person.finds_all("1");
        let at = keys.into_iter().find(|at| (at.center_y() - choice.center_y()).abs() < 8.0).unwrap();
        drawn::ink(person, at)
    };
    let bright = key(&mut person);
    person.writes("x");
    assert_ne!(key(&mut person), bright, "a digit would be part of the answer");
}

/// The page for a new conversation: its field, the folders and *Send*.
#[test]
fn a_new_conversation_can_be_written_and_sent_in_every_window() {
    for size in WINDOWS {
        let mut person = Person::before(preset::empty());
        person.resizes(size.0, size.1);
        person.control("n");
        person.writes("say hello");
        person.wait(1000);
        assert!(sees(&mut person, "Send").is_some(), "{size:?}");
        person.clicks("Send");
        assert!(person.asked().iter().any(|asked| matches!(asked, Request::StartTask(_))), "{size:?}");
    }
}

/// A field draws on a layer of its own. One that is scrolled out of the page must not be drawn over the bar
/// above.
#[test]
fn no_field_is_drawn_outside_of_the_page_that_scrolls_it() {
    for size in [(640.0, 300.0), (500.0, 240.0), (320.0, 210.0)] {
        for page in ["n", "i"] {
            let question = question("Which one?", (1..=4).map(long_choice).collect());
            let mut person = before(&question, size, false);
            person.control(page);
            let place = Point::new(size.0 * 0.5, size.1 * 0.5);
            person.wheels_over(place, 100.0);
            for _ in 0..60 {
                person.wheels_over(place, -0.2);
                let bar = person.finds("Conversations").unwrap();
                let over = |layer: &Rectangle| layer.height < size.1 && layer.intersects(&bar);
                let over: Vec<Rectangle> =
                    person.renderer.layers().iter().map(|layer| layer.bounds).filter(over).collect();
                assert!(over.is_empty(), "{size:?}, Ctrl {page}: {over:?} is over the bar at {bar:?}");
            }
        }
    }
}

/// The button shows the second key, and no button moves.
#[test]
fn an_armed_approval_shows_the_key_that_confirms_it() {
    for (size, is_inbox) in [((1280.0, 800.0), false), ((640.0, 420.0), true), ((320.0, 210.0), false)] {
        let mut person = before(&preset::approval(), size, is_inbox);
        person.named(Named::ArrowDown);
        person.wait(600);
        person.reads();
        let places = |person: &mut Person, first: &str| {
            [first, "Always allow…", "Reject…"].map(|button| person.finds(button))
        };
        let before = places(&mut person, "Allow once");
        assert!(person.finds("A").is_some() && person.finds("↵").is_none(), "{size:?}");
        person.letter("a");
        assert!(person.finds("A").is_none(), "{size:?}: it has been pressed");
        assert!(person.finds("↵").is_some() && person.finds("⇧A").is_some(), "{size:?}");
        assert_eq!(places(&mut person, "Yes, allow"), before, "{size:?}");
        assert_eq!(person.asked(), []);
    }
}

const LONG_MODEL: &str = "local/meta-llama-3.1-70b-instruct-awq-int4-128k-context-build-7";

/// A person at a conversation whose model has a long name, with a task in this state.
fn with_task(status: Status, (width, height): (f32, f32)) -> Person {
    let (mut overview, mut conversation) = preset::waits(status, &[], preset::history());
    for known in overview.conversations.iter_mut().chain(&mut conversation.conversations) {
        known.model = Some(LONG_MODEL.into());
    }
    let mut person = Person::before(overview);
    person.resizes(width, height);
    person.open(CONVERSATION, conversation);
    person.wait(5000);
    person
}

/// The texts that are cut without an ellipsis.
fn without_room(person: &mut Person) -> Vec<String> {
    let mut found = narrow::cut(person);
    found.extend(drawn::too_wide(person));
    found
}

#[test]
fn an_ended_task_can_be_read_and_followed_by_another_in_every_window() {
    for window in WINDOWS {
        let mut person = with_task(Status::Completed, window);
        assert!(
            sees(&mut person, "1 file edited").is_some(),
            "{window:?}: nothing of the conversation is seen"
        );
        assert!(without_room(&mut person).is_empty(), "{window:?}: {:?}", without_room(&mut person));
        person.writes("and now the rest");
        assert!(sees(&mut person, "Send").is_some(), "{window:?}");
        // The model and the mode are visible at once or after one click.
        if sees(&mut person, "+ Agent").is_none() {
            person.clicks("+");
        }
        for choice in ["+ Agent", "Ask", "Send"] {
            assert!(sees(&mut person, choice).is_some(), "{window:?}: {choice}");
        }
        assert!(without_room(&mut person).is_empty(), "{window:?}: {:?}", without_room(&mut person));
        person.clicks("Send");
        assert!(matches!(&person.asked()[..], [Request::StartTask(_)]), "{window:?}");
    }
}

#[test]
fn a_long_draft_leaves_the_conversation_and_send_in_every_window() {
    for window in WINDOWS {
        let mut person = with_task(Status::Completed, window);
        for _ in 0..12 {
            person.press(Key::Named(Named::Enter), Modifiers::SHIFT);
            person.writes("more");
        }
        assert!(sees(&mut person, "Send").is_some(), "{window:?}");
        assert!(
            sees(&mut person, "1 file edited").is_some(),
            "{window:?}: nothing of the conversation is seen"
        );
    }
}

#[test]
fn a_working_task_can_be_read_and_stopped_in_every_window() {
    for window in WINDOWS {
        let mut person = with_task(Status::Thinking, window);
        assert!(sees(&mut person, "Thinking").is_some(), "{window:?}: nothing of the conversation is seen");
        assert!(without_room(&mut person).is_empty(), "{window:?}: {:?}", without_room(&mut person));
        for button in ["Pause", "Stop"] {
            assert!(sees(&mut person, button).is_some(), "{window:?}: {button}");
        }
    }
}

/// A notice or an error takes no room that the composer needs.
#[test]
fn notices_leave_room_for_the_composer_in_every_window() {
    for window in WINDOWS {
        let mut person = with_task(Status::Cancelled, window);
        person.tell(is_done(request::archive(CONVERSATION, true)));
        for words in ["Archived. A search finds it, too.", "Send"] {
            assert!(sees(&mut person, words).is_some(), "{window:?}: {words}");
        }
        person.wait(700);
        let back = person.finds_all("Undo");
        assert!(!back.is_empty(), "{window:?}: the way back");
        person.wait(5000);
        person
            .tell(Message::NotOpened("Something went wrong, for a reason that takes many words. ".repeat(6)));
        for words in ["Close", "Send"] {
            assert!(sees(&mut person, words).is_some(), "{window:?}: {words}");
        }
    }
}

/// The menu of a conversation and its questions, with their buttons.
#[test]
fn the_menu_of_a_conversation_can_be_used_in_every_window() {
    for window in WINDOWS {
        let mut person = with_task(Status::Completed, window);
        person.named(Named::Escape);
        person.named(Named::F2);
        for button in ["Rename", "Cancel"] {
            assert!(sees(&mut person, button).is_some(), "{window:?}: {button}");
        }
        person.named(Named::Escape);
        person.named(Named::Escape);
        person.press(Key::Named(Named::Delete), Modifiers::CTRL);
        person.wait(1000);
        for button in ["Delete", "Keep"] {
            assert!(sees(&mut person, button).is_some(), "{window:?}: {button}");
        }
        person.clicks("Delete");
        assert_eq!(person.asked(), [Request::DeleteConversation(CONVERSATION.into())], "{window:?}");
    }
}

/// The number of waiting items is shown on the button that opens the inbox, wherever that is.
#[test]
fn the_inbox_count_is_visible_in_every_window() {
    for window in WINDOWS.into_iter().chain([SMALLEST]) {
        let mut person = before(&preset::approval(), window, false);
        for place in ["the page", "the list"] {
            let inbox = person.finds_all("Inbox").into_iter().next_back().unwrap();
            let counts = person.finds_all("1");
            let is_beside = |count: &Rectangle| {
                count.width >= 4.0 && count.height >= 8.0 && (count.center_y() - inbox.center_y()).abs() < 6.0
            };
            let whole = Rectangle::with_size(person.size);
            assert!(
                counts.iter().any(|count| is_beside(count) && count.is_within(&whole)),
                "{window:?}, {place}: {counts:?} beside {inbox:?}"
            );
            if window.0 < 720.0 {
                person.control("b");
            }
        }
    }
}

/// With little room only the field's placeholder asks it, because a heading would be cut.
#[test]
fn a_new_conversation_asks_for_its_purpose_in_every_window() {
    const QUESTION: &str = "What shall the agent do?";
    for (width, height) in WINDOWS.into_iter().chain([SMALLEST]) {
        let mut person = Person::before(preset::empty());
        person.resizes(width, height);
        person.control("n");
        assert_eq!(person.finds_all(QUESTION).len(), if height < 400.0 { 1 } else { 2 }, "{width}");
        let seen = sees(&mut person, QUESTION);
        assert!(seen.is_some_and(|seen| seen.height > 18.0), "{width}: {seen:?}");
        assert!(without_room(&mut person).is_empty(), "{width}: {:?}", without_room(&mut person));
    }
}

/// iced would cut a placeholder that is too long.
#[test]
fn a_placeholder_ends_in_an_ellipsis_if_it_is_too_long() {
    for (width, is_cut) in [(1280.0, false), (320.0, true)] {
        let mut person = before(&preset::approval(), (width, width / 1.6), false);
        person.named(Named::ArrowDown);
        person.wait(600);
        person.letter("r");
        let words = drawn::words(&mut person);
        let hint = words.iter().find(|words| words.starts_with("Why"));
        assert_eq!(hint.map(|hint| hint.ends_with('…')), Some(is_cut), "{width}: {hint:?}");
        person.writes("no");
        let words = drawn::words(&mut person);
        assert!(words.iter().all(|words| !words.starts_with("Why")), "{width}");
    }
}

/// A person at the smallest window who has typed this draft when an approval arrives.
fn writing(draft: &str) -> Person {
    let mut person = with_task(Status::Thinking, SMALLEST);
    person.control("l");
    person.writes(draft);
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    person.tell(Message::Overview(vec![Update::Snapshot(Box::new(overview))]));
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(conversation))]));
    person.wait(1000);
    person
}

/// In the smallest window an approval hides the composer, which comes back for a draft and for the second
/// Esc.
#[test]
fn the_composer_gives_way_to_an_approval_and_comes_back() {
    let hint =
        |person: &mut Person| drawn::words(person).iter().any(|words| words.starts_with("Decide above"));
    let mut person = before(&preset::approval(), SMALLEST, false);
    assert!(!hint(&mut person));
    person.named(Named::Escape);
    assert!(sees(&mut person, "Esc again stops").is_some());
    person.wait(600);
    person.named(Named::Escape);
    assert_eq!(person.asked(), [Request::StopTask(TASK.into())]);
    // A draft brings it back, a caret in an empty field does not.
    assert!(!hint(&mut writing("")));
    let mut person = writing("and then all ");
    person.writes("a r a");
    assert_eq!(person.asked(), []);
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "and then all a r a");
    person.named(Named::Escape);
    person.wait(600);
    assert!(sees(&mut person, "Always reject…").is_some());
}

/// In a tiny window there may be no room for a card's text between its title and its buttons.
#[test]
fn a_card_without_a_visible_line_takes_no_click() {
    let mut person = writing("and then");
    let command = "git push origin upgrade\\x1b[2K\\rls";
    assert!(sees(&mut person, "Allow once").is_some() && sees(&mut person, command).is_none());
    person.clicks("Allow once");
    assert_eq!(person.asked(), []);
    person.named(Named::Escape);
    person.wait(600);
    assert!(sees(&mut person, command).is_some());
    person.reads();
    person.clicks("Allow once");
    person.wait(600);
    person.clicks("Yes, allow");
    assert_eq!(person.asked(), [allowed()]);
}

/// A border at a fraction of a pixel would be blurred.
#[test]
fn the_composer_is_right_below_the_card_at_a_whole_pixel() {
    for width in [1280.0, 1281.0, 1000.0, 853.0, 640.0, 333.0] {
        let mut person = before(&Pending::Question(preset::question()), (width, 800.0), false);
        let needs_you = theme::tokens(&person.app.theme()).needs_you;
        let found = drawn::bordered(&mut person, needs_you, width.min(1000.0) * 0.5);
        let [card, composer] = found[..] else { panic!("{width}: {found:?}") };
        assert_eq!((card.x, card.width), (composer.x, composer.width), "{width}");
        assert!(composer.x.fract() == 0.0, "{width}: {composer:?}");
    }
}

/// A write of several lines, as the tool asks for it.
fn write() -> Pending {
    let content: Vec<String> = (0..12).map(|n| format!("line {n}")).collect();
    let diff: Vec<String> = content.iter().map(|line| format!("+{line}")).collect();
    approval(|approval| {
        let arguments = serde_json::json!({"content": content.join("\n"), "path": "docs/notes.txt"});
        approval.tool = "write".into();
        approval.arguments = JsonText::parse(arguments.to_string()).unwrap();
        let (path, diff) = ("docs/notes.txt".into(), diff.join("\n"));
        approval.preview = Some(Box::new(Preview { path, diff, changed: None }));
        approval.risk = Risk::Medium;
    })
}

/// 800 by 600 with text of 150 %.
#[test]
fn the_card_of_an_edit_shows_some_of_its_diff() {
    for window in [(533.0, 400.0), (640.0, 420.0), (800.0, 600.0)] {
        let mut person = before(&write(), window, false);
        for line in ["docs/notes.txt", "+line 0", "+line 1"] {
            assert!(sees(&mut person, line).is_some(), "{window:?}: {line}");
        }
    }
}

#[test]
fn the_title_says_how_long_a_long_command_is() {
    let mut person = before(&long_command(), (640.0, 420.0), false);
    assert!(person.finds_whole("Scroll to the end to allow. Runs outside the sandbox, with all your rights · shell · high risk · 60 lines"));
    let long = approval(|a| {
        let command = serde_json::json!({ "command": "x".repeat(1980) });
        a.arguments = JsonText::parse(command.to_string()).unwrap();
    });
    let mut person = before(&long, (640.0, 420.0), false);
    assert!(person.finds_whole("Scroll to the end to allow. Runs outside the sandbox, with all your rights · shell · high risk · 1,980 characters"));
}

const CODE: &str = "def say():\n    print(0)\n    print(1)\n    print(2)\n    print(3)\n\nsay()\nsay()";

/// A call of `python`, as the tool asks for it.
fn code() -> Pending {
    approval(|approval| {
        approval.tool = "python".into();
        approval.summary = "def say(): … (8 lines)".into();
        approval.arguments = serde_json::json!({ "code": CODE, "timeout_secs": 9 }).into();
    })
}

#[test]
fn the_card_of_a_python_call_shows_its_code_line_by_line() {
    let mut person = before(&code(), (1280.0, 800.0), false);
    assert!(
        person.finds_whole("Runs outside the sandbox, with all your rights · python · high risk · 8 lines")
    );
    let whole = sees(&mut person, CODE).expect("all of the code");
    assert!(whole.height > 8.0 * 12.0, "eight lines below one another: {whole:?}");
    assert!(sees(&mut person, "timeout_secs").is_some());
}

/// In two columns of a window this narrow each letter would have a line of its own.
#[test]
fn the_keys_and_the_settings_are_read_in_a_narrow_window() {
    for (width, height) in WINDOWS {
        let mut person = settings::open();
        person.resizes(width, height);
        let model = person.finds_bounds("Default model").unwrap();
        assert!(model.width > 60.0 && model.height < 60.0, "{width}x{height}: {model:?}");
        person.press(Key::Named(Named::F1), Modifiers::empty());
        let what = person.finds_bounds("next that needs you").unwrap();
        assert!(what.width > 60.0 && what.height < 60.0, "{width}x{height}: {what:?}");
    }
}
