//! The list of conversations: its place, its groups and its actions.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION, NOW},
    sub_tasks,
};
use abide_client::{
    Update,
    protocol::{
        ConversationId, Timestamp,
        conversation::{Conversation, LatestTask},
        inbox::{Pending, Question},
        method::task::StartTaskReply,
        notification::{ConversationUpdate, Notification, Snapshot},
        task::{AgentTask, EndReason, Incomplete, Status, Work},
    },
};
use abide_gui::{
    Message,
    app::WindowEvent,
    request::{self, Reply, Request},
};
use iced_test::core::{Point, Rectangle, keyboard::key::Named, window};
use std::time::Duration;

/// A conversation that was last used this many hours ago.
fn used(n: u128, hours: i64, title: &str) -> Conversation {
    let task = preset::task(Status::Completed);
    Conversation {
        id: ConversationId(preset::id(100 + n)),
        title: title.into(),
        updated_at: Timestamp(NOW.0 - hours * 3_600_000),
        task: Some(LatestTask { id: abide_client::protocol::TaskId(preset::id(100 + n)), ..latest(&task) }),
        ..preset::conversation(&task)
    }
}

fn latest(task: &abide_client::protocol::task::AgentTask) -> LatestTask {
    LatestTask::from(task)
}

fn with(conversations: Vec<Conversation>) -> Person {
    Person::before(Snapshot { conversations, ..preset::empty() })
}

fn working() -> Person {
    let mut person = Person::opened(Status::Thinking, &[], preset::history());
    person.wait(1000);
    person.asked();
    person
}

/// The daemon counts a new message as unread until the window has marked it.
#[test]
fn a_message_that_is_seen_at_once_is_not_shown_as_unread() {
    let mut person = working();
    let now = Conversation { unread: 7, ..preset::conversation(&preset::task(Status::Thinking)) };
    let now = ConversationUpdate { conversation_id: CONVERSATION, conversation: Some(now) };
    person.tell(Message::Overview(vec![Update::Notification(Notification::ConversationUpdate(now))]));
    assert!(person.finds("7").is_none());
    person.tell(Message::Window(window::Id::unique(), WindowEvent::Unfocused));
    assert!(person.finds("7").is_some(), "nobody looks");
}

#[test]
fn what_came_while_another_page_was_open_is_read_on_the_way_back() {
    let mut person = working();
    person.control("i");
    let now = Conversation { unread: 7, ..preset::conversation(&preset::task(Status::Thinking)) };
    let now = ConversationUpdate { conversation_id: CONVERSATION, conversation: Some(now) };
    person.tell(Message::Overview(vec![Update::Notification(Notification::ConversationUpdate(now))]));
    assert!(person.finds("7").is_some());
    person.sent();
    person.named(Named::Escape);
    assert!(person.finds("7").is_none());
    assert!(person.sent().iter().any(|sent| matches!(sent, Request::MarkRead(_))));
}

#[test]
fn the_menu_of_the_lowest_row_is_scrolled_into_view() {
    let mut person = with((0..40).map(|n| used(n, 0, &format!("number {n}"))).collect());
    let in_view = (0..40).filter_map(|n| Some((n, person.finds(&format!("number {n}"))?.y)));
    let (lowest, _) = in_view.max_by(|a, b| a.1.total_cmp(&b.1)).expect("a row is in view");
    person.clicks_right(&format!("number {lowest}"));
    let whole = |person: &mut Person, text| person.finds(text).is_some_and(|at| at.height > 10.0);
    for button in ["Rename", "Delete…"] {
        assert!(whole(&mut person, button), "{button}");
    }
    person.clicks("Delete…");
    for button in ["Delete", "Keep"] {
        assert!(whole(&mut person, button), "{button}");
    }
}

/// The conversation and the inbox of the last `focus` that the window sent since it was last asked.
fn shown(person: &mut Person) -> Option<(Option<ConversationId>, bool)> {
    person.sent().into_iter().rev().find_map(|sent| match sent {
        Request::Focus(shown) => Some((shown.conversation_id, shown.inbox)),
        _ => None,
    })
}

