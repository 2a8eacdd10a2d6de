//! The page for a new conversation: its folder, mode, model and limit.

use crate::{
    drawn,
    person::Person,
    preset::{self, Window},
};
use abide_client::{
    Update,
    protocol::{
        method::{
            daemon::{ListModelsReply, ModeSteps},
            workspace::WorkspaceReply,
        },
        provider::{DefaultModel, KeyState, ProviderInfo},
        task::{Approvals, Limits, Mode},
    },
};
use abide_gui::{
    App, Message,
    app::WindowEvent,
    keymap::Command,
    request::{self, Asker, Reply, Request},
    screen::{
        composer::{self, ModeChoice, ModelChoice, Permission},
        new_conversation,
    },
    settings,
};
use abide_host::Home;
use iced::widget::text_editor;
use iced_test::{
    Simulator,
    core::keyboard::{Key, Modifiers, key::Named},
    futures::futures::future,
};
use std::sync::{Arc, Mutex};

pub(crate) fn models() -> ListModelsReply {
    let provider = |name: &str, problem: Option<&str>| ProviderInfo {
        name: name.to_owned(),
        api: "openai-chat".to_owned(),
        base_url: String::new(),
        source: "environment".to_owned(),
        key: KeyState::Present,
        models: Vec::new(),
        problem: problem.map(str::to_owned),
    };
    let refused = "connection refused (os error 111)";
    let providers = vec![
        provider("local", None),
        provider("openai", Some(refused)),
        provider("anthropic", Some(refused)),
    ];
    let default = DefaultModel { model: "local/smollm2".to_owned(), why: "set in config.toml".to_owned() };
    let limits = Limits { max_steps: 400, ..Limits::default() };
    let steps = vec![ModeSteps { mode: Mode::Roa, max_steps: 12 }];
    ListModelsReply { providers, default, limits, mode: Mode::Agent, steps }
}

fn finds(app: &App, text: &str) -> bool {
    Simulator::with_size(settings(), (1280.0, 800.0), app.view()).find(text).is_ok()
}

fn beginning() -> Window {
    let mut window = preset::nothing();
    window.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    window
}

