//! Use by keyboard alone: fields, focus, the palette.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    QuestionId,
    inbox::{Pending, Question},
    method::daemon::ListModelsReply,
    notification::Snapshot,
    provider::{DefaultModel, KeyState, ProviderInfo},
    task::{Limits, Mode, Status},
    transcript::Risk,
};
use abide_gui::{
    Message,
    app::Page,
    keymap::MAP,
    request::{self, Reply, Request},
    screen::sidebar,
};
use iced_test::core::{
    Rectangle,
    keyboard::{Key, Modifiers, key::Named},
};

fn with_shift(letter: &str) -> (Key, Modifiers) {
    (Key::Character(letter.into()), Modifiers::CTRL | Modifiers::SHIFT)
}

fn nothing() -> Person {
    let mut person = Person::before(preset::empty());
    person.control("n");
    person
}

fn before(status: Status, waiting: &[Pending]) -> Person {
    let (overview, conversation) = preset::waits(status, waiting, preset::history());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.wait(60_000);
    person.asked();
    person
}

#[test]
fn undo_works_in_the_composer_and_in_a_one_line_field() {
    let mut person = before(Status::Thinking, &[]);
    let draft = |person: &Person| person.app.conversation().unwrap().composer.draft();
    person.writes("one two");
    person.control("z");
    assert_eq!(draft(&person), "one");
    person.control("z");
    person.control("z");
    assert_eq!(draft(&person), "");
    let (key, modifiers) = with_shift("Z");
    person.press(key, modifiers);
    assert_eq!(draft(&person), "one");
    person.writes("!");
    assert_eq!(draft(&person), "one!", "the caret is at the end");

    // In a field of one line.
    person.named(Named::Escape);
    person.control("k");
    person.writes("log in");
    person.control("z");
    assert!(person.finds("log").is_none() && person.finds("log ").is_some());
}

/// For example a long address: all of it is seen.
#[test]
fn a_long_word_in_the_composer_continues_on_the_next_line() {
    let mut person = before(Status::Thinking, &[]);
    let word = "x".repeat(300);
    person.writes(&word);
    person.named(Named::ArrowUp);
    person.writes("!");
    let draft = person.app.conversation().unwrap().composer.draft();
    let at = draft.find('!').unwrap();
    assert!((50..250).contains(&at), "the line above ends after {at} letters");
}

#[test]
fn a_question_mark_in_an_empty_field_opens_the_list_of_keys() {
    for search in [false, true] {
        let mut person = before(Status::Thinking, &[]);
        if search {
            person.control("k");
        }
        person.letter("?");
        assert!(person.finds("open or close all details").is_some(), "search: {search}");
    }
    let mut person = before(Status::Thinking, &[]);
    person.writes("why?");
    assert!(person.finds("open or close all details").is_none());
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "why?");
}

#[test]
fn tab_reaches_all_buttons_and_enter_presses_them() {
    let mut person = nothing();
    person.named(Named::Escape);
    // The buttons of the list, from its end: keys, fold, settings, inbox.
    for _ in 0..4 {
        person.press(Key::Named(Named::Tab), Modifiers::SHIFT);
    }
    person.named(Named::Enter);
    assert_eq!(person.app.page(), Page::Inbox);
    for _ in 0..3 {
        person.named(Named::Tab);
    }
    person.named(Named::Space);
    assert!(person.finds("open or close all details").is_some());
}

/// The list may be long.
#[test]
fn tab_begins_in_the_page_and_not_in_the_list() {
    let mut person = before(Status::Thinking, &[]);
    person.control(",");
    person.named(Named::Tab);
    person.named(Named::Enter);
    assert_eq!(person.app.page(), Page::Conversation, "the button that closes the settings is their first");
}

#[test]
fn tab_skips_the_buttons_that_decide() {
    let mut wanted = preset::approval();
    if let Pending::Approval(approval) = &mut wanted {
        approval.risk = Risk::Low;
    }
    let mut person = before(Status::WaitingApproval, &[wanted]);
    for _ in 0..60 {
        person.named(Named::Tab);
        person.wait(1000);
        person.named(Named::Enter);
        person.named(Named::Space);
        person.wait(1000);
        let asked = person.asked();
        let decides =
            |request: &Request| matches!(request, Request::DecideApproval(_) | Request::StopTask(_));
        assert!(!asked.iter().any(decides), "{asked:?}");
        // Closes whatever the button has opened.
        person.named(Named::Escape);
        person.wait(1000);
        person.tell(Message::Sidebar(sidebar::Message::Selected(CONVERSATION)));
    }
}