/// A notification would not be sent for what the daemon believes to be in view.
#[test]
fn a_window_that_opens_behind_another_one_counts_as_not_seen() {
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::opens();
    person.overview(overview);
    person.open(CONVERSATION, conversation);
    assert_eq!(shown(&mut person), Some((None, false)));
    person.tell(Message::Window(window::Id::unique(), WindowEvent::Focused));
    assert_eq!(shown(&mut person), Some((Some(CONVERSATION), false)));
}

#[test]
fn the_daemon_knows_what_the_person_sees() {
    let mut person = working();
    person.sent();
    person.control("i");
    assert_eq!(shown(&mut person), Some((None, true)));
    person.tell(Message::Window(window::Id::unique(), WindowEvent::Unfocused));
    assert_eq!(shown(&mut person), Some((None, false)), "another window is in front");
    person.tell(Message::Window(window::Id::unique(), WindowEvent::Focused));
    person.named(Named::Escape);
    assert_eq!(shown(&mut person), Some((Some(CONVERSATION), false)));
}

fn has_row_in_view(person: &mut Person, title: &str) -> bool {
    person.finds_all(title).iter().any(|at| at.x < 100.0 && at.height > 10.0)
}

#[test]
fn the_row_of_a_conversation_that_is_opened_by_a_key_is_scrolled_into_view() {
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let ended = (0..40).map(|n| used(n, 0, &format!("number {n}")));
    let conversations = overview.conversations.iter().cloned().chain(ended).collect();
    let title = overview.conversations[0].title.clone();
    let mut person = Person::before(Snapshot { conversations, ..overview });
    person.wheels_over(Point::new(100.0, 300.0), -40.0);
    assert!(!has_row_in_view(&mut person, &title));
    person.control("j");
    person.open(CONVERSATION, conversation);
    assert!(has_row_in_view(&mut person, &title));
}

#[test]
fn the_row_of_the_conversation_of_the_last_time_is_in_view() {
    let conversations: Vec<Conversation> = (0..40).map(|n| used(n, 1, &format!("number {n}"))).collect();
    let last = conversations[39].clone();
    let overview = Snapshot { conversations, ..preset::empty() };
    let mut person = Person::before(overview.clone());
    person.open(last.id, Snapshot { conversations: vec![last.clone()], ..preset::empty() });
    person.opens_again(overview);
    let others = (0..40).filter(|n| has_row_in_view(&mut person, &format!("number {n}"))).count();
    assert!(others < 39, "the list is longer than its view");
    assert!(has_row_in_view(&mut person, &last.title));
}

