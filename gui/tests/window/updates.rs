//! Each update of the daemon is shown once, and each action of a person sends one request.

use crate::preset::{self, CONVERSATION, Window};
use abide_client::{
    Update,
    protocol::{
        Seq,
        event::{Event, EventKind, StepEvent},
        message::Role,
        method::conversation::ListMessagesReply,
        notification::{DeltaItem, Snapshot},
        task::{EndReason, Status},
    },
};
use abide_gui::{
    Message,
    app::Page,
    effect::Effect,
    keymap::Command,
    request::{self, LONG_PAGE, Reply, Request, Timeline},
    screen::{
        composer::{self, Composer, Stance},
        conversation::{Conversation, Row},
        sidebar,
    },
};

fn rows(window: &Window) -> Vec<Row> {
    window.app.conversation().map(|open| open.rows().to_vec()).unwrap_or_default()
}

#[test]
fn a_streamed_reply_is_replaced_by_its_message() {
    let mut window = preset::streaming();
    assert!(rows(&window).contains(&Row::Live(DeltaItem::Reply(preset::REPLY), 0)));
    window.notify(preset::delta(23, "slow machines see it."));
    let said = abide_client::protocol::message::Message {
        id: preset::REPLY,
        ..preset::said(100_001, Role::Agent, "That explains why only slow machines see it.")
    };
    window.notify(preset::message(said.clone()));
    window.notify(preset::message(said));
    let rows = rows(&window);
    assert!(!rows.contains(&Row::Live(DeltaItem::Reply(preset::REPLY), 0)));
    assert_eq!(rows.iter().filter(|row| **row == Row::Entry(Seq(100_001))).count(), 1);
}

#[test]
fn deltas_that_arrive_together_are_shown_once() {
    let (overview, conversation) = preset::waits(Status::Thinking, &[], preset::history());
    let mut person = crate::person::Person::before(overview);
    person.open(CONVERSATION, conversation);
    let mut pieces = Vec::new();
    let mut offset = 0;
    for piece in ["Part 3.\n\n# Heading ", "of the ", "run"] {
        pieces.push(Update::Notification(preset::delta(offset, piece)));
        offset += piece.len() as u64;
    }
    person.tell(Message::Conversation(CONVERSATION, pieces));
    assert!(person.finds("Heading of the run").is_some());
}

#[test]
fn a_card_replaces_its_call_in_the_timeline() {
    let window = preset::waiting_approval();
    let rows = rows(&window);
    assert_eq!(rows.iter().filter(|row| matches!(row, Row::Card(_))).count(), 1);
    assert!(!rows.contains(&Row::Entry(Seq(7))), "the card replaces the call");
    assert!(
        !rows.iter().any(|row| matches!(row, Row::Indicator(_))),
        "no activity is shown while the card waits"
    );
}

#[test]
fn the_end_of_a_task_is_shown_after_its_last_row() {
    let window = preset::ended(EndReason::Completed);
    assert_eq!(rows(&window).last(), Some(&Row::End(preset::TASK)));
}

#[test]
fn a_stop_is_requested_only_for_a_task_at_work() {
    let task = preset::task(Status::Thinking);
    let mut composer = Composer::default();
    let stop = composer.update(composer::Message::StopPressed, Stance::Working(&task), Some(CONVERSATION));
    assert_eq!(stop, [Effect::Ask(Request::StopTask(preset::TASK.into()))]);
    let nothing = composer.update(composer::Message::StopPressed, Stance::Ready, Some(CONVERSATION));
    assert_eq!(nothing, []);
}

#[test]
fn a_prompt_sent_again_has_the_same_message_id() {
    let mut composer = Composer::with_draft("mend it");
    let mut send = || match &composer.update(composer::Message::Submitted, Stance::Ready, None)[..] {
        [Effect::Ask(Request::StartTask(params))] => {
            composer.failed();
            params.client_message_id.clone()
        }
        other => panic!("not sent: {other:?}"),
    };
    let first = send();
    assert!(first.is_some());
    assert_eq!(first, send(), "a lost reply must not start two tasks");
}

#[test]
fn choosing_the_default_model_names_it_in_the_request() {
    let default = composer::ModelChoice::Default(Some("openai/gpt-5".into()));
    for (conversation, named) in [(Some(CONVERSATION), Some("openai/gpt-5".to_owned())), (None, None)] {
        let mut composer = Composer::with_draft("mend it");
        composer.update(composer::Message::ModelPicked(default.clone()), Stance::Ready, conversation);
        let sent = composer.update(composer::Message::Submitted, Stance::Ready, conversation);
        let [Effect::Ask(Request::StartTask(params))] = &sent[..] else { panic!("not sent: {sent:?}") };
        assert_eq!(params.model, named);
    }
}

#[test]
fn a_prompt_is_kept_until_the_daemon_has_it() {
    let mut composer = Composer::with_draft("mend it");
    composer.update(composer::Message::Submitted, Stance::Ready, None);
    assert_eq!(composer.draft(), "mend it");
    composer.sent();
    assert_eq!(composer.draft(), "");
}

