//! The tree of tasks, and the timelines of sub-tasks.

mod fixture;
mod interventions;

use crate::{
    person::Person,
    preset::{self, CONVERSATION, QUESTION, TASK, said},
    replies::agents,
};
use abide_client::{
    Update,
    protocol::{
        Seq, TaskId,
        message::{Message as Said, MessageKind, Role},
        method::conversation::ListMessagesReply,
        notification::Snapshot,
        task::{AgentTask, Status},
    },
};
use abide_gui::{
    Message,
    app::WindowEvent,
    request::{self, Reply, Request, Timeline},
    screen::{composer::attached, sidebar},
};
use fixture::{Node, child, opened, overview, snapshot};
use iced_test::core::{
    Point, Size,
    keyboard::{Key, Modifiers, key::Named},
    window,
};
use std::time::{Duration, Instant};

const A: TaskId = child(1);
const B: TaskId = child(2);
const C: TaskId = child(3);

/// A root with a sub-task that asks, one that works, and one that has ended.
fn three() -> Vec<Node> {
    vec![
        Node::root(Status::WaitingChildren),
        Node::new(1, TASK, Status::WaitingUser, "Option A"),
        Node::new(2, TASK, Status::Thinking, "Option B"),
        Node::new(3, TASK, Status::Completed, "Option C"),
    ]
}

/// A person who has had time to read the conversation.
fn before(nodes: &[Node]) -> Person {
    let mut person = opened(nodes);
    person.wait(60_000);
    person.asked();
    person
}

/// A person at the page of a task with sub-tasks.
pub(crate) fn three_at_work() -> Person {
    before(&three())
}

/// The composer leaves them the room.
#[test]
fn the_choices_of_a_sub_task_s_question_are_visible_in_a_small_window() {
    let mut person = before(&three());
    person.resizes(640.0, 420.0);
    person.wait(1000);
    for text in
        ["Question for you", "Which week shall I book for?", "9–12 March", "16–19 March", "Decline", "Reply"]
    {
        assert!(person.finds_whole(text), "{text}");
    }
}

#[test]
fn the_key_for_what_waits_brings_its_card_into_view() {
    let mut nodes = three();
    nodes[2].status = Status::WaitingApproval;
    let mut person = before(&nodes);
    person.resizes(640.0, 420.0);
    person.wait(1000);
    for _ in 0..5 {
        person.named(Named::PageUp);
    }
    assert!(!person.finds_whole("9–12 March"));
    person.control("j");
    person.wait(1000);
    assert!(person.finds_whole("9–12 March"), "{:?}", person.texts());
}

/// The card was brought into view, and what follows the answer is below it.
#[test]
fn after_the_answer_to_the_last_card_the_end_is_followed() {
    let mut person = before(&three());
    person.resizes(640.0, 420.0);
    person.wait(1000);
    for _ in 0..5 {
        person.named(Named::PageUp);
    }
    person.control("j");
    person.wait(1000);
    assert!(person.finds("Jump to latest").is_some(), "{:?}", person.texts());
    person.letter("1");
    person.wait(1000);
    person.named(Named::Enter);
    let asked = person.asked();
    assert!(matches!(&asked[..], [Request::UserResponse(_)]), "{asked:?}");
    assert!(person.finds("Jump to latest").is_none(), "{:?}", person.texts());
}

/// The same from the timeline of another sub-task, whose page has other cards, or none.
#[test]
fn the_key_for_what_waits_leads_back_from_a_sub_task_to_the_card() {
    let mut nodes = three();
    nodes[1].status = Status::WaitingApproval;
    nodes[2].status = Status::WaitingApproval;
    let mut person = before(&nodes);
    person.resizes(640.0, 420.0);
    person.wait(1000);
    for _ in 0..5 {
        person.named(Named::PageUp);
    }
    assert!(!person.finds_whole("Allow once"));
    person.resizes(640.0, 900.0);
    person.press(Key::Named(Named::ArrowDown), Modifiers::CTRL | Modifiers::SHIFT);
    answers(&mut person, &nodes, A, "A word of A.");
    assert!(person.finds("A word of A.").is_some(), "{:?}", person.texts());
    person.resizes(640.0, 420.0);
    person.wait(1000);
    person.control("j");
    person.wait(1000);
    assert!(person.finds_whole("Allow once"), "{:?}", person.texts());
}

