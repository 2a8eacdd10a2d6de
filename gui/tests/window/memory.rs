//! The memory: what was recalled can be opened and forgotten in its row, and all of it on a page.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, NOW, TASK},
};
use abide_client::{
    Update,
    protocol::{
        ConversationId, ErrorKind, Seq,
        event::{Event, EventKind},
        memory::{MemoryUse, Note, Reason, RecallWay, Snippet, Source},
        message::Role,
        method::{
            config::{ConfigReply, ModelChoice, UpdateConfigParams},
            conversation::UpdateConversationParams,
            daemon::ConfigStatus,
            memory::{
                AddNoteParams, AddNoteReply, ForgetMemoryParams, ForgetMemoryReply, GetMemoryParams,
                ListNotesParams, ListNotesReply, MemoryReply, SearchMemoryParams, SearchMemoryReply,
            },
        },
        notification::{MemoryForgotten, Notification, Snapshot},
        provider::DefaultModel,
        record::{Noted, Recalled},
        task::Status,
    },
};
use abide_gui::{
    Message,
    app::Page,
    daemon::Failure,
    request::{Reply, Request},
};
use iced_test::core::keyboard::key::Named;

const WORKSPACE: &str = "/home/me/src/web";
const SOURCE: ConversationId = ConversationId(preset::id(77));

fn snippet(seq: u64, source: Source, title: &str) -> Snippet {
    Snippet {
        conversation_id: SOURCE,
        title: title.into(),
        seq: Seq(seq),
        at: NOW,
        source,
        before: String::new(),
        text: format!("what {seq} says"),
        why: vec![Reason::Words(1)],
    }
}

/// Before a conversation whose task was given two passages, and has noted something.
fn before_recalled() -> Person {
    let snippets = vec![snippet(701, Source::Agent, "The proxy"), snippet(702, Source::Note, "")];
    let recalled = Recalled { form: 1, how: RecallWay::Words, snippets, problem: None };
    let noted = Noted { text: "tags are annotated".into() };
    let event = |seq, kind| Event { seq: Seq(seq), task_id: Some(TASK), at: NOW, kind };
    let events = vec![event(6, EventKind::Recalled(recalled)), event(7, EventKind::Noted(noted))];
    let messages = vec![preset::said(1, Role::User, "Release it."), preset::said(8, Role::Agent, "Done.")];
    let history = Snapshot { messages, events, ..preset::empty() };
    let mut person = Person::reading_of(Status::Completed, &[], history);
    person.unfolds();
    person.asked();
    person
}

fn forgotten(seq: u64) -> Notification {
    Notification::MemoryForgotten(MemoryForgotten { seq: Seq(seq) })
}

fn forget(seq: u64) -> Request {
    Request::ForgetMemory(ForgetMemoryParams { seq: Seq(seq) })
}

/// Forgets the only thing that is asked about.
fn confirms(person: &mut Person) {
    person.clicks("Forget");
    assert_eq!(person.asked(), [], "the question has only just appeared");
    person.wait(1000);
    person.clicks("Forget");
}

fn clicks_nth(person: &mut Person, text: &str, n: usize) {
    let at = person.finds_all(text)[n].center();
    person.clicks_at(at);
}

#[test]
fn what_was_recalled_or_noted_is_forgotten_in_its_row() {
    let gone = Failure { kind: Some(ErrorKind::NotFound), message: "nothing of it".into() };
    for (place, seq, words, after, answer) in [
        (0, 701, "what 701 says", "Forgotten.", Ok(Reply::ForgetMemory(ForgetMemoryReply { passages: 1 }))),
        (1, 702, "what 702 says", "Forgotten.", Err(gone)),
        (
            2,
            7,
            "noted for later tasks: tags are annotated",
            "a note, forgotten since",
            Ok(Reply::ForgetMemory(ForgetMemoryReply { passages: 1 })),
        ),
    ] {
        let mut person = before_recalled();
        clicks_nth(&mut person, "Forget…", place);
        person.named(Named::Escape);
        assert!(person.finds("Forget it for good?").is_none(), "Escape keeps it");
        clicks_nth(&mut person, "Forget…", place);
        confirms(&mut person);
        assert_eq!(person.asked(), [forget(seq)]);
        assert!(person.finds(words).is_some(), "{seq}: until the daemon has done it");
        person.tell(Message::Answered(forget(seq), answer));
        person.tell(Message::Conversation(CONVERSATION, vec![Update::Notification(forgotten(seq))]));
        assert!(person.finds(words).is_none() && person.finds(after).is_some(), "{seq}");
        assert_eq!(person.finds_all("Forget…").len(), 2, "the others can be forgotten still");
    }
}

