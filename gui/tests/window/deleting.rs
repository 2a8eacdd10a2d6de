//! The question before a conversation is deleted.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    ConversationId, JsonText,
    inbox::Rule,
    memory::LEFT_BEHIND,
    method::rule::{ListRulesReply, RememberedRule, RuleOrigin},
    notification::Snapshot,
    task::Status,
};
use abide_gui::{
    Message,
    request::{self, Reply},
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

fn before(status: Status) -> Person {
    let (overview, conversation) = preset::waits(status, &[], preset::history());
    let live = |tasks: Vec<_>| if status.has_ended() { Vec::new() } else { tasks };
    let mut person = Person::before(Snapshot { tasks: live(overview.tasks), ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person
}

#[test]
fn deleting_mentions_a_running_task_only_if_there_is_one() {
    let left = "What other conversations quote of it is blanked; what models wrote about it remains.";
    let on_page = format!("Delete this conversation and all its records for good? {left}");
    let in_list = format!("Delete it and all its records for good? {left}");
    for (status, more) in [(Status::Thinking, " A running task is stopped."), (Status::Completed, "")] {
        let mut person = before(status);
        person.named(Named::Escape);
        person.press(Key::Named(Named::Delete), Modifiers::CTRL);
        assert!(person.finds(&format!("{on_page}{more}")).is_some(), "{status:?}: on the page");
        let mut person = before(status);
        person.control("n");
        person.clicks_right("Fix flaky login test");
        person.clicks("Delete…");
        assert!(person.finds(&format!("{in_list}{more}")).is_some(), "{status:?}: in the list");
    }
}

#[test]
fn deleting_says_what_stays_remembered() {
    let here = RuleOrigin {
        rule: Rule {
            tool: "shell".into(),
            arguments: JsonText::parse("{}").unwrap(),
            workspace: "/home/me/src/web".into(),
        },
        at: preset::NOW,
        conversation_id: CONVERSATION,
        conversation_title: "Fix flaky login test".into(),
    };
    let elsewhere = RuleOrigin { conversation_id: ConversationId(preset::id(99)), ..here.clone() };
    for (origin, more) in
        [(here, " What you decided for always stays remembered; Settings can forget it."), (elsewhere, "")]
    {
        let rule = RememberedRule { id: "ab".repeat(32), allow: true, origin: Some(origin), text: None };
        let told = |person: &mut Person| {
            assert!(person.sent().contains(&request::rules(None)));
            let page = ListRulesReply { rules: vec![rule.clone()], before: None, policy: Vec::new() };
            person.tell(Message::Answered(request::rules(None), Ok(Reply::ListRules(page))));
        };
        let mut person = before(Status::Completed);
        person.named(Named::Escape);
        person.press(Key::Named(Named::Delete), Modifiers::CTRL);
        told(&mut person);
        let asked = format!("Delete this conversation and all its records for good? {LEFT_BEHIND}{more}");
        assert!(person.finds(&asked).is_some(), "on the page: {asked}");
        let mut person = before(Status::Completed);
        person.control("n");
        person.clicks_right("Fix flaky login test");
        person.clicks("Delete…");
        told(&mut person);
        let asked = format!("Delete it and all its records for good? {LEFT_BEHIND}{more}");
        assert!(person.finds(&asked).is_some(), "in the list: {asked}");
    }
}