/// The place of a text from the top.
fn y(person: &mut Person, text: &str) -> f32 {
    let there = person.finds(text);
    assert!(there.is_some(), "{text:?} is not shown");
    there.unwrap().y
}

/// What the daemon sends of a sub-task that is opened.
fn answers(person: &mut Person, nodes: &[Node], task: TaskId, words: &str) {
    let mut of_task = snapshot(nodes);
    let message = Said { task_id: Some(task), ..said(51, Role::Agent, words) };
    of_task.messages = vec![message];
    of_task.calls = Vec::new();
    person.tell(Message::SubTask(task, vec![Update::Snapshot(Box::new(of_task))]));
    person.wait(1000);
}

#[test]
fn a_conversation_without_sub_tasks_has_no_tree() {
    let mut person = before(&[Node::root(Status::Thinking)]);
    assert!(person.finds("SUB-TASKS").is_none());
    person.control("g");
    assert!(person.finds("SUB-TASKS").is_none());
    assert!(person.finds("No sub-tasks.").is_some());
}

#[test]
fn each_task_has_a_line_with_its_state_and_figures() {
    let mut person = before(&three());
    assert!(person.finds("SUB-TASKS").is_some());
    assert!(person.finds("2 live").is_some());
    for words in ["asks you", "working", "step 3 · 1k"] {
        assert!(person.finds(words).is_some(), "{words}: {:?}", person.texts());
    }
    let (root, a, b) =
        (y(&mut person, "1 of 2 needs you"), y(&mut person, "asks you"), y(&mut person, "working"));
    assert!(root < a && a < b, "live ones in the order in which they began: {root} {a} {b}");
}

#[test]
fn ended_ones_are_folded_behind_their_count() {
    let mut person = before(&three());
    assert!(person.finds("completed").is_none());
    person.clicks("1 ended sub-task +");
    assert!(person.finds("completed").is_some());
    person.clicks("1 ended sub-task −");
    assert!(person.finds("completed").is_none());
}

#[test]
fn what_waits_is_amber_up_to_the_root_and_the_list() {
    let nodes = vec![
        Node::root(Status::WaitingChildren),
        Node::new(1, TASK, Status::WaitingChildren, "Option A"),
        Node::new(2, A, Status::WaitingApproval, "A detail"),
        Node::new(3, TASK, Status::Thinking, "Option B"),
    ];
    let fold = before(&nodes);
    let family = fold.app.conversation().unwrap().family().unwrap();
    assert_eq!([TASK, A, B, C].map(|id| family.is_amber(id)), [true, true, true, false]);
    let mut person = before(&nodes);
    assert!(person.finds("3 sub-tasks, 1 needs you").is_some(), "the header: {:?}", person.texts());
    assert!(person.finds("NEEDS YOU").is_some(), "the list");
    assert!(person.finds("approve: git push origin upgrade · A detail").is_some(), "its row");
    assert!(
        person.finds("“A detail”, a sub-task within sub-tasks of “Fix flaky login test”").is_some(),
        "the card names it"
    );
}

#[test]
fn the_tree_is_hidden_and_shown_by_key_and_mouse_and_stays_so() {
    let mut person = before(&three());
    person.control("g");
    assert!(person.finds("SUB-TASKS").is_none());
    person.opens_again(overview(&three()));
    person.open(CONVERSATION, snapshot(&three()));
    assert!(person.finds("SUB-TASKS").is_none(), "it stays hidden");
    person.clicks("3 sub-tasks, 1 needs you");
    assert!(person.finds("SUB-TASKS").is_some());
    person.clicks("Hide");
    assert!(person.finds("SUB-TASKS").is_none());
}

