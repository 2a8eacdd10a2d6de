//! Protection against accidental input: a key or a click that was meant for something else decides, stops and
//! deletes nothing.

use crate::{
    drawn,
    person::Person,
    preset::{self, APPROVAL, CONVERSATION, QUESTION, TASK},
    replies::is_done,
};
use abide_client::protocol::{
    ApprovalId, ConversationId,
    inbox::{Decision, NamedFile, Pending, Preview, WiderRule},
    notification::Snapshot,
    task::Status,
    transcript::Risk,
};
use abide_gui::{
    Message,
    daemon::Failure,
    request::{self, Request},
};
use iced_test::core::{
    Point,
    keyboard::{Key, Modifiers, key::Named},
};

fn allowed() -> Request {
    request::decide(APPROVAL, Decision::AllowOnce, None, None)
}

/// The title of a card of high risk that is armed.
const ARMED: &str = "High risk: Enter or another click allows it once. Esc: not yet.";

/// A person who has had time to read the open conversation of a task with these pending items.
fn before(status: Status, waiting: &[Pending], history: Snapshot) -> Person {
    let (overview, conversation) = preset::waits(status, waiting, history);
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.wait(60_000);
    person.asked();
    person
}

fn before_approval() -> Person {
    before(Status::WaitingApproval, &[preset::approval()], preset::history())
}

fn before_question() -> Person {
    before(Status::WaitingUser, &[Pending::Question(preset::question())], preset::history())
}

#[test]
fn typing_in_the_composer_approves_nothing() {
    let mut wanted = preset::approval();
    if let Pending::Approval(approval) = &mut wanted {
        // One key would be enough.
        approval.risk = Risk::Low;
    }
    let mut person = before(Status::WaitingApproval, &[wanted], preset::history());
    assert!(person.finds("Decide above, or write to the agent.").is_some());
    person.control("l");
    assert!(person.finds("Write to the agent, or decide above: Esc, then A or R.").is_some());
    person.wait(1000);
    person.writes("also run the tests, 1 2 3 R A");
    person.named(Named::Enter);
    person.wait(1000);
    let told = request::note(TASK, "also run the tests, 1 2 3 R A".to_owned());
    assert_eq!(person.asked(), [told], "it is told, and decides nothing");
}

#[test]
fn typing_a_sentence_without_a_caret_decides_nothing() {
    for words in ["ok make it so", "All good", "All right", "also run the tests", "no 1 does"] {
        let mut person = before_approval();
        person.writes(words);
        person.named(Named::Enter);
        person.wait(1000);
        assert_eq!(person.asked(), [], "{words}");
        assert!(person.finds("Why not? The agent reads it.").is_none(), "{words}");
    }
    let mut person = before_question();
    person.named(Named::Escape);
    person.wait(1000);
    person.writes("use 2 workers");
    person.wait(1000);
    assert_eq!(person.asked(), []);
    person.letter("2");
    assert_eq!(person.asked(), [], "a digit picks");
    person.named(Named::Enter);
    assert_eq!(person.asked().len(), 1, "and Enter answers");
}

#[test]
fn a_key_scrolls_a_hidden_card_into_view_before_it_approves() {
    let mut wanted = preset::approval();
    if let Pending::Approval(approval) = &mut wanted {
        let diff: Vec<String> = (0..300).map(|n| format!("+line {n}")).collect();
        approval.preview =
            Some(Box::new(Preview { path: "a.txt".into(), diff: diff.join("\n"), changed: None }));
        approval.risk = Risk::Low;
    }
    let mut history = preset::history();
    history.messages.extend(
        (10..60).map(|n| preset::said(n, abide_client::protocol::message::Role::Agent, "Some words.")),
    );
    let mut person = before(Status::WaitingApproval, &[wanted], history);
    person.reads();
    // Beside the card, which would scroll itself.
    person.wheels_over(Point::new(1270.0, 300.0), 60.0);
    person.wait(1000);
    person.letter("a");
    assert_eq!(person.asked(), [], "the card is not visible");
    person.wait(100);
    person.letter("a");
    assert_eq!(person.asked(), [], "the card has just come into view");
    person.wait(1000);
    person.letter("a");
    assert_eq!(person.asked(), [allowed()]);
}