/// Its row may come before the reply to its beginning or after it. A search for something else would hide it.
#[test]
fn a_conversation_that_has_begun_is_in_view_in_the_list() {
    for is_listed_first in [true, false] {
        let mut person = with((0..40).map(|n| used(n, 1, &format!("number {n}"))).collect());
        person.control("k");
        person.writes("number");
        person.named(Named::Escape);
        person.control("n");
        person.writes("Look");
        person.named(Named::Enter);
        let asked = person.asked();
        let [.., Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
        let params = params.clone();
        person.wheels_over(Point::new(100.0, 300.0), -40.0);
        let task = preset::task(Status::Thinking);
        let begun = Conversation { title: "The new one".into(), ..preset::conversation(&task) };
        let begun = ConversationUpdate { conversation_id: begun.id, conversation: Some(begun) };
        let listed = Message::Overview(vec![Update::Notification(Notification::ConversationUpdate(begun))]);
        let started =
            StartTaskReply { task_id: task.id, conversation_id: task.conversation_id, beside: None };
        let replied = Message::Answered(Request::StartTask(params), Ok(Reply::StartTask(started)));
        let told = if is_listed_first { [listed, replied] } else { [replied, listed] };
        for message in told {
            person.tell(message);
        }
        assert!(has_row_in_view(&mut person, "The new one"), "listed first: {is_listed_first}");
    }
}

#[test]
fn ended_conversations_are_grouped_by_day() {
    let mut person =
        with(vec![used(3, 0, "the new one"), used(2, 24, "of yesterday"), used(1, 90, "the old one")]);
    let [today, new, yesterday, before, earlier, old] =
        ["TODAY", "the new one", "YESTERDAY", "of yesterday", "EARLIER", "the old one"]
            .map(|text| person.finds(text).map(|at| at.y).unwrap_or_else(|| panic!("{text}")));
    let order = [today, new, yesterday, before, earlier, old];
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn an_end_has_the_same_colour_and_name_in_the_list_and_on_the_page() {
    let mut colours = Vec::new();
    for (reason, incomplete) in [
        (EndReason::Completed, Some(Incomplete::Length)),
        (EndReason::StepLimit, None),
        (EndReason::Stopped, None),
    ] {
        let (overview, conversation) = preset::waits(reason.status(), &[], preset::history());
        let mut task = conversation.tasks[0].clone();
        (task.end_reason, task.incomplete, task.ended_at) = (Some(reason), incomplete, Some(NOW));
        let conversations = vec![preset::conversation(&task)];
        let mut person = Person::before(Snapshot { conversations, tasks: Vec::new(), ..overview });
        person.open(CONVERSATION, Snapshot { tasks: vec![task.clone()], ..conversation });
        let words = LatestTask::from(&task).words();
        let in_list = person.finds(&format!("{words} · web"));
        let Some(in_list) = in_list else { panic!("{words}: not in the list") };
        let on_page = person.finds(&(words[..1].to_uppercase() + &words[1..])).unwrap();
        let row = Rectangle { x: 0.0, y: in_list.y - 30.0, width: in_list.x, height: 60.0 };
        let dots = drawn::dots(&mut person, row);
        let ink = drawn::ink(&mut person, on_page).unwrap();
        assert_eq!(dots, [ink], "{words}");
        colours.push(ink);
    }
    assert!(colours[0] == colours[1] && colours[1] != colours[2], "a person wanted the stop: {colours:?}");
}

#[test]
fn hiding_and_resizing_the_list_leaves_the_page_unchanged() {
    let mut person = working();
    person.writes("half a thought");
    let before = person.finds("WORKING").unwrap();
    person.picks("show or hide the list");
    assert!(person.finds("WORKING").is_none());
    person.writes(", and the rest");
    let draft = person.draft();
    assert_eq!(draft, "half a thought, and the rest", "the caret has stayed");
    person.clicks("Conversations");
    assert_eq!(person.finds("WORKING"), Some(before));
    person.drags(Point::new(288.0, 400.0), Point::new(400.0, 400.0));
    let title = person.finds("Send").or(person.finds("Stop")).unwrap();
    assert!(title.x > 400.0);
    person.drags(Point::new(400.0, 400.0), Point::new(5.0, 400.0));
    assert!(person.finds("WORKING").is_some(), "the list cannot be dragged out of the window");
}

#[test]
fn in_a_narrow_window_the_list_lies_over_the_page() {
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.resizes(500.0, 420.0);
    assert!(person.finds("NEEDS YOU").is_none());
    assert!(person.finds("Conversations").is_some());
    person.wait(1000);
    person.asked();
    person.control("b");
    assert!(person.finds("NEEDS YOU").is_some());
    person.wait(5000);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "the card is behind the list");
    person.control("b");
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "the card has just come into view");
    // Selecting a conversation hides the list.
    person.control("b");
    person.clicks("approve: git push origin upgrade");
    assert!(person.finds("NEEDS YOU").is_none());
    person.control("k");
    person.writes("flaky");
    assert!(person.finds("NEEDS YOU").is_some(), "a search shows what it finds");
    person.named(Named::Escape);
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(person.finds("NEEDS YOU").is_none());
}

/// The composer under the list has no caret, and gets it back with the page.
#[test]
fn while_the_list_lies_over_the_page_no_field_of_the_page_has_the_caret() {
    for closed_by in ["its key", "Escape", "a click beside it"] {
        let mut person = working();
        person.resizes(500.0, 600.0);
        person.control("l");
        person.writes("now");
        assert_eq!(person.focused(), 1);
        person.picks("show or hide the list");
        assert!(person.finds("WORKING").is_some());
        assert_eq!(person.focused(), 0, "the composer is covered");
        person.writes("unseen");
        assert_eq!(person.draft(), "now");
        person.clicks("Search");
        assert_eq!(person.focused(), 1, "one caret is drawn");
        person.writes("flaky");
        assert_eq!(person.draft(), "now");
        // The first Escape leaves the field, the second one clears it.
        person.named(Named::Escape);
        person.named(Named::Escape);
        assert!(person.finds("Search").is_some(), "the list still covers the page");
        assert_eq!(person.focused(), 0);
        match closed_by {
            "its key" => person.control("b"),
            "Escape" => person.named(Named::Escape),
            _ => person.clicks_at(Point::new(490.0, 300.0)),
        }
        assert!(person.finds("Search").is_none(), "{closed_by}");
        assert_eq!(person.focused(), 1, "{closed_by}");
        person.wait(1000);
        person.writes(" then");
        assert_eq!(person.draft(), "now then", "{closed_by}");
    }
}