#[test]
fn a_line_opens_the_timeline_of_its_task_and_escape_goes_up() {
    let nodes = vec![
        Node::root(Status::WaitingChildren),
        Node::new(1, TASK, Status::WaitingChildren, "Option A"),
        Node::new(2, A, Status::Thinking, "A detail"),
    ];
    let mut person = before(&nodes);
    assert!(person.finds("I'll run it 50 times first, so that I know what I'm looking at.").is_some());
    person.clicks("working");
    answers(&mut person, &nodes, B, "A word of the detail.");
    assert!(person.finds("A word of the detail.").is_some(), "{:?}", person.texts());
    assert!(person.finds("I'll run it 50 times first, so that I know what I'm looking at.").is_none());
    assert!(person.finds("›").is_some(), "the way to it");
    assert_eq!(person.app.conversation().unwrap().id(), CONVERSATION);

    person.named(Named::Escape);
    answers(&mut person, &nodes, A, "A word of A.");
    assert!(person.finds("A word of A.").is_some());
    person.named(Named::Escape);
    assert!(person.finds("I'll run it 50 times first, so that I know what I'm looking at.").is_some());
    person.wait(1000);
    assert_eq!(person.asked(), [], "no task is stopped");

    // Its crumbs lead up too.
    person.clicks("working");
    answers(&mut person, &nodes, B, "A word of the detail.");
    person.clicks("Fix flaky login test");
    assert!(person.finds("I'll run it 50 times first, so that I know what I'm looking at.").is_some());
}

#[test]
fn a_conversation_is_found_again_where_it_was_left() {
    let nodes = three();
    let mut long = snapshot(&nodes);
    long.messages = (1..=90).map(|n| said(n, Role::Agent, &format!("word {n}"))).collect();
    let mut person = Person::before(overview(&nodes));
    person.open(CONVERSATION, long);
    person.wait(1000);
    person.wheels(20.0);
    let seen: Vec<u64> = (1..=90).filter(|n| person.finds_whole(&format!("word {n}"))).collect();
    assert!(!seen.is_empty() && !seen.contains(&90), "{seen:?}");
    person.clicks("working");
    let mut of_task = snapshot(&nodes);
    of_task.calls.clear();
    let words = (101..=190).map(|n| Said { task_id: Some(B), ..said(n, Role::Agent, &format!("word {n}")) });
    of_task.messages = words.collect();
    person.tell(Message::SubTask(B, vec![Update::Snapshot(Box::new(of_task))]));
    assert!(person.finds_whole("word 190"), "the other timeline begins at its end");
    person.named(Named::Escape);
    assert!(person.finds(&format!("word {}", seen[0])).is_some(), "{seen:?}");
}

#[test]
fn a_word_about_what_was_done_leaves_the_head_as_it_is() {
    let mut person = before(&three());
    person.clicks("working");
    answers(&mut person, &three(), B, "A word of B.");
    let before = person.finds("step 3").unwrap();
    person.press(Key::Character("c".into()), Modifiers::CTRL | Modifiers::SHIFT);
    assert!(person.finds("Copied.").is_some());
    assert_eq!(person.finds("step 3").map(|now| now.y), Some(before.y));
}

#[test]
fn a_deleted_sub_task_says_so_once() {
    let mut nodes = three();
    nodes[1].status = Status::Cancelled;
    let mut person = before(&nodes);
    person.clicks("2 ended sub-tasks +");
    person.clicks("cancelled: deleted");
    let mut of_task = snapshot(&nodes);
    of_task.calls.clear();
    let notice =
        Said { task_id: Some(A), kind: MessageKind::Notice, ..said(51, Role::System, "Deleted by you.") };
    of_task.messages = vec![notice];
    person.tell(Message::SubTask(A, vec![Update::Snapshot(Box::new(of_task))]));
    assert!(person.finds("Cancelled: deleted").is_some(), "{:?}", person.texts());
    assert!(person.finds("Deleted by you.").is_none());
}