/// The timer and the wall clock are two clocks: when the timer fires, the other may be a moment behind.
#[test]
fn a_timer_that_fires_early_is_set_again() {
    let mut person = before_approval();
    person.tell(Message::CaretMoved(true));
    person.tell(Message::CaretMoved(false));
    person.wait(599);
    assert!(person.app.update(Message::Settled).units() > 0, "nothing would say that the card takes keys");
}

#[test]
fn a_second_key_in_the_inbox_does_not_decide_the_next_card() {
    let mut first = preset::approval();
    let mut second = preset::approval();
    for pending in [&mut first, &mut second] {
        if let Pending::Approval(approval) = pending {
            approval.risk = Risk::Low;
        }
    }
    if let Pending::Approval(approval) = &mut second {
        approval.id = preset::OTHER_APPROVAL;
    }
    let (overview, _) = preset::waits(Status::WaitingApproval, &[first, second.clone()], preset::history());
    let mut person = Person::before(overview);
    person.control("i");
    person.wait(1000);
    person.letter("a");
    person.letter("a");
    assert_eq!(person.asked(), [allowed()], "the second key was for the same card");
    let (overview, _) = preset::waits(Status::WaitingApproval, &[second], preset::history());
    person.tell(Message::Overview(vec![abide_client::Update::Snapshot(Box::new(overview))]));
    person.letter("a");
    person.wait(599);
    person.letter("a");
    assert_eq!(person.asked(), [], "the next card has just moved there");
    person.wait(600);
    person.letter("a");
    assert_eq!(person.asked(), [request::decide(preset::OTHER_APPROVAL, Decision::AllowOnce, None, None)]);
}

#[test]
fn after_a_decision_the_next_card_has_the_keyboard() {
    let decided = |id: u128| [request::decide(ApprovalId(preset::id(id)), Decision::AllowOnce, None, None)];
    let waits = |ids: &[u128]| {
        let pending: Vec<Pending> = ids.iter().map(|id| preset::low(ApprovalId(preset::id(*id)))).collect();
        preset::waits(Status::WaitingApproval, &pending, preset::history()).0
    };
    let mut person = Person::before(waits(&[61, 62, 63, 64]));
    person.control("i");
    person.named(Named::ArrowDown);
    // The order: the second card, the one after it, the last, then the only one left, which is before it.
    for (id, rest) in [(62, &[61, 63, 64][..]), (63, &[61, 64]), (64, &[61]), (61, &[])] {
        person.wait(1000);
        person.letter("a");
        let mut asked = person.asked();
        if asked.is_empty() {
            // It had to be brought into view.
            person.wait(1000);
            person.letter("a");
            asked = person.asked();
        }
        assert_eq!(asked, decided(id), "before {rest:?} is left");
        person.tell(Message::Overview(vec![abide_client::Update::Snapshot(Box::new(waits(rest)))]));
    }
}

#[test]
fn a_digit_picks_only_an_existing_visible_choice() {
    // There is no such choice.
    let mut person = before_question();
    person.named(Named::Escape);
    for digit in ["3", "9"] {
        person.wait(1000);
        person.letter(digit);
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "{digit}");
    }
    person.wait(1000);
    person.letter("0");
    assert_eq!(person.asked(), []);
    // An approval has the keyboard, not the question.
    let both = [preset::approval(), Pending::Question(preset::question())];
    let mut person = before(Status::WaitingApproval, &both, preset::history());
    person.control("i");
    person.wait(1000);
    person.letter("1");
    assert_eq!(person.asked(), []);
    // Out of view: it is scrolled into view first, and has to stand still.
    let mut history = preset::history();
    history.messages.extend(
        (10..60).map(|n| preset::said(n, abide_client::protocol::message::Role::Agent, "Some words.")),
    );
    let mut person = before(Status::WaitingUser, &[Pending::Question(preset::question())], history);
    person.named(Named::Escape);
    person.wheels(60.0);
    person.wait(1000);
    person.letter("1");
    assert_eq!(person.asked(), [], "the card is not visible");
    person.wait(599);
    person.letter("1");
    assert_eq!(person.asked(), [], "the card has just come into view");
    person.wait(600);
    person.letter("1");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::answer(TASK, QUESTION, Some("9–12 March".into()))]);
}