#[test]
fn a_passage_opens_the_conversation_that_it_is_from() {
    let mut person = before_recalled();
    assert!(person.finds("your note").is_some(), "a person's note is of no conversation");
    person.clicks("The proxy");
    assert_eq!(person.app.conversation().map(|open| open.id()), Some(SOURCE));
}

#[test]
fn a_conversation_takes_part_in_the_memory_as_its_menu_says() {
    let mut person = before_recalled();
    person.clicks("⋯");
    person.clicks("Memory…");
    person.clicks("private");
    let change = UpdateConversationParams {
        conversation_id: CONVERSATION.to_string(),
        memory: Some(MemoryUse::Private),
        ..UpdateConversationParams::default()
    };
    assert_eq!(person.asked(), [Request::UpdateConversation(change)]);
    person.clicks("The whole memory…");
    assert_eq!(person.app.page(), Page::Memory);
}

fn status(enabled: bool) -> Reply {
    let (indexed_to, newest) = (Seq(9), Seq(9));
    Reply::GetMemory(MemoryReply {
        enabled,
        how: RecallWay::Words,
        embedder: None,
        no_embedder: Some("no embedding model is installed".to_owned()),
        conversations: 3,
        passages: 41,
        embedded: 0,
        indexed_to,
        newest,
    })
}

fn note(seq: u64) -> Note {
    Note { seq: Seq(seq), at: NOW, text: format!("note {seq}"), conversation_id: None, workspace: None }
}

fn notes(workspace: Option<&str>) -> Request {
    Request::ListNotes(ListNotesParams { workspace: workspace.map(str::to_owned) })
}

/// The page, over a conversation of the workspace; the daemon has one note.
fn open() -> Person {
    let mut person = before_recalled();
    person.control("m");
    assert_eq!(person.app.page(), Page::Memory);
    let sent = person.sent();
    let state = Request::GetMemory(GetMemoryParams::default());
    assert!(sent.contains(&state) && sent.contains(&notes(Some(WORKSPACE))), "{sent:?}");
    assert!(person.finds_bounds("Asking the daemon…").is_some());
    person.tell(Message::Answered(state, Ok(status(true))));
    let listed = ListNotesReply { notes: vec![note(31)] };
    person.tell(Message::Answered(notes(Some(WORKSPACE)), Ok(Reply::ListNotes(listed))));
    // A button that has been there for a while counts.
    person.wait(1000);
    person
}

#[test]
fn the_page_is_reached_by_key_and_from_the_settings() {
    let mut person = open();
    assert!(person.finds_bounds("41 passages of 3 conversations, found by words.").is_some());
    assert!(person.finds_bounds("Meaning: none: no embedding model is installed").is_some());
    person.named(Named::Escape);
    assert_eq!(person.app.page(), Page::Conversation);
    person.control(",");
    person.resizes(1280.0, 1500.0);
    person.clicks("Memory…");
    assert_eq!(person.app.page(), Page::Memory);
}