#[test]
fn no_letter_decides_while_a_focus_ring_is_drawn() {
    let mut wanted = preset::approval();
    if let Pending::Approval(approval) = &mut wanted {
        approval.risk = Risk::Low;
    }
    let mut person = before(Status::WaitingApproval, &[wanted]);
    person.named(Named::Tab);
    person.named(Named::Tab);
    person.wait(5000);
    person.letter("a");
    assert_eq!(person.asked(), []);
}

#[test]
fn a_row_of_the_palette_can_be_clicked() {
    let mut person = nothing();
    let (key, modifiers) = with_shift("P");
    person.press(key, modifiers);
    person.writes("setti");
    person.clicks("settings");
    assert_eq!(person.app.page(), Page::Settings);
    assert!(person.finds("What to do").is_none(), "it is closed");
}

/// The picked row and the field have a border in the colour of focus.
#[test]
fn the_palette_stays_where_it_is_while_fewer_rows_fit() {
    for (width, height) in [(1280.0, 800.0), (640.0, 420.0)] {
        let mut person = nothing();
        person.resizes(width, height);
        let (key, modifiers) = with_shift("P");
        person.press(key, modifiers);
        let top = |person: &mut Person| {
            let focus = person.app.theme().palette().primary;
            let all = drawn::bordered(person, focus, 200.0);
            all.iter().map(|bounds| bounds.y).fold(f32::INFINITY, f32::min)
        };
        let all = top(&mut person);
        assert!(all.is_finite() && all < height / 2.0, "{all}");
        person.writes("smaller");
        assert!((top(&mut person) - all).abs() < 0.1, "{width}x{height}");
        assert!(person.finds_whole("Ctrl -"), "{width}x{height}");
    }
}

#[test]
fn the_palette_runs_an_action_and_decides_nothing() {
    let open = |person: &mut Person| {
        let (key, modifiers) = with_shift("P");
        person.press(key, modifiers);
    };
    let mut person = before(Status::WaitingApproval, &[preset::approval()]);
    open(&mut person);
    assert!(person.finds("Ctrl N").is_some(), "an action has its key beside it");
    person.wait(5000);
    person.letter("a");
    assert_eq!(person.asked(), [], "the letter is typed into the field");
    person.named(Named::Backspace);
    person.writes("allow");
    person.wait(5000);
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    person.named(Named::Escape);
    assert!(person.finds("What to do").is_none(), "one Escape closes it");
    open(&mut person);
    person.writes("inbox");
    person.named(Named::Enter);
    assert_eq!(person.app.page(), Page::Inbox);
    person.letter("a");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "the card has just come into view");
}

#[test]
fn the_mode_the_limit_and_the_model_are_set_by_keyboard() {
    let mut person = nothing();
    let provider = ProviderInfo {
        name: "a".into(),
        api: "openai-chat".into(),
        base_url: String::new(),
        source: "config".into(),
        key: KeyState::NotNeeded,
        models: vec!["a/one".into(), "a/two".into()],
        problem: None,
    };
    let default = DefaultModel { model: "a/one".into(), why: "configured".into() };
    let models = ListModelsReply {
        default,
        providers: vec![provider],
        limits: Limits::default(),
        mode: Mode::Auto,
        steps: Vec::new(),
    };
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models))));
    let (key, modifiers) = with_shift("M");
    person.press(key, modifiers);
    person.writes("two");
    person.named(Named::Enter);
    for choice in ["at most 25", "chat"] {
        let (key, modifiers) = with_shift("S");
        person.press(key, modifiers);
        person.writes(choice);
        person.named(Named::Enter);
    }
    person.writes("Do it.");
    person.named(Named::Enter);
    let asked = person.asked();
    let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(params.model.as_deref(), Some("a/two"));
    assert_eq!((params.limits.max_steps, params.mode), (Some(25), Some(Mode::Chat)));
}