/// An Escape that closes something must not also arm a stop, or the next key would stop the task.
#[test]
fn each_escape_has_one_effect() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.tell(Message::NotOpened("It cannot be opened.".to_owned()));
    person.control("l");
    person.named(Named::Escape);
    assert!(person.finds("It cannot be opened.").is_none());
    person.writes("x");
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "x", "the caret is there");
    person.named(Named::Escape);
    assert!(person.finds("Esc again stops").is_none(), "the Escape leaves the field");
    person.wait(600);
    person.named(Named::Escape);
    assert!(person.finds("Esc again stops").is_some());
}

#[test]
fn one_escape_stops_no_task() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.named(Named::Escape);
    person.wait(1000);
    assert_eq!(person.asked(), [], "the Escape leaves the field");
    person.named(Named::Escape);
    assert_eq!(person.asked(), []);
    assert!(person.finds("Esc again stops").is_some());
    person.wait(6000);
    assert!(person.finds("Esc again stops").is_none(), "the first Escape has expired");
    person.named(Named::Escape);
    person.control("o");
    person.named(Named::Escape);
    assert_eq!(person.asked(), [], "another key came between");
    person.letter("x");
    person.named(Named::Escape);
    assert_eq!(person.asked(), [], "the Escape leaves the field in which a letter was typed");
    person.wait(600);
    person.named(Named::Escape);
    assert_eq!(person.asked(), []);
    person.wait(600);
    person.named(Named::Escape);
    assert_eq!(person.asked(), [Request::StopTask(TASK.into())]);
}

/// The key at *Stop* is bright only while Escape arms a stop and does nothing else.
#[test]
fn the_key_at_stop_is_dim_while_escape_does_something_else() {
    type Begin = fn(&mut Person);
    let ink = |person: &mut Person| {
        let stop = person.finds("Stop").or_else(|| person.finds("Esc again stops")).unwrap();
        let keys = person.finds_all("Esc");
        let at = keys.into_iter().find(|at| (at.center_y() - stop.center_y()).abs() < 8.0).unwrap();
        drawn::ink(person, at)
    };
    let mut person = before(Status::Thinking, &[], preset::history());
    let dim = ink(&mut person);
    person.named(Named::Escape);
    person.wait(600);
    let bright = ink(&mut person);
    assert_ne!(dim, bright, "a caret was drawn, which the first Escape takes away");
    let others: [(&str, Begin); 5] = [
        ("the caret", |p| p.control("l")),
        ("the menu", |p| p.clicks("⋯")),
        ("the search", |p| p.control("f")),
        ("a menu in the list", |p| p.clicks_right("Fix flaky login test")),
        ("a notice", |p| p.tell(Message::NotOpened("It cannot be opened.".to_owned()))),
    ];
    for (what, begin) in others {
        begin(&mut person);
        assert_eq!(ink(&mut person), dim, "{what}");
        while person.finds("Esc again stops").is_none() {
            person.named(Named::Escape);
            person.wait(600);
        }
        assert_eq!(ink(&mut person), bright, "{what} is closed");
        person.wait(6000);
    }
}

/// Also if the first of two Escapes was pressed right before it was opened.
#[test]
fn one_escape_closes_a_menu_and_does_nothing_else() {
    for (in_list, has_caret) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut person = before(Status::Thinking, &[], preset::history());
        if has_caret {
            person.control("l");
        } else {
            person.named(Named::Escape);
            person.wait(600);
            person.named(Named::Escape);
            assert!(person.finds("Esc again stops").is_some());
        }
        if in_list {
            person.clicks_right("Fix flaky login test");
        } else {
            person.clicks("⋯");
        }
        assert!(person.finds("Archive").is_some());
        person.named(Named::Escape);
        assert!(person.finds("Archive").is_none(), "in the list: {in_list}, a caret was drawn: {has_caret}");
        assert_eq!(person.asked(), []);
        person.wait(600);
        person.writes("so");
        assert_eq!(person.app.conversation().unwrap().composer.draft(), "so");
    }
}