#[test]
fn a_search_shows_the_reply_of_the_newest_query() {
    let mut person = open();
    let asks = |query: &str, workspace: Option<&str>| {
        let workspace = workspace.map(str::to_owned);
        Request::SearchMemory(SearchMemoryParams { query: query.into(), workspace, limit: None })
    };
    let finds = |person: &mut Person, request: Request, snippets| {
        let problem = Some("the model is damaged".to_owned());
        let reply = SearchMemoryReply { how: RecallWay::Words, snippets, problem };
        person.tell(Message::Answered(request, Ok(Reply::SearchMemory(reply))));
    };
    // The button, not the name above it.
    let searches = |person: &mut Person| {
        let at = person.finds_all("Search").last().map(|button| button.center());
        person.clicks_at(at.unwrap());
    };
    person.writes("port");
    person.named(Named::Enter);
    assert!(person.sent().contains(&asks("port", Some(WORKSPACE))));
    assert!(person.finds_bounds("Searching…").is_some());
    person.clicks("Everywhere");
    let sent = person.sent();
    assert!(sent.contains(&asks("port", None)) && sent.contains(&notes(None)), "{sent:?}");
    finds(&mut person, asks("port", Some(WORKSPACE)), vec![snippet(701, Source::Agent, "Old")]);
    assert!(person.finds_bounds("Old").is_none(), "what nobody asks any more is not shown");
    finds(&mut person, asks("port", None), Vec::new());
    assert!(person.finds_bounds("Nothing found.").is_some());
    assert!(person.finds_bounds("by words only: the model is damaged").is_some());
    searches(&mut person);
    finds(&mut person, asks("port", None), vec![snippet(701, Source::Agent, "The proxy")]);
    person.clicks("Forget…");
    person.asked();
    confirms(&mut person);
    assert_eq!(person.asked(), [forget(701)]);
    person.tell(Message::Overview(vec![Update::Notification(forgotten(701))]));
    assert!(person.finds_bounds("Forgotten.").is_some());
    // What fails says so, and is not searched for ever.
    searches(&mut person);
    let failure = Failure { kind: None, message: "the daemon is away".into() };
    person.tell(Message::Answered(asks("port", None), Err(failure)));
    assert!(person.finds_bounds("the daemon is away").is_some());
    assert!(person.finds_bounds("Searching…").is_none());
}

#[test]
fn a_note_is_added_once_and_forgotten() {
    let mut person = open();
    person.clicks("A note for each later task here");
    person.writes("tests need a display");
    person.named(Named::Enter);
    person.named(Named::Enter);
    let add = Request::AddNote(AddNoteParams {
        text: "tests need a display".into(),
        workspace: Some(WORKSPACE.into()),
    });
    assert_eq!(person.asked(), std::slice::from_ref(&add), "the second Enter adds no second note");
    let failure = Failure { kind: Some(ErrorKind::InvalidParams), message: "too long".into() };
    person.tell(Message::Answered(add.clone(), Err(failure)));
    assert!(person.finds_bounds("tests need a display").is_some(), "what was not done is kept");
    person.clicks("Add");
    person.sent();
    person.tell(Message::Answered(add, Ok(Reply::AddNote(AddNoteReply { note: note(32) }))));
    assert!(person.finds_bounds("A note for each later task here").is_some(), "the field is empty");
    assert!(person.sent().contains(&notes(Some(WORKSPACE))), "the notes are listed anew");
    person.clicks("Forget…");
    confirms(&mut person);
    assert_eq!(person.asked(), [forget(31)]);
    person.tell(Message::Overview(vec![Update::Notification(forgotten(31))]));
    assert!(person.finds_bounds("note 31").is_none());
}

#[test]
fn memory_is_turned_off_and_the_page_says_so() {
    let mut person = open();
    person.clicks("Off");
    let change =
        Request::UpdateConfig(UpdateConfigParams { memory: Some(false), ..UpdateConfigParams::default() });
    assert_eq!(person.asked(), std::slice::from_ref(&change));
    let config = ConfigReply {
        model: ModelChoice::Automatic,
        default: DefaultModel { model: "demo/demo".into(), why: "built in".into() },
        notifications: true,
        memory: false,
        file: ConfigStatus::default(),
    };
    person.tell(Message::Answered(change, Ok(Reply::UpdateConfig(config))));
    let state = Request::GetMemory(GetMemoryParams::default());
    assert!(person.sent().contains(&state));
    person.tell(Message::Answered(state, Ok(status(false))));
    let off = "No task recalls anything. What is there stays, and can be searched and forgotten here.";
    assert!(person.finds_bounds(off).is_some());
}