#[test]
fn an_answer_goes_to_the_question() {
    let question = preset::question();
    let mut composer = Composer::with_draft("the first");
    let effects = composer.update(
        composer::Message::Submitted,
        Stance::Question(preset::TASK, &question),
        Some(CONVERSATION),
    );
    assert_eq!(
        effects,
        [Effect::Ask(request::answer(preset::TASK, preset::QUESTION, Some("the first".into())))]
    );
}

#[test]
fn keys_move_between_pages() {
    let mut window = preset::waiting_question();
    window.tell(Message::Key(Command::New));
    assert_eq!(window.app.page(), Page::NewConversation);
    window.tell(Message::Key(Command::NextThatNeedsMe));
    assert_eq!(window.app.page(), Page::Conversation);
    window.tell(Message::Key(Command::Inbox));
    assert_eq!(window.app.page(), Page::Inbox);
    window.tell(Message::Key(Command::Escape));
    assert_eq!(window.app.page(), Page::Conversation);
    assert_eq!(window.app.title(), "(1) Fix flaky login test – Abide");
}

#[test]
fn the_key_for_what_needs_the_person_ignores_the_search() {
    let mut window = preset::waiting_question();
    window.tell(Message::Key(Command::New));
    window.tell(Message::Sidebar(sidebar::Message::QueryChanged("nothing like it".into())));
    window.tell(Message::Key(Command::NextThatNeedsMe));
    assert_eq!(window.app.page(), Page::Conversation);
}

#[test]
fn a_search_finds_by_title_and_folder() {
    let mut window = preset::ended(EndReason::Completed);
    window.tell(Message::Sidebar(sidebar::Message::QueryChanged("nothing like it".into())));
    window.tell(Message::Key(Command::Next));
    assert!(window.app.conversation().is_some(), "the open conversation stays open");
    window.tell(Message::Sidebar(sidebar::Message::QueryChanged("SRC/web".into())));
    window.tell(Message::Key(Command::New));
    window.tell(Message::Sidebar(sidebar::Message::QuerySubmitted));
    assert_eq!(window.app.conversation().map(Conversation::id), Some(CONVERSATION));
}

#[test]
fn a_deleted_conversation_leaves_the_screen() {
    let mut window = preset::ended(EndReason::Completed);
    let gone = abide_client::protocol::notification::ConversationUpdate {
        conversation_id: CONVERSATION,
        conversation: None,
    };
    let gone = abide_client::protocol::notification::Notification::ConversationUpdate(gone);
    window.tell(Message::Conversation(CONVERSATION, vec![Update::Notification(gone)]));
    assert_eq!(window.app.page(), Page::NewConversation);
}

#[test]
fn a_step_is_shown_before_its_messages_and_calls() {
    let step = |seq, step| Event {
        seq: Seq(seq),
        task_id: Some(preset::TASK),
        at: preset::NOW,
        kind: EventKind::StepBegan(StepEvent { step }),
    };
    let said = |seq| preset::said(seq, Role::Agent, "Said.");
    let snapshot = Snapshot {
        messages: vec![said(2), said(6)],
        events: vec![step(1, 1), step(3, 2), step(5, 3), step(8, 4)],
        ..preset::empty()
    };
    let window = Window::with(preset::task(Status::Thinking), Vec::new(), snapshot);
    let rows = rows(&window);
    let entries: Vec<u64> =
        rows.iter().filter_map(|row| if let Row::Entry(seq) = row { Some(seq.0) } else { None }).collect();
    assert_eq!(
        entries,
        [2, 5, 6],
        "not the first, none without anything, not the one that has shown nothing"
    );
}

#[test]
fn a_found_message_is_fetched_however_old_it_is() {
    let recent = (50_000..50_100).map(|seq| preset::said(seq, Role::Agent, "Recent."));
    let snapshot = Snapshot { messages: recent.collect(), ..preset::empty() };
    let mut window = Window::with(preset::task(Status::Thinking), Vec::new(), snapshot);
    window.tell(Message::Sidebar(sidebar::Message::FoundPressed(CONVERSATION, Seq(49_850), None)));
    assert!(!rows(&window).contains(&Row::Entry(Seq(49_850))));
    for (before, first) in [(50_000, 49_900), (49_900, 49_800)] {
        let page = ListMessagesReply {
            messages: (first..before).map(|seq| preset::said(seq, Role::Agent, "Old.")).collect(),
            calls: Vec::new(),
            events: Vec::new(),
            before: Some(Seq(first)),
            after: None,
        };
        let request = Timeline::from(CONVERSATION).older(Seq(before), LONG_PAGE);
        window.tell(Message::Answered(request, Ok(Reply::ListMessages(page))));
    }
    assert!(rows(&window).contains(&Row::Entry(Seq(49_850))));
    let mut open = Conversation::new(CONVERSATION, "");
    let snapshot = Snapshot {
        messages: (50_000..50_100).map(|seq| preset::said(seq, Role::Agent, "Recent.")).collect(),
        ..preset::empty()
    };
    open.follow(vec![Update::Snapshot(Box::new(snapshot))], None);
    let fetch = [Effect::Ask(Timeline::from(CONVERSATION).older(Seq(50_000), LONG_PAGE))];
    assert_eq!(open.go_to(Seq(49_850), ""), fetch);
    assert_eq!(open.go_to(Seq(49_850), ""), [], "the page is being fetched");
}