#[test]
fn a_click_on_a_row_closes_its_menu() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.clicks_right("Fix flaky login test");
    person.clicks("Fix flaky login test");
    assert!(person.finds("Archive").is_none());
}

/// Whatever the task does or waits for, two Escapes stop it once no caret is drawn.
#[test]
fn a_task_is_stopped_by_keys_in_each_of_its_states() {
    let question = || Pending::Question(preset::question());
    let states = [
        (Status::Thinking, vec![]),
        (Status::Paused, vec![]),
        (Status::WaitingApproval, vec![preset::approval()]),
        (Status::WaitingUser, vec![question()]),
        (Status::Paused, vec![question()]),
    ];
    for (status, waiting) in states {
        let mut person = before(status, &waiting, preset::history());
        assert!(person.finds("Esc").is_some(), "{status:?}: the key stands at the button");
        person.control("l");
        person.named(Named::Escape);
        person.wait(1000);
        person.named(Named::Escape);
        assert_eq!(person.asked(), [], "{status:?}");
        assert!(person.finds("Esc again stops").is_some(), "{status:?}");
        person.wait(600);
        person.named(Named::Escape);
        assert_eq!(person.asked(), [Request::StopTask(TASK.into())], "{status:?}");
    }
}

#[test]
fn beyond_low_risk_it_takes_two_keys() {
    let mut person = before_approval();
    person.letter("a");
    assert_eq!(person.asked(), []);
    assert!(person.finds(ARMED).is_some(), "it is armed, and its risk is shown");
    person.named(Named::Escape);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "taken back");
    person.wait(600);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [allowed()]);

    let mut person = before_approval();
    person.press(Key::Character("A".into()), Modifiers::SHIFT);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "what it would remember has just come into view");
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowAlways, None, None)]);
}

#[test]
fn what_names_files_that_can_change_says_how_they_are_and_is_allowed_only_once() {
    let Pending::Approval(mut approval) = preset::approval() else { panic!("an approval") };
    let (path, sha256) = ("deploy.sh".into(), "0123456789abcdef".into());
    approval.files = vec![NamedFile { path, bytes: 1234, sha256 }];
    approval.only_once = Some("it names `deploy.sh`, which other calls could change".into());
    let mut person = before(Status::WaitingApproval, &[Pending::Approval(approval)], preset::history());
    let texts = person.texts().join("\n");
    let said = "It runs only if deploy.sh (1,234 bytes, sha256 0123456789ab) is unchanged. It can be allowed only once, because it names \
                `deploy.sh`, which other calls could change.";
    assert!(texts.contains(said), "{texts}");
    assert!(person.finds("Always allow…").is_none() && person.finds("Always reject…").is_some());
    person.press(Key::Character("A".into()), Modifiers::SHIFT);
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
}

#[test]
fn what_could_not_be_undone_is_allowed_for_the_task_by_two_acts() {
    let Pending::Approval(mut approval) = preset::approval() else { panic!("an approval") };
    approval.for_task = true;
    let mut person = before(Status::WaitingApproval, &[Pending::Approval(approval)], preset::history());
    person.wait(600);
    person.clicks("For this task…");
    assert_eq!(person.asked(), []);
    assert!(person.texts().join("\n").contains("asks only because it could not be undone"));
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "what it would allow has just come into view");
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowForTask, None, None)]);
    assert!(before_approval().finds("For this task…").is_none());
}