#[test]
fn the_selected_and_the_hovered_row_look_different() {
    let mut person = before(Status::Thinking, &[]);
    let (key, modifiers) = with_shift("P");
    person.press(key, modifiers);
    let (picked, hovered) = (person.finds("new conversation").unwrap(), person.finds("inbox").unwrap());
    let boxes = |person: &mut Person, row: Rectangle| {
        let boxes = drawn::boxes_around(person, row.center()).into_iter();
        boxes.map(|(quad, ground)| (quad.border, ground)).collect::<Vec<_>>()
    };
    let at_rest = boxes(&mut person, hovered);
    person.points(hovered.center());
    let (picked, hovered) = (boxes(&mut person, picked), boxes(&mut person, hovered));
    assert_ne!(hovered, at_rest, "a hovered row looks different");
    assert_ne!(picked, hovered);
}

#[test]
fn control_home_and_end_scroll_from_an_empty_field() {
    let long = || {
        let said = (1..=90)
            .map(|n| preset::said(n, abide_client::protocol::message::Role::Agent, &format!("words {n}")));
        Snapshot { messages: said.collect(), ..preset::empty() }
    };
    let (overview, conversation) = preset::waits(Status::Thinking, &[], long());
    let mut person = Person::before(overview);
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    assert!(person.finds("words 90").is_none() && person.finds("Jump to latest").is_some());
    person.press(Key::Named(Named::End), Modifiers::CTRL);
    assert!(person.finds("words 90").is_some() && person.finds("Jump to latest").is_none());
    // In a field with text they move the caret.
    person.writes("bc");
    person.press(Key::Named(Named::Home), Modifiers::CTRL);
    person.writes("a");
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "abc");
    assert!(person.finds("words 90").is_some());
}

#[test]
fn a_restored_draft_has_the_caret_at_its_end() {
    let mut person = before(Status::Thinking, &[]);
    person.writes("half a thought");
    person.control("n");
    let (_, conversation) = preset::waits(Status::Thinking, &[], preset::history());
    person.open(CONVERSATION, conversation);
    person.writes(", and the rest");
    assert_eq!(person.app.conversation().unwrap().composer.draft(), "half a thought, and the rest");
}

#[test]
fn the_answer_field_does_not_repeat_the_question() {
    let question = Pending::Question(Question { text: "Which **week**?".into(), ..preset::question() });
    let mut person = before(Status::WaitingUser, &[question]);
    assert!(person.finds("Your answer").is_some());
    assert!(person.finds("Which **week**?").is_none(), "the question is above the field, not in it");
}

/// The inbox begins at its top, whatever was selected before.
#[test]
fn the_keyboard_begins_with_the_first_card_of_the_inbox() {
    let question = |id: u128| {
        let text = format!("Question {id}?\n\n") + &"A word about it.\n\n".repeat(12);
        Pending::Question(Question { id: QuestionId(preset::id(id)), text, ..preset::question() })
    };
    let mut person = before(Status::WaitingUser, &[question(61), question(62), question(63)]);
    person.control("l");
    person.named(Named::Escape);
    person.named(Named::ArrowDown);
    person.named(Named::ArrowDown);
    person.control("i");
    person.wait(1000);
    person.letter("1");
    person.named(Named::Enter);
    let asked = person.asked();
    let [Request::UserResponse(answer)] = &asked[..] else { panic!("{asked:?}") };
    assert!(answer.response.is_some());
    assert_eq!(answer.question_id, Some(QuestionId(preset::id(61)).to_string()));
}

#[test]
fn the_title_of_the_inbox_stays_in_place_when_nothing_waits_any_more() {
    let titles = [before(Status::WaitingApproval, &[preset::approval()]), before(Status::Thinking, &[])];
    let [waits, rests] = titles.map(|mut person| {
        person.control("i");
        // The button of the list has the same word.
        person.finds_all("Inbox").into_iter().map(|at| at.x).fold(0.0, f32::max)
    });
    assert!(waits > 300.0 && (waits - rests).abs() < 0.5, "{waits} and {rests}");
}

/// A button without an effect is drawn as disabled.
#[test]
fn an_empty_reply_cannot_be_sent_from_the_inbox() {
    let mut person = before(Status::WaitingUser, &[Pending::Question(preset::question())]);
    person.control("i");
    person.wait(1000);
    let ink = |person: &mut Person| {
        let reply = person.finds("Reply").unwrap();
        drawn::ink(person, reply)
    };
    let empty = ink(&mut person);
    person.clicks("Your answer");
    person.writes("so be it");
    let written = ink(&mut person);
    assert_ne!(empty, written);
    for _ in 0..8 {
        person.named(Named::Backspace);
    }
    assert_eq!(ink(&mut person), empty);
    person.clicks("Reply");
    assert_eq!(person.asked(), []);
}