/// The same of the tree, and of a palette or a list of keys over the list.
#[test]
fn what_covers_the_page_takes_the_caret_and_gives_it_back() {
    for (name, open, close) in
        [("the tree", "show or hide the tree", "g"), ("the list", "show or hide the list", "b")]
    {
        for above in [false, true] {
            let mut person = sub_tasks::three_at_work();
            person.resizes(500.0, 420.0);
            // A card has the key first.
            person.control("l");
            person.control("l");
            person.writes("now");
            person.picks(open);
            assert_eq!(person.focused(), 0, "{name}");
            if above {
                person.named(Named::F1);
                person.named(Named::Escape);
                assert_eq!(person.focused(), 0, "{name} still covers it");
            }
            person.writes("unseen");
            person.control(close);
            assert_eq!(person.focused(), 1, "{name}");
            person.wait(1000);
            person.writes(" then");
            assert_eq!(person.draft(), "now then", "{name}");
        }
    }
}

/// The list lies beside the page in a wide window: a page that is seen again has its caret again.
#[test]
fn a_window_that_grows_gives_the_caret_back() {
    let mut person = working();
    person.resizes(500.0, 600.0);
    person.control("l");
    person.writes("now");
    person.picks("show or hide the list");
    assert_eq!(person.focused(), 0);
    person.resizes(1280.0, 600.0);
    assert_eq!(person.focused(), 1);
    person.wait(1000);
    person.writes(" then");
    assert_eq!(person.draft(), "now then");
}

#[test]
fn no_frame_requests_another_one_at_rest() {
    let mut person = Person::opened(Status::WaitingApproval, &[preset::approval()], preset::history());
    for (name, width) in [("beside", 1280.0), ("away", 500.0), ("over", 500.0), ("over the inbox", 500.0)] {
        if name == "over the inbox" {
            person.control("i");
        }
        person.resizes(width, 600.0);
        if name.starts_with("over") {
            person.control("b");
        }
        person.wait(5000);
        let told = person.messages_of_a_frame();
        assert!(told.is_empty(), "{name}: {told:?}");
    }
}

#[test]
fn a_conversation_is_renamed_pinned_archived_and_deleted_from_the_list() {
    let mut person = with(vec![used(1, 90, "the old one"), used(2, 0, "the new one")]);
    person.clicks_right("the old one");
    person.clicks("Pin");
    assert!(person.finds("PINNED").is_some());
    let (old, new) = (person.finds("the old one").unwrap(), person.finds("the new one").unwrap());
    assert!(old.y < new.y);

    person.clicks_right("the old one");
    person.clicks("Rename");
    person.named(Named::End);
    person.writes(" still");
    person.named(Named::Enter);
    let asked = person.asked();
    let [Request::UpdateConversation(update)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(update.title.as_deref(), Some("the old one still"), "after End it is kept");

    person.clicks_right("the new one");
    person.clicks("Delete…");
    person.clicks("Delete");
    assert_eq!(person.asked(), [], "a click on a question that has just appeared does nothing");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "nor does a key");
    person.wait(600);
    assert!(person.finds("↵").is_some() && person.finds("Esc").is_some(), "its keys are named");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [Request::DeleteConversation(ConversationId(preset::id(102)).into())]);

    person.clicks_right("the new one");
    person.clicks("Delete…");
    person.named(Named::Escape);
    person.wait(1000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "kept");
    person.clicks_right("the new one");
    person.clicks("Delete…");
    person.wait(1000);
    person.clicks("Delete");
    assert_eq!(person.asked(), [Request::DeleteConversation(ConversationId(preset::id(102)).into())]);

    person.clicks_right("the new one");
    person.wait(1000);
    person.clicks("Archive");
    assert_eq!(person.asked(), [request::archive(ConversationId(preset::id(102)), true)]);

    person.clicks_right("the new one");
    person.wait(1000);
    person.clicks("Mute");
    let asked = person.asked();
    let [Request::UpdateConversation(params)] = &asked[..] else { panic!("{asked:?}") };
    let id = ConversationId(preset::id(102)).to_string();
    assert_eq!((&params.conversation_id, &params.title, params.muted), (&id, &None, Some(true)));
}