#[test]
fn always_remembers_the_rule_that_is_picked() {
    let Pending::Approval(mut approval) = preset::approval() else { panic!("an approval") };
    approval.wider =
        vec![WiderRule { text: "shell(git push *)".into(), matches: "`git push` and more".into() }];
    let offering = || {
        let pending = [Pending::Approval(approval.clone())];
        let mut person = before(Status::WaitingApproval, &pending, preset::history());
        assert!(person.finds("shell(git push *)").is_none(), "only a lasting decision offers rules");
        person.press(Key::Character("A".into()), Modifiers::SHIFT);
        person.wait(600);
        person
    };
    let mut person = offering();
    assert!(person.finds("`git push` and more").is_some());
    person.clicks("shell(git push *)");
    assert_eq!(person.asked(), [], "it is only picked");
    person.wait(600);
    person.named(Named::Enter);
    let rule = || "shell(git push *)".to_owned();
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowAlways, None, Some(rule()))]);

    let mut person = offering();
    person.clicks("shell(git push *)");
    person.wait(600);
    person.clicks("Exactly this");
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::AllowAlways, None, None)]);

    // A lasting rejection offers the same, and keeps its reason.
    let pending = [Pending::Approval(approval.clone())];
    let mut person = before(Status::WaitingApproval, &pending, preset::history());
    person.press(Key::Character("R".into()), Modifiers::SHIFT);
    person.wait(600);
    person.writes("never");
    person.clicks("shell(git push *)");
    assert_eq!(person.asked(), [], "it is only picked");
    assert!(person.texts().iter().any(|text| text.starts_with("“Always”: shell(git push *), in ")));
    person.wait(600);
    person.clicks("Always reject");
    assert_eq!(
        person.asked(),
        [request::decide(APPROVAL, Decision::RejectAlways, Some("never".into()), Some(rule()))]
    );
    let mut person = before(Status::WaitingApproval, &pending, preset::history());
    person.press(Key::Character("R".into()), Modifiers::NONE);
    person.wait(600);
    assert!(person.finds("shell(git push *)").is_none(), "only a lasting decision offers rules");
}

#[test]
fn what_leaves_the_sandbox_shows_its_reason_once_and_as_a_sentence() {
    let Pending::Approval(mut approval) = preset::approval() else { panic!("an approval") };
    let sentence = "it leaves the sandbox; the agent says: “It needs the network.”";
    approval.why = Some(sentence.into());
    let fields = serde_json::json!({ "command": "ls", "outside": true, "reason": "It needs the network." });
    approval.arguments = fields.into();
    let pending = [Pending::Approval(approval)];
    let mut person = before(Status::WaitingApproval, &pending, preset::history());
    let texts = person.texts();
    assert!(texts.iter().any(|text| text.ends_with(&format!(" It asks because {sentence}"))), "{texts:?}");
    assert!(person.finds("outside").is_none() && person.finds("reason").is_none(), "words say it");
}

#[test]
fn a_high_risk_takes_two_clicks() {
    let mut person = before_approval();
    let there = person.finds("Reject…");
    person.clicks("Allow once");
    assert_eq!(person.asked(), []);
    assert!(person.finds(ARMED).is_some(), "it is armed, and its risk is shown");
    assert_eq!(person.finds("Reject…"), there, "no button moves");
    person.wait(599);
    person.clicks("Yes, allow");
    assert_eq!(person.asked(), [], "a double-click is one click");
    person.wait(600);
    person.clicks("Yes, allow");
    assert_eq!(person.asked(), [allowed()]);

    for forget in [|p: &mut Person| p.named(Named::Escape), |p: &mut Person| p.wait(61_000)] {
        let mut person = before_approval();
        person.clicks("Allow once");
        forget(&mut person);
        person.wait(1000);
        person.clicks("Allow once");
        assert_eq!(person.asked(), [], "it was armed anew");
    }

    let mut person = before_approval();
    person.clicks("Allow once");
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [allowed()], "a click and a key");

    let mut medium = preset::approval();
    if let Pending::Approval(approval) = &mut medium {
        approval.risk = Risk::Medium;
    }
    let mut person = before(Status::WaitingApproval, &[medium], preset::history());
    person.clicks("Allow once");
    assert_eq!(person.asked(), [allowed()]);
}

