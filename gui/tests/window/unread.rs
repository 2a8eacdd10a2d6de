//! What a person has not seen is not allowed: the end of a long call must be shown first, and blanks hide
//! nothing.

use crate::{
    person::Person,
    preset::{self, APPROVAL},
};
use abide_client::protocol::{
    JsonText,
    inbox::{Decision, Pending},
    task::Status,
    transcript::Risk,
};
use abide_gui::request::{self, Request};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

fn allowed() -> Request {
    request::decide(APPROVAL, Decision::AllowOnce, None, None)
}
const ON: &str = "Scroll to the end to allow";

/// A person who has had time to read the open conversation, or the inbox, where this command waits.
fn before(command: &str, risk: Risk, in_inbox: bool) -> Person {
    let Pending::Approval(mut approval) = preset::approval() else { unreachable!("an approval") };
    let arguments = serde_json::json!({ "command": command, "outside": true }).to_string();
    (approval.arguments, approval.risk) = (JsonText::parse(&arguments).unwrap(), risk);
    let mut person =
        Person::opened(Status::WaitingApproval, &[Pending::Approval(approval)], preset::history());
    if in_inbox {
        person.control("i");
    }
    person.wait(60_000);
    person.asked();
    person
}

fn long() -> String {
    (0..80).map(|n| format!("echo {n}\n")).collect::<String>() + "rm -rf ~/important"
}

#[test]
fn blanks_hide_nothing() {
    for (command, told) in [
        (format!("echo ok{}rm -rf ~/important", "\n".repeat(27)), "26 empty lines"),
        (format!("echo ok;{}rm -rf ~/important", " ".repeat(9000)), "9,000 spaces, on the same line"),
    ] {
        let mut person = before(&command, Risk::High, false);
        assert!(person.finds_whole("rm -rf ~/important"), "{told}: {:?}", person.texts());
        assert!(person.finds_whole(told), "{:?}", person.texts());
        assert!(person.finds(ON).is_none(), "all of it is shown");
        person.letter("a");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [allowed()]);
    }
}

#[test]
fn a_call_whose_end_was_not_shown_is_not_allowed() {
    for risk in [Risk::Low, Risk::Medium, Risk::High] {
        for in_inbox in [false, true] {
            let what = format!("{risk:?}, inbox: {in_inbox}");
            let mut person = before(&long(), risk, in_inbox);
            assert!(person.finds(ON).is_some(), "{what}: {:?}", person.texts());
            for _ in 0..2 {
                person.letter("a");
                person.named(Named::Enter);
                person.press(Key::Character("A".into()), Modifiers::SHIFT);
                person.wait(1000);
                person.named(Named::Enter);
                for button in ["Allow once", "Always allow…"] {
                    person.wait(1000);
                    person.clicks(button);
                    person.wait(1000);
                    person.named(Named::Enter);
                }
            }
            assert_eq!(person.asked(), [], "{what}");
            assert!(person.finds("Allow once").is_some(), "{what}: nothing was begun");
            person.letter("r");
            assert!(person.finds("Why not? The agent reads it.").is_some(), "{what}: it can be rejected");
        }
    }
}

#[test]
fn a_key_and_a_button_show_the_end() {
    for by_key in [true, false] {
        for in_inbox in [false, true] {
            let what = format!("by key: {by_key}, inbox: {in_inbox}");
            let mut person = before(&long(), Risk::High, in_inbox);
            let mut turned = 0;
            while person.finds(ON).is_some() {
                assert_eq!(person.asked(), [], "{what}");
                if by_key {
                    person.named(Named::PageDown);
                } else {
                    person.clicks(ON);
                }
                turned += 1;
                assert!(turned < 20, "{what}: the end does not come");
            }
            assert!(turned > 1, "{what}: a page at a time");
            person.letter("a");
            person.named(Named::Enter);
            assert_eq!(person.asked(), [], "{what}: it has just been shown");
            person.wait(600);
            person.letter("a");
            person.named(Named::Enter);
            assert_eq!(person.asked(), [allowed()], "{what}");
        }
    }
}

/// It is told apart from all other cards, and begins with what follows from it.
#[test]
fn a_call_of_high_risk_says_first_what_follows() {
    let title = |risk| {
        let mut person = before("make", risk, false);
        let title = |text: &String| text.contains("shell?") || text.contains("· shell");
        person.texts().into_iter().find(title).unwrap()
    };
    let first = "Runs outside the sandbox, with all your rights · shell";
    assert!(title(Risk::High).starts_with(first), "{}", title(Risk::High));
    assert!(title(Risk::Low).starts_with("Approve shell?"));
    let mut person = before("make", Risk::High, false);
    assert!(person.finds("outside").is_none() && person.finds("make").is_some(), "{:?}", person.texts());
}