#[test]
fn keys_open_one_task_after_the_other() {
    let mut person = before(&three());
    let step = |person: &mut Person, key| person.press(Key::Named(key), Modifiers::CTRL | Modifiers::SHIFT);
    step(&mut person, Named::ArrowDown);
    answers(&mut person, &three(), A, "A word of A.");
    step(&mut person, Named::ArrowDown);
    answers(&mut person, &three(), B, "A word of B.");
    assert!(person.finds("A word of B.").is_some());
    step(&mut person, Named::ArrowUp);
    step(&mut person, Named::ArrowUp);
    assert!(
        person.finds("“Option A”, a sub-task of “Fix flaky login test”").is_some(),
        "{:?}",
        person.texts()
    );
}

#[test]
fn a_sub_task_is_one_line_in_the_timeline_above_it() {
    let mut nodes = three();
    nodes[1].forked_by(61);
    let mut person = before(&nodes);
    let text = person.app.conversation().unwrap().as_text();
    assert!(text.contains("[sub-task] Option A — asks you"), "{text}");
    assert!(!text.contains("[fork]"), "{text}");
    person.control("g");
    person.clicks("asks you");
    answers(&mut person, &nodes, A, "A word of A.");
    assert!(person.finds("A word of A.").is_some());
}

/// A snapshot has the sub-tasks of the newest root task only.
#[test]
fn sub_tasks_of_an_earlier_root_task_keep_their_lines() {
    let mut nodes = vec![
        Node::root(Status::Completed),
        Node::new(1, TASK, Status::Completed, "Option A"),
        Node::new(2, A, Status::Completed, "Deeper"),
    ];
    nodes[1].forked_by(61);
    let known = fixture::tree(&nodes);
    let newest = AgentTask { id: child(100), ..preset::task(Status::Thinking) };
    let snapshot = Snapshot { tasks: vec![newest], ..snapshot(&nodes) };
    let mut person = Person::before(overview(&nodes));
    person.open(CONVERSATION, snapshot.clone());
    person.unfolds();
    let named = format!("sub-task {}", A.short());
    assert!(person.texts().iter().any(|text| text.starts_with(&named)), "{:?}", person.texts());
    let wanted = request::sub_tasks(CONVERSATION);
    assert!(person.sent().contains(&wanted));
    person.tell(Message::Answered(wanted.clone(), Ok(agents(known))));
    assert!(!person.sent().contains(&wanted), "it is requested once");
    assert!(person.finds("Option A").is_some(), "{:?}", person.texts());
    assert!(person.finds("Deeper").is_none(), "it belongs to the timeline of the sub-task");
    assert!(person.finds("fork").is_none());
    // The daemon was away: its snapshot has less than is known.
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot.clone()))]));
    assert!(person.finds("Option A").is_some());
    assert!(person.sent().contains(&wanted), "there may be others now");
    person.clicks("Option A");
    let of_task = Snapshot {
        messages: vec![Said { task_id: Some(A), ..said(51, Role::Agent, "A word of A.") }],
        calls: Vec::new(),
        ..snapshot
    };
    person.tell(Message::SubTask(A, vec![Update::Snapshot(Box::new(of_task))]));
    assert!(person.finds("A word of A.").is_some());
    assert_eq!(person.app.conversation().unwrap().sub_task(), None, "the conversation stays behind it");
    // The part of the path that leads up to the root task, beside the same title in the list.
    let crumb = person.finds_all("Fix flaky login test").into_iter().find(|crumb| crumb.x > 300.0).unwrap();
    person.clicks_at(crumb.center());
    assert!(person.finds("A word of A.").is_none());
    assert!(person.finds("Option A").is_some());
}

#[test]
fn a_message_of_a_sub_task_of_an_earlier_root_task_is_shown_in_its_timeline() {
    let nodes = vec![Node::root(Status::Completed), Node::new(1, TASK, Status::Completed, "Option A")];
    let known = fixture::tree(&nodes);
    let newest = AgentTask { id: child(100), ..preset::task(Status::Completed) };
    let snapshot = Snapshot { tasks: vec![newest], ..snapshot(&nodes) };
    let mut person = Person::before(overview(&nodes));
    person.tell(Message::Sidebar(sidebar::Message::FoundPressed(CONVERSATION, Seq(51), Some(A))));
    person.sent();
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot))]));
    let wanted = request::sub_tasks(CONVERSATION);
    assert_eq!(person.sent().iter().filter(|sent| **sent == wanted).count(), 1);
    person.tell(Message::Answered(wanted.clone(), Ok(agents(known))));
    answers(&mut person, &nodes, A, "A word of A.");
    assert!(person.finds("A word of A.").is_some(), "{:?}", person.texts());
}