#[test]
fn a_click_that_arms_a_card_selects_it() {
    let (first, mut second) = (preset::approval(), preset::approval());
    let id = ApprovalId(preset::id(0x62));
    if let Pending::Approval(approval) = &mut second {
        approval.id = id;
    }
    let both = [first, second];
    let mut person = before(Status::WaitingApproval, &both, preset::history());
    let buttons = person.finds_all("Allow once");
    let [_, below] = &buttons[..] else { panic!("{buttons:?}") };
    let below = below.center();
    person.clicks_at(below);
    person.wait(600);
    // The key of the selected card.
    person.letter("a");
    person.named(Named::Enter);
    let allowed = [request::decide(id, Decision::AllowOnce, None, None)];
    assert_eq!(person.asked(), allowed);

    let mut person = before(Status::WaitingApproval, &both, preset::history());
    person.clicks_at(below);
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), allowed, "it stays armed when it is selected");
}

/// A decision that lasts is not made by one key, however harmless the call.
#[test]
fn at_low_risk_always_takes_two_keys_too() {
    let waits =
        || before(Status::WaitingApproval, &[preset::low(ApprovalId(preset::id(0x61)))], preset::history());
    let mut person = waits();
    person.press(Key::Character("A".into()), Modifiers::SHIFT);
    assert_eq!(person.asked(), []);
    person.wait(600);
    person.letter("a");
    assert_eq!(person.asked(), [], "another key");
    person.wait(600);
    person.named(Named::Enter);
    let id = ApprovalId(preset::id(0x61));
    assert_eq!(person.asked(), [request::decide(id, Decision::AllowAlways, None, None)]);

    let mut person = waits();
    person.letter("a");
    assert_eq!(person.asked(), [request::decide(id, Decision::AllowOnce, None, None)]);
}

/// Of two questions that Enter confirms, only the one over the page has the keyboard.
#[test]
fn while_a_deletion_is_confirmed_no_card_has_the_keyboard() {
    let mut person = before_approval();
    person.press(Key::Character("A".into()), Modifiers::SHIFT);
    person.wait(600);
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    person.wait(600);
    person.letter("a");
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [Request::DeleteConversation(CONVERSATION.into())]);
}

#[test]
fn a_click_on_a_card_that_has_just_appeared_does_nothing() {
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.clicks("Allow once");
    person.clicks("Stop");
    assert_eq!(person.asked(), []);
    person.wait(600);
    person.clicks("Allow once");
    person.wait(600);
    person.clicks("Yes, allow");
    assert_eq!(person.asked(), [allowed()]);
}

#[test]
fn opening_a_conversation_focuses_its_waiting_card() {
    let mut person = before_approval();
    person.letter("r");
    person.writes("no");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::decide(APPROVAL, Decision::RejectOnce, Some("no".into()), None)]);
}

#[test]
fn a_reply_that_is_only_a_number_is_that_choice() {
    let answer = |words: &str| request::answer(TASK, QUESTION, Some(words.to_owned()));
    for (typed, meant) in [("2", "16–19 March"), ("2 weeks", "2 weeks"), ("3", "3")] {
        let mut person = before_question();
        person.writes(typed);
        assert_eq!(person.asked(), [], "while a caret is drawn a digit only picks");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [answer(meant)]);
    }
    // Without a caret it is the same.
    let mut person = before_question();
    person.named(Named::Escape);
    person.letter("1");
    assert_eq!(person.asked(), [], "the caret has just left");
    person.wait(600);
    person.letter("1");
    assert_eq!(person.asked(), [], "a digit picks");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [answer("9–12 March")]);
    // In the inbox the card has a field of its own.
    let mut person = before_question();
    person.control("i");
    person.wait(1000);
    person.clicks("Your answer");
    person.writes("2");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [answer("16–19 March")]);
}

#[test]
fn enter_does_not_answer_a_question_that_has_just_appeared() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.control("l");
    let (_, asked) =
        preset::waits(Status::WaitingUser, &[Pending::Question(preset::question())], preset::history());
    person.tell(Message::Conversation(CONVERSATION, vec![abide_client::Update::Snapshot(Box::new(asked))]));
    person.writes("the first");
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [request::answer(TASK, QUESTION, Some("the first".into()))]);
}

#[test]
fn a_deletion_is_confirmed_only_once_its_question_was_visible() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.named(Named::Escape);
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.wait(600);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [Request::DeleteConversation(CONVERSATION.into())]);
}

