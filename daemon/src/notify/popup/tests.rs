use super::*;
use crate::notify::{
    item::End,
    tests::{CONVERSATION, TASK, approval, approval_id, question, question_id, waits},
};
use abide_protocol::{
    ConversationId,
    inbox::{Approval, InboxItem, Pending, Question, QuestionKind},
    task::{EndReason, Incomplete},
    transcript::Risk,
};

const PLAIN: Abilities = Abilities { actions: false, inline_reply: false };
const ACTIONS: Abilities = Abilities { actions: true, inline_reply: false };
const REPLIES: Abilities = Abilities { actions: true, inline_reply: true };

fn entry(items: &[InboxItem]) -> Entry {
    Entry {
        conversation: CONVERSATION,
        title: "Tidy up".to_owned(),
        waits: items.iter().map(Item::from).collect(),
        end: None,
    }
}

fn asks(question: Question) -> Entry {
    entry(&[waits(Pending::Question(question))])
}

fn wants(approval: Approval) -> Entry {
    entry(&[waits(Pending::Approval(approval))])
}

fn ended(reason: EndReason, words: &str) -> Entry {
    let end = End { reason, incomplete: None, words: short(words, words::TEXT) };
    Entry { end: Some(end), ..entry(&[]) }
}

/// Keys and labels, and whether there is a field for a reply.
fn offered(entry: Entry, abilities: Abilities) -> (String, bool) {
    let popup = Popup::about(&[entry], abilities);
    let buttons: Vec<String> = popup.buttons.iter().map(|b| format!("{}={}", b.key, b.label)).collect();
    (buttons.join(" "), popup.reply.is_some())
}

#[test]
fn which_actions_an_item_gets() {
    let budget = |choices| Question { kind: QuestionKind::Budget, ..question(1, choices) };
    let open = "open=Open default=Open";
    let long = "x".repeat(50);
    let cut = format!("choice-1={}… choice-2=no {open}", "x".repeat(39));
    let table = [
        // What, then the actions of a server with actions and replies, and whether there is a field.
        (asks(question(1, &[])), open.to_owned(), true),
        (asks(question(1, &["red"])), format!("choice-1=red {open}"), false),
        (
            asks(question(1, &["red", "green", "blue"])),
            format!("choice-1=red choice-2=green choice-3=blue {open}"),
            false,
        ),
        (asks(question(1, &["a", "b", "c", "d"])), open.to_owned(), false),
        (asks(budget(&["go on", "stop"])), format!("choice-1=go on choice-2=stop {open}"), false),
        (asks(budget(&[])), open.to_owned(), false),
        (asks(question(1, &[&long, "no"])), cut, false),
        // Labels that look the same.
        (asks(question(1, &[&format!("{long}1"), &format!("{long}2")])), open.to_owned(), false),
        (
            asks(question(1, &["a\u{1b}[2K\nb", "c"])),
            format!("choice-1=a\\x1b[2K b choice-2=c {open}"),
            false,
        ),
        (wants(approval(1)), format!("allow=Allow once reject=Reject {open}"), false),
        (wants(Approval { in_passing: false, ..approval(1) }), open.to_owned(), false),
        (wants(Approval { risk: Risk::High, ..approval(1) }), open.to_owned(), false),
        (ended(EndReason::Completed, "x"), open.to_owned(), false),
    ];
    for (entry, buttons, has_field) in table {
        assert_eq!(offered(entry.clone(), REPLIES), (buttons.clone(), has_field), "{entry:?}");
        assert_eq!(offered(entry.clone(), ACTIONS), (buttons, false), "{entry:?}");
        assert_eq!(offered(entry.clone(), PLAIN), (String::new(), false), "{entry:?}");
        let no_buttons = Abilities { actions: false, inline_reply: true };
        assert_eq!(offered(entry.clone(), no_buttons), (String::new(), false), "{entry:?}");
    }
}

#[test]
fn what_the_actions_do() {
    let popup = Popup::about(&[asks(question(1, &["red", "a\nb"]))], REPLIES);
    let answer = |said: &str| Act::Answer { task: TASK, question: question_id(1), response: said.to_owned() };
    assert_eq!(popup.act("choice-2"), Some(&answer("a\nb")), "the choice itself, not its label");
    let open = Act::Open(WindowPage::Conversation(CONVERSATION));
    assert_eq!((popup.act("open"), popup.act("default")), (Some(&open), Some(&open)));
    assert_eq!(popup.act("choice-3"), None);
    let popup = Popup::about(&[wants(approval(1))], REPLIES);
    let decide = |decision| Act::Decide { approval: approval_id(1), decision };
    assert_eq!(popup.act("allow"), Some(&decide(Decision::AllowOnce)));
    assert_eq!(popup.act("reject"), Some(&decide(Decision::RejectOnce)));
    let popup = Popup::about(&[asks(question(1, &[]))], REPLIES);
    assert_eq!(popup.reply, Some((TASK, question_id(1))));
}