/// Keys that the window uses too belong to the field while its caret is drawn.
#[test]
fn control_with_delete_or_backspace_takes_a_word_of_the_composer() {
    let mut person = before(Status::Completed, &[]);
    let draft = |person: &Person| person.app.conversation().unwrap().composer.draft();
    person.control("l");
    person.writes("one two three four");
    person.press(Key::Named(Named::Backspace), Modifiers::CTRL);
    assert_eq!(draft(&person), "one two three");
    person.named(Named::Home);
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    assert_eq!(draft(&person).trim_start(), "two three");
    person.named(Named::Home);
    person.press(Key::Named(Named::ArrowRight), Modifiers::SHIFT);
    person.press(Key::Named(Named::ArrowRight), Modifiers::SHIFT);
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    assert_eq!(draft(&person).trim_start(), "wo three", "only the selection is deleted");
    person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    assert_eq!(draft(&person).trim_start(), "three");
    person.control("z");
    assert_eq!(draft(&person).trim_start(), "wo three", "the deletion of a word is undone at once");
    person.press(Key::Named(Named::Backspace), Modifiers::CTRL);
    person.named(Named::Home);
    for _ in 0..6 {
        person.press(Key::Named(Named::Delete), Modifiers::CTRL);
    }
    assert_eq!(draft(&person), "");
    assert!(person.finds("Keep").is_none(), "an empty field has no word, and nothing else is deleted");
    assert_eq!(person.asked(), []);
}

/// The page for a new conversation shows the model of the next task, like the picker.
#[test]
fn the_page_for_a_new_conversation_names_the_model_in_use() {
    let mut person = Person::before(preset::empty());
    person.control("n");
    let provider = ProviderInfo {
        name: "a".into(),
        api: "anthropic".into(),
        base_url: "https://a".into(),
        source: "configured".into(),
        key: KeyState::NotNeeded,
        models: vec!["a/one".into(), "a/two".into()],
        problem: None,
    };
    let default = DefaultModel { model: "a/one".into(), why: "configured".into() };
    let models = ListModelsReply {
        default,
        providers: vec![provider],
        limits: Limits::default(),
        mode: Mode::Auto,
        steps: Vec::new(),
    };
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models))));
    assert!(person.finds("Model: a/one (configured)").is_some());
    person.press(Key::Character("M".into()), Modifiers::CTRL | Modifiers::SHIFT);
    assert!(person.finds("a/one (default)").is_some(), "the name comes first");
    person.writes("two");
    person.named(Named::Enter);
    assert!(person.finds("Model: a/two").is_some());
    assert!(person.finds("Model: a/one (configured)").is_none());
}

/// The actions of menus and buttons can be found by name, and have their key beside them.
#[test]
fn the_palette_has_the_actions_of_menus_and_buttons() {
    for (query, keys) in [
        ("rename", "F2"),
        ("pin", "Ctrl Shift K"),
        ("archive", "Ctrl E"),
        ("delete", "Ctrl Del"),
        ("copy all", "Ctrl Shift C"),
        ("stop the task", "Esc Esc"),
        ("pause", "Ctrl P"),
        ("attach", "Ctrl Shift A"),
        ("folder", "Ctrl Shift F"),
        ("allow once", "A"),
        ("always allow", "Shift A"),
        ("reject, with a reason", "R"),
        ("always reject", "Shift R"),
        ("decline", "Ctrl D"),
        ("find", "Ctrl F"),
        ("settings", "Ctrl ,"),
        ("try again", "Ctrl R"),
        ("go on", "Ctrl R"),
        ("edit and send again", "Ctrl Shift E"),
        ("file changes", "Ctrl Shift U"),
        ("undo them", "Ctrl Shift U"),
        ("undo", "Ctrl Shift U"),
    ] {
        let mut person = before(Status::Thinking, &[]);
        let (key, modifiers) = with_shift("P");
        person.press(key, modifiers);
        person.writes(query);
        assert!(person.finds(keys).is_some(), "{query}: {keys}");
    }
}