#[test]
fn the_inbox_keys_work_after_a_reason_was_begun_or_a_card_has_gone() {
    // After a reason was begun and left, and after another client has decided.
    let mut person = before_approval();
    person.control("i");
    person.wait(1000);
    person.letter("r");
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(person.finds("Why not? The agent reads it.").is_none());
    person.wait(1000);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [allowed()]);

    let (overview, _) = preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview);
    person.control("i");
    person.wait(1000);
    person.letter("r");
    let mut other = preset::approval();
    if let Pending::Approval(approval) = &mut other {
        (approval.id, approval.risk) = (preset::OTHER_APPROVAL, Risk::Low);
    }
    let (overview, _) = preset::waits(Status::WaitingApproval, &[other], preset::history());
    person.tell(Message::Overview(vec![abide_client::Update::Snapshot(Box::new(overview))]));
    person.wait(1000);
    person.letter("a");
    assert_eq!(person.asked(), [request::decide(preset::OTHER_APPROVAL, Decision::AllowOnce, None, None)]);
}

#[test]
fn text_typed_while_the_agent_works_is_a_draft_or_by_a_click_new_instructions() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.writes("next, the docs");
    assert_eq!(person.asked(), []);
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "next, the docs");
    person.clicks("Make it the task's new instructions");
    let modify = request::modify(TASK, "next, the docs".to_owned());
    assert_eq!(person.asked(), [modify]);
}

#[test]
fn enter_tells_the_draft_to_the_agent_at_work() {
    for status in [Status::Thinking, Status::Paused, Status::WaitingApproval] {
        let waits = if status == Status::WaitingApproval { vec![preset::approval()] } else { Vec::new() };
        let mut person = before(status, &waits, preset::history());
        person.control("l");
        person.writes("mind the docs");
        person.wait(1000);
        person.named(Named::Enter);
        let comment = request::note(TASK, "mind the docs".to_owned());
        assert_eq!(person.asked(), std::slice::from_ref(&comment), "{status:?}");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "it is on its way");
        person.writes(" and more");
        person.tell(is_done(comment));
        assert_eq!(person.app.conversation().unwrap().composer.draft(), "and more", "{status:?}");
    }
}

#[test]
fn with_control_enter_gives_a_task_at_work_new_instructions() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.control("l");
    person.writes("Only the docs.");
    person.wait(1000);
    person.press(Key::Named(Named::Enter), Modifiers::CTRL);
    assert_eq!(person.asked(), [request::modify(TASK, "Only the docs.".to_owned())]);
}

/// It may have been written for something else.
#[test]
fn a_draft_older_than_the_question_answers_it_only_by_a_second_enter() {
    const DRAFT: &str = "This is a draft. Enter twice answers with it.";
    let ask = |person: &mut Person| {
        let waiting = [Pending::Question(preset::question())];
        let (_, conversation) = preset::waits(Status::WaitingUser, &waiting, preset::history());
        let update = abide_client::Update::Snapshot(Box::new(conversation));
        person.tell(Message::Conversation(CONVERSATION, vec![update]));
        person.wait(1000);
    };
    let answer = |words: &str| request::answer(TASK, QUESTION, Some(words.to_owned()));
    let mut person = before(Status::Thinking, &[], preset::history());
    person.control("l");
    person.writes("then push it");
    ask(&mut person);
    assert!(person.finds(DRAFT).is_some());
    person.writes(" to main");
    for _ in 0..5 {
        person.named(Named::Enter);
    }
    assert_eq!(person.asked(), [], "the key repeats");
    assert!(person.finds(DRAFT).is_none() && person.finds("Enter answers with this draft.").is_some());
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [answer("then push it to main")]);

    let mut person = before(Status::Thinking, &[], preset::history());
    person.control("l");
    person.writes("x");
    ask(&mut person);
    person.named(Named::Backspace);
    person.writes("April");
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [answer("April")], "the draft is gone");
}