/// The columns of several lines are straight, however long their figures are.
#[test]
fn the_columns_of_sub_tasks_are_straight() {
    let mut nodes = three();
    let all = [(1, "asks you"), (2, "working"), (3, "completed")];
    for (n, _) in all {
        nodes[n].forked_by(60 + n as u64);
    }
    let mut person = opened(&nodes);
    person.control("g");
    let mut tasks = fixture::tree(&nodes);
    (tasks[1].usage.input, tasks[2].step_count, tasks[3].usage.input) = (120_000, 12, 7);
    let snapshot = Snapshot { tasks, ..snapshot(&nodes) };
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot))]));
    let lefts = all.map(|(_, doing)| person.finds(doing).unwrap().x);
    assert!(lefts.iter().all(|left| (left - lefts[0]).abs() < 0.5), "{lefts:?}");
}

#[test]
fn a_page_of_a_sub_task_is_asked_for_and_kept_apart() {
    let nodes = three();
    let mut person = before(&nodes);
    person.clicks("working");
    let mut of_task = snapshot(&nodes);
    of_task.calls.clear();
    of_task.messages = (901..1001)
        .map(|n| Said { task_id: Some(B), ..said(n, Role::Agent, &format!("word {n}")) })
        .collect();
    person.tell(Message::SubTask(B, vec![Update::Snapshot(Box::new(of_task))]));
    person.sent();
    person.named(Named::Home);
    let of = Timeline { conversation: CONVERSATION, sub_task: Some(B) };
    let wanted = of.between(Seq(0), Seq(901));
    assert!(person.sent().contains(&wanted));
    let page = ListMessagesReply {
        messages: vec![Said { task_id: Some(B), ..said(801, Role::Agent, "the first word") }],
        calls: Vec::new(),
        events: Vec::new(),
        before: None,
        after: None,
    };
    person.tell(Message::Answered(wanted, Ok(Reply::ListMessages(page))));
    assert!(person.finds("the first word").is_some());
    person.named(Named::Escape);
    assert!(!person.app.conversation().unwrap().as_text().contains("the first word"));
}

#[test]
fn a_draft_of_the_conversation_survives_a_look_at_a_sub_task() {
    let mut person = before(&three());
    person.control("l");
    person.control("l");
    person.writes("Half a thought");
    person.tell(Message::DraftDue);
    person.clicks("working");
    answers(&mut person, &three(), B, "A word of B.");
    person.writes("another");
    person.tell(Message::DraftDue);
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "Half a thought");
    person.opens_again(overview(&three()));
    person.open(CONVERSATION, snapshot(&three()));
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "Half a thought");
}

#[test]
fn the_composer_says_that_sub_tasks_need_the_person() {
    let mut person = before(&three());
    assert!(person.finds("A sub-task needs you: answer above, or write to the agent.").is_some());
    let mut person = before(&sixty_four());
    assert!(person.finds("Write to the agent while it works, or close this window.").is_some());
}

#[test]
fn above_the_timeline_no_line_is_cut() {
    let mut person = before(&sixty_four());
    person.resizes(800.0, 600.0);
    let shown: Vec<String> = (1..8)
        .map(|n| format!("Part {n} of the whole"))
        .filter(|title| person.finds(title).is_some())
        .collect();
    assert!(shown.len() >= 3, "{shown:?}");
    for title in shown {
        assert!(person.finds_whole(&title), "{title}");
    }
}

#[test]
fn a_file_is_not_attached_where_no_prompt_is_written() {
    let mut person = before(&three());
    person.clicks("working");
    answers(&mut person, &three(), B, "A word of B.");
    let notes = attached::look_at(&{
        let file = std::env::temp_dir().join("abide-sub-tasks-notes.txt");
        std::fs::write(&file, "some notes").unwrap();
        file
    });
    person.tell(Message::FileSeen(notes));
    assert!(person.finds("abide-sub-tasks-notes.txt is not attached: no prompt is open here.").is_some());
}