/// The palette with what few tasks choose, after these words were looked for.
fn choosing(words: &str) -> Person {
    let mut person = Person::before(preset::empty());
    person.control("n");
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    person.press(Key::Character("S".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes(words);
    person
}

#[test]
fn each_mode_shows_its_own_step_limit_and_the_first_is_the_configured_mode() {
    let mut person = choosing("usual");
    assert!(person.finds("as usual: at most 400 steps").is_some());
    person = choosing("roa");
    person.named(Named::Enter);
    person.press(Key::Character("S".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("usual");
    assert!(person.finds("as usual: at most 12 steps").is_some());
}

#[test]
fn a_permission_says_what_it_means_in_the_folder_and_goes_with_the_task() {
    let mut person = Person::before(preset::empty());
    person.control("n");
    person.press(Key::Character("F".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("/srv");
    person.named(Named::Enter);
    let here = WorkspaceReply {
        is_work_tree: true,
        branch: Some("topic".into()),
        no_undo: Some("it is too large".into()),
        edits_ask: true,
        commands_ask: true,
        can_allow: true,
    };
    person.tell(Message::Answered(request::workspace("/srv".into()), Ok(Reply::GetWorkspace(here))));
    assert!(person.finds("on topic").is_some());
    let asks = "Asks before each command and each change of a file. No undo here: it is too large.";
    assert!(person.finds(asks).is_some());
    let picked = composer::Message::PermissionPicked(Permission(Approvals::AllowEdits));
    person.tell(Message::NewConversation(new_conversation::Message::Composer(picked)));
    assert!(
        person.finds("Changes files. Asks before each command. No undo here: it is too large.").is_some()
    );
    person.tell(Message::NewConversation(new_conversation::Message::Composer(
        composer::Message::WorktreePicked(true),
    )));
    assert!(person.finds("new worktree").is_some());
    person.control("l");
    person.writes("Tidy up");
    person.named(Named::Enter);
    let asked = person.asked();
    let [Request::StartTask(task)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((task.approvals, task.worktree.is_some()), (Approvals::AllowEdits, true));
}

#[test]
fn unavailable_providers_are_listed_on_demand() {
    let mut window = beginning();
    let problem = "openai: connection refused (os error 111)";
    assert!(finds(&window.app, "Model: local/smollm2 (set in config.toml)"));
    assert!(finds(&window.app, "2 unavailable +") && !finds(&window.app, problem));
    window.tell(Message::NewConversation(new_conversation::Message::ProblemsToggled));
    assert!(finds(&window.app, problem));
}

/// Words beside each other are on one line, to the pixel.
#[test]
fn the_model_and_the_count_of_unavailable_ones_are_on_one_line() {
    let mut person = Person::before(preset::empty());
    person.control("n");
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    for height in [800.0, 801.0, 802.0, 803.0] {
        person.resizes(1280.0, height);
        let (model, count) = ("Model: local/smollm2 (set in config.toml)", "2 unavailable +");
        let [model, count] = [model, count].map(|words| person.finds(words).unwrap());
        assert!((model.y, model.height) == (count.y, count.height), "{height}: {model:?} {count:?}");
    }
}

/// The configuration may have changed since they were last listed.
#[test]
fn models_are_listed_again_when_a_person_is_about_to_choose_one() {
    let home = tempfile::tempdir().unwrap();
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let asker = Asker::new(move |request| {
        *count.lock().unwrap() += u32::from(request == request::models());
        Box::pin(future::pending())
    });
    let mut app = App::with(&Home::at(home.path()), || preset::NOW, asker);
    let mut asks = |message| {
        *asked.lock().unwrap() = 0;
        drop(app.update(message));
        *asked.lock().unwrap()
    };
    let window = iced::window::Id::unique();
    assert_eq!(
        asks(Message::Overview(vec![Update::Snapshot(Box::new(preset::empty()))])),
        1,
        "when the window connects"
    );
    assert_eq!(asks(Message::Window(window, WindowEvent::Unfocused)), 0);
    assert_eq!(asks(Message::Window(window, WindowEvent::Focused)), 1, "when the window gets the focus");
    assert_eq!(asks(Message::Key(Command::Inbox)), 0);
    assert_eq!(asks(Message::Key(Command::New)), 1, "the page for a new conversation");
    assert_eq!(asks(Message::Key(Command::Model)), 1, "the list of models");
}

#[test]
fn a_new_conversation_is_set_up_like_the_last_one_also_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let open = || {
        let log = asked.clone();
        let asker = Asker::new(move |request| {
            log.lock().unwrap().push(request);
            Box::pin(future::pending())
        });
        let mut app = App::with(&Home::at(home.path()), || preset::NOW, asker);
        drop(app.update(Message::Overview(vec![Update::Snapshot(Box::new(preset::empty()))])));
        app
    };
    let tell = |app: &mut App, message| {
        drop(app.update(Message::NewConversation(new_conversation::Message::Composer(message))));
    };
    let mut app = open();
    for chosen in [
        composer::Message::WorkspaceChanged("/srv/web".to_owned()),
        composer::Message::ModelPicked(ModelChoice::Named("local/smollm2".to_owned())),
        composer::Message::ModePicked(ModeChoice(Mode::Chat)),
    ] {
        tell(&mut app, chosen);
    }
    drop(app.update(Message::DraftDue));
    let mut app = open();
    let words = text_editor::Edit::Paste(Arc::new("Go.".to_owned()));
    tell(&mut app, composer::Message::Edited(text_editor::Action::Edit(words)));
    tell(&mut app, composer::Message::Submitted);
    let asked = asked.lock().unwrap();
    let Some(Request::StartTask(task)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!(task.workspace.as_deref(), Some("/srv/web"));
    assert_eq!((task.model.as_deref(), task.mode), (Some("local/smollm2"), Some(Mode::Chat)));
}

#[test]
fn the_settings_of_a_new_conversation_fit_on_one_line_in_a_wide_window() {
    let mut person = Person::before(preset::empty());
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    let mut place = |words: &str| person.finds(words).unwrap().center_y();
    let (first, last) = (place("Folder: a scratch one"), place("+ More"));
    assert!((first - last).abs() < 4.0, "{first} and {last}");
}

#[test]
fn nothing_moves_while_a_folder_is_typed() {
    let long = |n| format!("/srv/a-folder-with-a-name-that-is-rather-long/{n}");
    for height in [1440.0, 800.0, 390.0] {
        let mut person = Person::before(preset::empty());
        person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
        person.resizes(1280.0, height);
        let before = person.finds("+ More");
        let is_in_the_middle = before.is_some_and(|at| (height / 2.0..height / 2.0 + 150.0).contains(&at.y));
        assert!(is_in_the_middle || height < 400.0, "{height}: {before:?}");
        person.clicks("Folder: a scratch one");
        person.writes("/srv");
        let found = (0..6).map(long).collect();
        person.tell(Message::NewConversation(new_conversation::Message::FoldersFound("/srv".into(), found)));
        assert!(person.finds(&long(0)).is_some(), "{height}");
        assert_eq!(person.finds("+ More"), before, "{height}");
        person.writes("/x");
        assert!(person.finds(&long(0)).is_none(), "{height}");
        assert_eq!(person.finds("+ More"), before, "{height}");
    }
}

#[test]
fn a_tab_before_the_folders_are_found_completes_when_they_are() {
    let mut person = Person::before(preset::empty());
    person.press(Key::Character("f".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("/sr");
    person.named(Named::Tab);
    person.tell(Message::NewConversation(new_conversation::Message::FoldersFound(
        "/sr".into(),
        vec!["/srv".into()],
    )));
    person.writes("web");
    person.named(Named::Enter);
    person.writes("Go.");
    person.named(Named::Enter);
    let asked = person.asked();
    let Some(Request::StartTask(task)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!(task.workspace.as_deref(), Some("/srv/web"));
}

#[test]
fn a_tab_where_there_is_no_such_folder_leaves_the_field() {
    let mut person = Person::before(preset::empty());
    person.press(Key::Character("f".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("/sr");
    person.tell(Message::NewConversation(new_conversation::Message::FoldersFound("/sr".into(), vec![])));
    person.named(Named::Tab);
    person.tell(Message::NewConversation(new_conversation::Message::FoldersFound(
        "/sr".into(),
        vec!["/srv".into()],
    )));
    person.control("l");
    person.writes("Go on.");
    person.named(Named::Enter);
    let asked = person.asked();
    let Some(Request::StartTask(task)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!((task.message.as_str(), task.workspace.as_deref()), ("Go on.", Some("/sr")));
}

#[test]
fn typing_goes_on_after_a_completed_folder() {
    let mut person = Person::before(preset::empty());
    person.press(Key::Character("f".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("/sr");
    person.tell(Message::NewConversation(new_conversation::Message::FoldersFound(
        "/sr".into(),
        vec!["/srv".into()],
    )));
    person.named(Named::Tab);
    person.writes("web");
    person.named(Named::Enter);
    person.writes("Go.");
    person.named(Named::Enter);
    let asked = person.asked();
    let Some(Request::StartTask(task)) = asked.last() else { panic!("{asked:?}") };
    assert_eq!(task.workspace.as_deref(), Some("/srv/web"));
}

/// A field that captured a click used to hide it from the fields after it.
#[test]
fn a_click_on_a_field_takes_the_keyboard_from_all_others() {
    let mut person = Person::before(preset::empty());
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    let composer = person.finds_all("What shall the agent do?")[1];
    let [folder, search] = ["Folder: a scratch one", "Search"].map(|hint| person.finds(hint).unwrap());
    let fields = [composer, folder, search];
    for from in fields {
        for to in fields {
            person.clicks_at(from.center());
            person.clicks_at(to.center());
            assert_eq!(person.focused(), 1, "{to:?} after {from:?}");
        }
    }
    person.clicks_at(folder.center());
    person.clicks("Model: local/smollm2 (set in config.toml)");
    assert_eq!(person.focused(), 0, "a click beside the fields");
}

/// In the order in which they are offered.
const MODES: [(Mode, &str); 6] = [
    (Mode::Auto, "Auto: answers, or works with tools"),
    (Mode::Chat, "Chat: one answer"),
    (Mode::Agent, "Agent: uses tools until it is done"),
    (Mode::Roa, "ROA: reason, act, observe, repeat"),
    (Mode::Plan, "Plan: a list of calls in each step"),
    (Mode::Tree, "Tree: splits the work among sub-agents"),
];

#[test]
fn the_palette_marks_the_default_mode() {
    let mut person = Person::before(preset::empty());
    let marked = |person: &mut Person, query: &str| {
        person.press(Key::Character("P".into()), Modifiers::CTRL | Modifiers::SHIFT);
        person.writes(query);
        let texts = person.texts();
        person.named(Named::Escape);
        texts
            .into_iter()
            .filter(|text| text.ends_with("(default)") && !text.contains("smollm2"))
            .collect::<Vec<_>>()
    };
    assert_eq!(marked(&mut person, "default"), ["Auto: answers, or works with tools (default)"]);
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    assert_eq!(marked(&mut person, "default"), ["Agent: uses tools until it is done (default)"]);
}

#[test]
fn each_mode_can_be_found_in_the_palette_by_what_it_does() {
    let mut person = Person::before(preset::empty());
    for (mode, line) in MODES {
        person.press(Key::Character("P".into()), Modifiers::CTRL | Modifiers::SHIFT);
        person.writes(line);
        person.named(Named::Enter);
        assert!(person.finds("What to do").is_none(), "the palette is closed");
        person.writes("Go.");
        person.named(Named::Enter);
        let asked = person.asked();
        let Some(Request::StartTask(task)) = asked.last() else { panic!("{line}: {asked:?}") };
        assert_eq!(task.mode, Some(mode), "{line}");
        person = Person::before(preset::empty());
    }
}

#[test]
fn the_demo_is_offered_while_there_is_no_model_and_plays_in_the_chosen_mode() {
    let demo = DefaultModel { model: "demo/demo".to_owned(), why: "no other model".to_owned() };
    for (default, chosen, offered) in [
        (demo.clone(), None, Some(Mode::Agent)),
        (demo, Some(Mode::Tree), Some(Mode::Tree)),
        (models().default, None, None),
    ] {
        let mut person = Person::before(preset::empty());
        let listed = ListModelsReply { default, ..models() };
        person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(listed))));
        if let Some(mode) = chosen {
            let picked = composer::Message::ModePicked(ModeChoice(mode));
            person.tell(Message::NewConversation(new_conversation::Message::Composer(picked)));
        }
        assert_eq!(person.finds("Try a scripted demo").is_some(), offered.is_some());
        person.asked();
        person.press(Key::Character("D".into()), Modifiers::CTRL | Modifiers::SHIFT);
        let asked = person.asked();
        let played = asked.iter().find_map(|asked| match asked {
            Request::StartTask(task) => Some((task.mode, task.model.as_deref())),
            _ => None,
        });
        assert_eq!(played, offered.map(|mode| (Some(mode), Some("demo/demo"))), "{asked:?}");
    }
}

#[test]
fn a_folder_that_is_typed_takes_the_place_of_the_one_that_is_there() {
    let mut person = Person::before(preset::empty());
    let typed = composer::Message::WorkspaceChanged("/srv/web".to_owned());
    person.tell(Message::NewConversation(new_conversation::Message::Composer(typed)));
    for (by_mouse, folder) in [(false, "/srv/api"), (true, "/srv/docs")] {
        if by_mouse {
            person.clicks("/srv/api");
        } else {
            person.press(Key::Character("F".into()), Modifiers::CTRL | Modifiers::SHIFT);
        }
        person.writes(folder);
        person.named(Named::Enter);
        assert!(person.finds(folder).is_some(), "by the mouse: {by_mouse}: {:?}", person.texts());
    }
}

#[test]
fn a_long_folder_shows_its_end_while_it_is_not_edited() {
    let mut person = Person::before(preset::empty());
    let folder = "/home/me/src/a-client-of-ours/billing";
    let typed = composer::Message::WorkspaceChanged(folder.to_owned());
    person.tell(Message::NewConversation(new_conversation::Message::Composer(typed)));
    let ends = |person: &mut Person| drawn::words(person).iter().any(|words| words == "…/billing");
    assert!(ends(&mut person), "{:?}", drawn::words(&mut person));
    person.press(Key::Character("F".into()), Modifiers::CTRL | Modifiers::SHIFT);
    assert!(!ends(&mut person));
    person.named(Named::End);
    person.writes("s");
    person.control("l");
    let words = drawn::words(&mut person);
    assert!(words.iter().any(|words| words == "…/billings"), "{words:?}");
}

/// Enter does not send the prompt from this field: the prompt may not be complete.
#[test]
fn enter_in_the_field_of_the_folder_goes_to_the_prompt() {
    let mut person = Person::before(preset::empty());
    person.press(Key::Character("F".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes("/srv");
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.writes("Tidy up");
    person.named(Named::Enter);
    let asked = person.asked();
    let [Request::StartTask(task)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&*task.message, task.workspace.as_deref()), ("Tidy up", Some("/srv")));
}

/// What is typed right after must not be lost: letters without a caret are dropped for a moment when the page
/// changes.
#[test]
fn the_caret_comes_back_when_nothing_covers_the_page() {
    for key in ["M", "S", "P"] {
        let mut person = Person::before(preset::empty());
        person.writes("one ");
        person.press(Key::Character(key.into()), Modifiers::CTRL | Modifiers::SHIFT);
        if key == "P" {
            person.writes("choose the model");
            person.named(Named::Enter);
        }
        person.named(Named::Escape);
        person.writes("two");
        person.named(Named::Enter);
        let asked = person.asked();
        let sent = asked.iter().find_map(|asked| match asked {
            Request::StartTask(task) => Some(&*task.message),
            _ => None,
        });
        assert_eq!(sent, Some("one two"), "{key}: {asked:?}");
    }
}

#[test]
fn the_prompt_has_the_caret_after_the_inbox_and_the_settings() {
    let mut person = Person::before(preset::empty());
    for (letter, written) in [("i", "one "), ("i", "two "), (",", "three")] {
        person.control(letter);
        person.named(Named::Escape);
        person.writes(written);
    }
    person.named(Named::Enter);
    let asked = person.asked();
    let sent = asked.iter().find_map(|asked| match asked {
        Request::StartTask(task) => Some(&*task.message),
        _ => None,
    });
    assert_eq!(sent, Some("one two three"), "{asked:?}");
}

#[test]
fn the_caret_does_not_come_to_a_page_that_did_not_have_it() {
    let mut person = Person::before(preset::empty());
    person.named(Named::Escape);
    person.letter("?");
    person.named(Named::Escape);
    person.named(Named::Enter);
    person.letter("?");
    assert!(person.finds("open or close all details").is_some(), "no field takes the letter");
}