#[test]
fn a_comment_that_was_sent_is_no_draft_when_its_conversation_is_opened_again() {
    let (overview, conversation) = preset::waits(Status::Thinking, &[], preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation.clone());
    person.wait(60_000);
    person.asked();
    person.writes("mind the docs");
    person.named(Named::Enter);
    let [comment] = &person.asked()[..] else { panic!() };
    person.control("n");
    person.tell(is_done(comment.clone()));
    person.open(CONVERSATION, conversation);
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "");
}

/// What was written as a comment begins no task.
#[test]
fn enter_does_nothing_just_after_the_task_has_ended() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.writes("leave the tests");
    let (_, ended) = preset::waits(Status::Completed, &[], preset::history());
    person.tell(Message::Conversation(CONVERSATION, vec![abide_client::Update::Snapshot(Box::new(ended))]));
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.wait(1000);
    person.named(Named::Enter);
    assert!(matches!(&person.asked()[..], [Request::StartTask(_)]));
}

#[test]
fn a_comment_that_was_refused_stays_a_draft() {
    let mut person = before(Status::Thinking, &[], preset::history());
    person.writes("mind the docs");
    person.named(Named::Enter);
    let [comment] = &person.asked()[..] else { panic!() };
    let failure = Failure { message: "the task has ended".to_owned(), kind: None };
    person.tell(Message::Answered(comment.clone(), Err(failure)));
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "mind the docs");
    assert!(person.finds("the task has ended").is_some());
    // An answer by a card has not sent it either.
    let answer = request::answer(TASK, preset::question().id, Some("yes".to_owned()));
    person.tell(is_done(answer));
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "mind the docs");
}

/// A conversation opens at its end, although the last one was left in its middle.
#[test]
fn a_conversation_opens_at_its_own_scroll_position() {
    let other = ConversationId(preset::id(77));
    let long = || {
        let said = (1..=300)
            .map(|n| preset::said(n, abide_client::protocol::message::Role::Agent, &format!("words {n}")));
        Snapshot { messages: said.collect(), ..preset::empty() }
    };
    let mut person = before(Status::Thinking, &[], long());
    person.wheels(30.0);
    assert!(person.finds("Jump to latest").is_some());
    let (_, mut snapshot) = preset::waits(Status::WaitingApproval, &[preset::approval()], long());
    for item in &mut snapshot.inbox {
        item.conversation_id = other;
    }
    for conversation in &mut snapshot.conversations {
        conversation.id = other;
    }
    for task in &mut snapshot.tasks {
        task.conversation_id = other;
    }
    person.open(other, snapshot);
    assert!(person.finds("Jump to latest").is_none());
    assert!(person.finds("Allow once").is_some(), "it opens at its waiting card");
}

/// Escape goes to the field only while the field has the keyboard.
#[test]
fn escape_disarms_a_card_while_a_title_is_being_changed_in_the_list() {
    let mut person = before_approval();
    person.clicks_right("Fix flaky login test");
    person.clicks("Rename");
    person.control("j");
    person.wait(1000);
    person.letter("a");
    assert!(person.finds(ARMED).is_some());
    person.named(Named::Escape);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
}

#[test]
fn escape_closes_the_keys_and_not_the_renaming_beneath() {
    let mut person = before(Status::Completed, &[], preset::history());
    person.named(Named::F2);
    person.named(Named::F1);
    assert!(person.finds("Keys").is_some() && person.finds("inbox").is_some());
    person.named(Named::Escape);
    assert!(person.finds("inbox").is_none() && person.finds("Rename").is_some());
}

/// What a click begins on a card is cancelled by the next Escape, which is not the second one that stops the
/// task.
#[test]
fn an_escape_cancels_what_was_begun_by_a_click_after_an_escape() {
    for label in ["Always allow…", "Always reject…", "Reject…"] {
        let mut person = before_approval();
        person.named(Named::Escape);
        assert!(person.finds("Esc again stops").is_some());
        person.clicks(label);
        person.wait(700);
        assert!(person.finds("Cancel").is_some(), "{label}");
        person.named(Named::Escape);
        person.named(Named::Escape);
        assert_eq!(person.asked(), [], "{label}");
    }
}