#[test]
fn a_message_of_a_sub_task_that_was_searched_for_is_shown_in_its_timeline() {
    let nodes = three();
    let mut person = Person::before(overview(&nodes));
    let found = sidebar::Message::FoundPressed(CONVERSATION, Seq(51), Some(B));
    person.tell(Message::Sidebar(found));
    person.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot(&nodes)))]));
    answers(&mut person, &nodes, B, "A word of B.");
    assert!(person.finds("A word of B.").is_some(), "{:?}", person.texts());
    // In the open conversation too; and what a root said is in its timeline.
    person.named(Named::Escape);
    person.tell(Message::Sidebar(sidebar::Message::FoundPressed(CONVERSATION, Seq(51), Some(B))));
    answers(&mut person, &nodes, B, "A word of B.");
    assert!(person.finds("A word of B.").is_some());
    person.tell(Message::Sidebar(sidebar::Message::FoundPressed(CONVERSATION, Seq(2), Some(TASK))));
    person.wait(1000);
    assert!(person.finds("I'll run it 50 times first, so that I know what I'm looking at.").is_some());
}

#[test]
fn a_question_of_a_sub_task_is_answered_in_its_timeline() {
    let mut person = before(&three());
    person.clicks("asks you");
    answers(&mut person, &three(), A, "A word of A.");
    assert!(
        person.finds("“Option A”, a sub-task of “Fix flaky login test”").is_none(),
        "here it needs no name"
    );
    assert!(person.finds("Which week shall I book for?").is_some(), "{:?}", person.texts());
    person.wait(1000);
    person.clicks("9–12 March");
    assert_eq!(person.asked(), [request::answer(A, QUESTION, Some("9–12 March".into()))]);
}

#[test]
fn the_choices_of_a_sub_task_s_question_have_their_keys_at_once() {
    let mut person = before(&three());
    for is_new_window in [false, true] {
        if is_new_window {
            person.opens_again(overview(&three()));
            person.tell(Message::Conversation(
                CONVERSATION,
                vec![Update::Snapshot(Box::new(snapshot(&three())))],
            ));
            person.tell(Message::Window(window::Id::unique(), WindowEvent::Opened(Size::new(1280, 800))));
            person.wait(1000);
            person.asked();
        }
        person.letter("1");
        person.named(Named::Enter);
        let answer = request::answer(A, QUESTION, Some("9–12 March".into()));
        assert_eq!(person.asked(), [answer], "{is_new_window}");
    }
}

#[test]
fn the_inbox_names_the_sub_task_and_opens_its_timeline() {
    let mut person = before(&three());
    person.control("i");
    assert!(
        person.finds("“Option A”, a sub-task of “Fix flaky login test”").is_some(),
        "{:?}",
        person.texts()
    );
    person.clicks("Open");
    answers(&mut person, &three(), A, "A word of A.");
    assert!(person.finds("A word of A.").is_some());
}

/// A person without a mouse need not walk through the whole list to the field.
#[test]
fn a_key_leads_to_the_field_for_the_answer() {
    for page in ["the inbox", "the sub-task", "the conversation"] {
        let mut person = before(&three());
        if page == "the inbox" {
            person.control("i");
        } else if page == "the sub-task" {
            person.clicks("asks you");
            answers(&mut person, &three(), A, "A word of A.");
        }
        person.wait(1000);
        person.control("l");
        person.writes("in May");
        person.wait(1000);
        person.named(Named::Enter);
        assert_eq!(person.asked(), [request::answer(A, QUESTION, Some("in May".into()))], "{page}");
    }
}

#[test]
fn the_question_of_a_sub_task_is_not_answered_by_the_composer_of_the_root() {
    let mut person = before(&three());
    person.control("l");
    person.control("l");
    person.wait(1000);
    person.writes("not meant for it");
    person.named(Named::Enter);
    person.wait(1000);
    assert_eq!(person.asked(), [request::note(TASK, "not meant for it".into())]);
}