/// The palette covers the card, so it decides nothing: it gives the card the keyboard.
#[test]
fn an_action_that_decides_leads_from_the_palette_to_its_card() {
    let mut person = before(Status::WaitingApproval, &[preset::approval()]);
    person.wait(1000);
    person.control("l");
    let (key, modifiers) = with_shift("P");
    person.press(key, modifiers);
    person.wait(1000);
    person.writes("allow once");
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    assert!(
        person.finds("High risk: Enter or another click allows it once. Esc: not yet.").is_none(),
        "and nothing is armed"
    );
    person.wait(1000);
    person.letter("a");
    person.named(Named::Enter);
    assert!(matches!(&person.asked()[..], [Request::DecideApproval(_)]));
}

#[test]
fn a_task_is_stopped_from_the_palette() {
    let mut person = before(Status::Thinking, &[]);
    person.wait(1000);
    let (key, modifiers) = with_shift("P");
    person.press(key, modifiers);
    person.wait(1000);
    person.writes("stop the task");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [Request::StopTask(preset::TASK.into())]);
}

#[test]
fn escape_closes_an_error_notice_first() {
    let mut person = before(Status::Thinking, &[]);
    let is_shown = |person: &mut Person| person.finds("It did not open.").is_some();
    for _ in 0..2 {
        person.writes("a draft");
        let keys = person.finds_all("Esc").len();
        person.tell(Message::NotOpened("It did not open.".into()));
        assert!(is_shown(&mut person));
        assert_eq!(person.finds_all("Esc").len(), keys + 1, "its key is named");
        person.named(Named::Escape);
        assert!(!is_shown(&mut person));
        person.writes("s");
        let composer = &mut person.app.conversation().unwrap().composer.draft();
        assert!(composer.ends_with("a drafts"), "the caret stayed: {composer}");
    }
    // That Escape does not count as the first of the two that stop a task.
    person.named(Named::Escape);
    person.tell(Message::NotOpened("It did not open.".into()));
    person.named(Named::Escape);
    person.named(Named::Escape);
    assert!(!is_shown(&mut person));
    assert_eq!(person.asked(), []);
    // What lies over the notice is closed first.
    person.tell(Message::NotOpened("It did not open.".into()));
    let (key, modifiers) = with_shift("P");
    person.press(key, modifiers);
    person.named(Named::Escape);
    assert!(is_shown(&mut person));
    person.named(Named::Escape);
    assert!(!is_shown(&mut person));
}

#[test]
fn the_palette_is_opened_from_the_list_of_keys() {
    for by_mouse in [true, false] {
        let mut person = before(Status::Thinking, &[]);
        person.clicks("Keys");
        if by_mouse {
            person.clicks("All actions, by name");
        } else {
            let (key, modifiers) = with_shift("P");
            person.press(key, modifiers);
        }
        person.writes("rename");
        assert!(person.finds("F2").is_some(), "by the mouse: {by_mouse}");
        assert!(person.finds("Decide what waits for you").is_none(), "one of them covers the window");
        person.named(Named::Escape);
        assert!(person.finds("F2").is_none());
    }
}

/// Tab goes only to what is visible.
#[test]
fn pages_that_are_longer_than_the_window_are_scrolled_by_keys() {
    for (page, end) in [(",", "Configuration"), ("?", "larger; Ctrl - smaller")] {
        let mut person = before(Status::Thinking, &[]);
        person.named(Named::Escape);
        person.resizes(640.0, 420.0);
        match page {
            "?" => person.named(Named::F1),
            page => person.control(page),
        }
        assert!(!person.finds_whole(end), "{page}");
        for _ in 0..20 {
            person.named(Named::PageDown);
        }
        assert!(person.finds_whole(end), "{page}: a page down");
        person.press(Key::Named(Named::Home), Modifiers::CTRL);
        assert!(!person.finds_whole(end), "{page}: to the start");
        person.press(Key::Named(Named::End), Modifiers::CTRL);
        assert!(person.finds_whole(end), "{page}: to the end");
        for _ in 0..20 {
            person.named(Named::PageUp);
        }
        assert!(!person.finds_whole(end), "{page}: a page up");
    }
}

#[test]
fn a_page_down_skips_nothing_in_a_low_window() {
    let mut person = before(Status::Thinking, &[]);
    person.resizes(640.0, 420.0);
    person.named(Named::Escape);
    person.named(Named::F1);
    let mut unseen: Vec<&str> =
        MAP.iter().flat_map(|(_, all)| *all).filter(|entry| entry.in_help).map(|entry| entry.what).collect();
    for _ in 0..20 {
        unseen.retain(|what| !person.finds_whole(what));
        person.named(Named::PageDown);
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}