#[test]
fn a_conversation_is_renamed_from_the_list_by_the_pointer_alone() {
    let mut person = with(vec![used(1, 0, "the old one")]);
    for (button, asked) in [("Cancel", 0), ("Save", 1)] {
        person.clicks_right("the old one");
        person.clicks("Rename");
        person.writes("the better one");
        person.clicks(button);
        let updates: Vec<_> = person
            .asked()
            .into_iter()
            .filter_map(|asked| match asked {
                Request::UpdateConversation(update) => update.title,
                _ => None,
            })
            .collect();
        assert_eq!(updates, vec!["the better one"; asked], "what is typed replaces the title: {button}");
        assert!(person.finds("Cancel").is_none(), "{button} closes the field");
    }
}

#[test]
fn one_escape_ends_a_renaming() {
    let mut person = with(vec![used(1, 0, "the old one")]);
    person.clicks_right("the old one");
    person.clicks("Rename");
    person.named(Named::Escape);
    assert!(person.finds("Cancel").is_none() && person.finds("the old one").is_some());
    person.clicks("the old one");
    person.named(Named::F2);
    assert!(person.finds("Cancel").is_some());
    person.named(Named::Escape);
    assert!(person.finds("Cancel").is_none());
    assert!(!person.asked().iter().any(|asked| matches!(asked, Request::UpdateConversation(_))));
}

#[test]
fn a_search_is_left_by_the_pointer_alone() {
    let mut person = with(vec![used(1, 0, "about apples"), used(2, 1, "about pears")]);
    assert!(person.finds("Clear").is_none(), "nothing is searched for");
    person.control("k");
    person.writes("pears");
    assert!(person.finds("about apples").is_none());
    person.clicks("Clear");
    assert!(person.finds("about apples").is_some() && person.finds("about pears").is_some());
    assert!(person.finds("Clear").is_none());
}

#[test]
fn a_paused_task_is_not_counted_as_working() {
    let mut person = Person::opened(Status::Paused, &[], preset::history());
    assert!(person.finds("WORKING").is_none());
    assert!(person.finds("PAUSED").is_some());
}

/// A pinned conversation that needs the person stays in that group, so the pin is shown by a sign.
#[test]
fn a_pin_is_visible_in_every_group() {
    for (status, group) in
        [(Status::WaitingApproval, "NEEDS YOU"), (Status::Thinking, "WORKING"), (Status::Paused, "PAUSED")]
    {
        let pending = if status == Status::WaitingApproval { vec![preset::approval()] } else { Vec::new() };
        let mut person = Person::opened(status, &pending, preset::history());
        assert!(person.finds(group).is_some());
        assert!(person.finds("pinned").is_none(), "{group}");
        person.control_shift("K");
        assert!(person.finds("pinned").is_some(), "{group}");
        person.control_shift("K");
        assert!(person.finds("pinned").is_none(), "{group}");
    }
}

#[test]
fn backticks_of_code_are_not_shown_in_the_list() {
    let mut person = with(vec![used(1, 0, "why does `cargo test` hang?"), used(2, 0, "a ` alone")]);
    assert!(person.finds("why does cargo test hang?").is_some());
    assert!(person.finds("a ` alone").is_some(), "a single backtick is no mark");
}

#[test]
fn the_inbox_names_a_conversation_as_the_list_does() {
    let (mut overview, _) =
        preset::waits(Status::WaitingUser, &[Pending::Question(preset::question())], preset::empty());
    overview.inbox[0].conversation_title = "why does `cargo test` **hang**?".into();
    let mut person = Person::before(overview);
    person.control("i");
    assert!(person.finds("why does cargo test hang?").is_some(), "{:?}", person.texts());
}