/// Every eighth of them has seven sub-tasks of its own.
fn sixty_four() -> Vec<Node> {
    let mut nodes = vec![Node::root(Status::WaitingChildren)];
    for n in 1..64 {
        let parent = if n % 8 == 1 { TASK } else { child(n - (n - 1) % 8) };
        let status = match n % 8 {
            1 => Status::WaitingChildren,
            5 => Status::Completed,
            _ => Status::Thinking,
        };
        nodes.push(Node::new(n, parent, status, &format!("Part {n} of the whole")));
    }
    nodes
}

#[test]
fn of_sixty_four_tasks_only_those_near_the_view_are_built() {
    let mut person = before(&sixty_four());
    let built = person.texts().iter().filter(|text| text.starts_with("Part ")).count();
    assert!((10..=30).contains(&built), "{built} lines");
    assert!(person.finds("Part 63 of the whole").is_none());
    person.wheels_over(Point::new(1150.0, 400.0), -100.0);
    assert!(person.finds("Part 63 of the whole").is_some(), "{:?}", person.texts());
    assert!(person.finds("Part 1 of the whole").is_none());
    assert_eq!(person.messages_of_a_frame().len(), 0, "it is at rest");
}

#[test]
fn a_tree_in_which_all_wait_draws_no_frame() {
    let mut nodes = three();
    nodes[2].status = Status::Paused;
    let mut person = before(&nodes);
    person.named(Named::Escape);
    assert_eq!(person.messages_of_a_frame().len(), 0);
    assert!(!person.wants_a_frame_after(Instant::now()), "nothing moves");
    assert_eq!(person.app.beat(), Some(Duration::from_secs(20)));
}

#[test]
fn in_a_small_window_the_tree_is_above_the_timeline() {
    let mut person = before(&three());
    person.resizes(800.0, 600.0);
    let tree = person.finds("SUB-TASKS").unwrap();
    assert!(tree.x < 400.0 && tree.y < 120.0, "{tree:?}");
    assert!(person.finds("Option B").is_some());
    let count = "3 sub-tasks, 1 needs you";
    assert!(
        person.finds(count).is_none(),
        "the panel has it; the folder needs the room: {:?}",
        person.texts()
    );
    person.clicks("Hide");
    assert!(person.finds(count).is_some());
    person.clicks(count);
    person.resizes(800.0, 350.0);
    assert!(person.finds("SUB-TASKS").is_none(), "the card needs the room");
    person.resizes(800.0, 450.0);
    assert!(person.finds("SUB-TASKS").is_none(), "both have no room");
    person.resizes(800.0, 600.0);
    assert!(person.finds("SUB-TASKS").is_some(), "they were not hidden");
}

#[test]
fn in_a_low_window_the_tree_covers_the_timeline_while_it_is_asked_for() {
    let mut person = before(&three());
    person.resizes(640.0, 420.0);
    assert!(person.finds("SUB-TASKS").is_none(), "{:?}", person.texts());
    person.control("g");
    assert!(person.finds("SUB-TASKS").is_some(), "{:?}", person.texts());
    person.named(Named::Escape);
    assert!(person.finds("SUB-TASKS").is_none(), "Escape closes it");
    assert!(person.finds("Esc again stops").is_none(), "and arms no stop");
    person.clicks("3 sub-tasks, 1 needs you");
    person.clicks("Option B");
    assert!(person.finds("SUB-TASKS").is_none(), "the timeline that was chosen is shown");
    assert!(person.finds("›").is_some(), "{:?}", person.texts());
    person.control("g");
    person.resizes(1280.0, 800.0);
    person.resizes(640.0, 420.0);
    person.control("g");
    assert!(person.finds("SUB-TASKS").is_none(), "the same key closes it");
}

#[test]
fn an_ended_task_tells_its_end() {
    let mut person = before(&three());
    person.clicks("1 ended sub-task +");
    person.clicks("completed");
    answers(&mut person, &three(), C, "A word of C.");
    assert!(person.finds("Option C").is_some());
}