#[test]
fn what_cannot_be_decided_in_passing_says_why() {
    let body = |approval, abilities| Popup::about(&[wants(approval)], abilities).body;
    let why = |why: &str| Approval { in_passing: false, why: Some(why.to_owned()), ..approval(1) };
    let leaves = || why("it leaves the sandbox; the agent says: “<b>trust me</b>”");
    assert_eq!(body(approval(1), ACTIONS), "shell: make test");
    assert_eq!(
        body(leaves(), ACTIONS),
        "shell: make test\nTo decide, open it: it leaves the sandbox; the agent says: “&lt;b&gt;trust me&lt;/b&gt;”."
    );
    assert_eq!(body(leaves(), PLAIN), "shell: make test", "there is nothing to press anyway");
    let high = Approval { risk: Risk::High, ..approval(1) };
    assert_eq!(body(high, ACTIONS), "shell: make test\nTo decide, open it: its risk is high.");
    let both = Approval { risk: Risk::High, ..why("it uses the network") };
    assert_eq!(
        body(both, ACTIONS),
        "shell: make test\nTo decide, open it: its risk is high; it uses the network."
    );
    let silent = Approval { in_passing: false, ..approval(1) };
    assert_eq!(body(silent, ACTIONS), "shell: make test\nTo decide, open it: there is more to see.");
}

#[test]
fn text_is_cleaned_escaped_and_cut() {
    let hostile = Question { text: "<a href='x'>&\u{0}\r\n2".to_owned(), ..question(1, &[]) };
    let entry = Entry { title: "a\u{1b}]0;x\u{7}\nb\u{202e}c".to_owned(), ..asks(hostile) };
    let popup = Popup::about(&[entry], ACTIONS);
    assert_eq!(popup.summary, "Question: a\\x1b]0;x\\x07 b\\u{202e}c");
    assert_eq!(popup.body, "&lt;a href='x'&gt;&amp;\\x00 2");
    let long = Question { text: "é".repeat(5000), ..question(1, &[]) };
    let popup = Popup::about(&[Entry { title: "t".repeat(500), ..asks(long) }], ACTIONS);
    assert_eq!((popup.summary.chars().count(), popup.body.chars().count()), (120, 400));
    assert!(popup.body.ends_with('…'));
}

#[test]
fn an_end_says_how() {
    let popup = |entry| Popup::about(&[entry], ACTIONS);
    assert_eq!(popup(ended(EndReason::StepLimit, "")).summary, "Step limit reached: Tidy up");
    assert_eq!(
        popup(ended(EndReason::Completed, "All <b>three</b> files & more")).body,
        "All &lt;b&gt;three&lt;/b&gt; files &amp; more"
    );
    let mut cut = ended(EndReason::Completed, "");
    cut.end.as_mut().unwrap().incomplete = Some(Incomplete::Length);
    assert_eq!(popup(cut).summary, "Incomplete, cut at the length limit: Tidy up");
    assert!(!popup(ended(EndReason::Completed, "")).stays && popup(asks(question(1, &[]))).stays);
}

#[test]
fn a_notification_names_the_sub_task_that_asks_and_counts_the_rest() {
    let of_sub_task =
        |pending| InboxItem { root_id: Some(TASK), title: "Option <A>".to_owned(), ..waits(pending) };
    let both =
        vec![of_sub_task(Pending::Question(question(1, &[]))), of_sub_task(Pending::Approval(approval(1)))];
    let popup = Popup::about(&[entry(&both)], REPLIES);
    assert_eq!(popup.body, "Sub-task Option &lt;A&gt;: Which?\nand 1 more");
}

#[test]
fn several_are_counted_and_listed() {
    let named = |n: u128, entry: Entry| Entry {
        conversation: ConversationId(uuid::Uuid::from_u128(n)),
        title: format!("<{n}>"),
        ..entry
    };
    let question = || asks(question(1, &["a"]));
    let end = || ended(EndReason::Completed, "");
    let entries: Vec<Entry> = (1..=6).map(|n| named(n, question())).collect();
    let popup = Popup::about(&entries, REPLIES);
    assert_eq!(popup.summary, "6 tasks need you");
    assert_eq!(
        popup.body,
        "Question: &lt;1&gt;\nQuestion: &lt;2&gt;\nQuestion: &lt;3&gt;\nQuestion: &lt;4&gt;\nand 2 more"
    );
    assert_eq!((popup.act("open"), popup.reply), (Some(&Act::Open(WindowPage::Inbox)), None));
    let summary = |entries: &[Entry]| Popup::about(entries, PLAIN).summary;
    assert_eq!(summary(&[named(1, end()), named(2, end())]), "2 tasks have ended");
    assert!(!Popup::about(&[named(1, end()), named(2, end())], PLAIN).stays);
}