/// The order is that of `abide conversations`, and of the times at the right.
#[test]
fn the_newest_ended_conversation_comes_first() {
    let ended = |n, minutes: i64, title| Conversation {
        updated_at: Timestamp(NOW.0 - minutes * 60_000),
        ..used(n, 0, title)
    };
    let mut person =
        with(vec![ended(1, 1, "begun first"), ended(2, 9, "begun second"), ended(3, 4, "begun last")]);
    let order = ["begun first", "begun last", "begun second"].map(|title| person.finds(title).unwrap().y);
    assert!(order.is_sorted(), "{order:?}");
}

/// Such a window is redrawn only every twenty seconds.
#[test]
fn waiting_times_are_shown_without_seconds() {
    for (asked, in_list, in_head) in [(25, "now", "under a minute"), (180, "3 min", "3 min")] {
        let approval = preset::approval_with(|approval| approval.at = Timestamp(NOW.0 - asked * 1000));
        let mut person = Person::opened(Status::WaitingApproval, &[approval], preset::history());
        person.wait(20_000);
        let texts = person.texts();
        assert!(texts.contains(&in_list.to_owned()), "{texts:?}");
        assert!(texts.contains(&format!("waiting {in_head}")), "{texts:?}");
        person.control("i");
        assert_eq!(person.finds_all(in_list).len(), 2, "in the list and in the inbox");
    }
}

#[test]
fn a_question_is_shown_in_the_list_without_markdown_marks() {
    let question = Question {
        text: "Which **colour** shall [the door](https://x.y) in `hall.rs` have?\n\n- red".into(),
        ..preset::question()
    };
    let (overview, _) = preset::waits(Status::WaitingUser, &[Pending::Question(question)], preset::empty());
    let mut person = Person::before(overview);
    assert!(person.finds("asks: Which colour shall the door in hall.rs have?").is_some());
    let approval = preset::approval_with(|approval| approval.summary = "ls **/*.rs `pwd` `id`".into());
    let (overview, _) = preset::waits(Status::WaitingApproval, &[approval], preset::empty());
    let mut person = Person::before(overview);
    assert!(person.finds("approve: ls **/*.rs `pwd` `id`").is_some(), "a command is not Markdown");
}

/// The limit on a task's time counts its work alone; so does the time in the header and at its end.
#[test]
fn the_time_of_a_task_is_that_of_its_work() {
    let work = Work { ms: 61_000, since: Some(Timestamp(NOW.0 - 9_000)) };
    let (overview, conversation) = preset::waits(Status::Thinking, &[], preset::history());
    let with = |tasks: Vec<AgentTask>| tasks.into_iter().map(|task| AgentTask { work, ..task }).collect();
    let mut person = Person::before(Snapshot { tasks: with(overview.tasks), ..overview });
    person.open(CONVERSATION, Snapshot { tasks: with(conversation.tasks), ..conversation });
    assert!(person.finds("1 min 10 s").is_some(), "{:?}", person.texts());
}

/// The number beside the group is that of the inbox and of the window's title.
#[test]
fn each_waiting_thing_of_a_conversation_is_counted() {
    let other = preset::approval_with(|approval| approval.id = preset::OTHER_APPROVAL);
    let (overview, _) =
        preset::waits(Status::WaitingApproval, &[preset::approval(), other], preset::history());
    let mut person = Person::before(overview);
    assert_eq!(person.app.title(), "(2) Abide");
    assert_eq!(person.finds_all("2").len(), 2, "beside the group and beside the inbox");
    assert!(person.finds("1 of 2 · approve: git push origin upgrade").is_some());
}

/// Also when nothing works or waits, and nothing else draws the window.
#[test]
fn the_ages_in_the_list_go_on() {
    let mut person = with(vec![used(1, 0, "Fix it")]);
    assert!(person.finds("now").is_some());
    let minute = Duration::from_secs(60);
    assert_eq!(person.app.beat(), Some(minute));
    person.wait(180_000);
    assert!(person.finds("3 min").is_some());
    person.wait(7_200_000);
    assert_eq!(person.app.beat(), Some(60 * minute), "older ones are shown in hours");
}
