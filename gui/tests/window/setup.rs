//! Persona, template and tools of the next task.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION, NOW},
};
use abide_client::protocol::method::catalog::{ListPersonasReply, ListTemplatesReply, ListToolsReply};
use abide_client::protocol::{
    JsonText,
    memory::MemoryUse,
    method::{
        catalog::{PersonaInfo, TemplateInfo},
        daemon::ListModelsReply,
        task::StartTaskParams,
    },
    notification::Snapshot,
    provider::DefaultModel,
    task::{EndReason, Limits, Mode, Status},
    transcript::{EffectClass, Risk, Tier, ToolSpec},
};
use abide_gui::{
    Message,
    catalog::Presets,
    daemon::Failure,
    request::{self, Reply, Request},
    screen::sidebar,
};
use iced_test::core::{
    Point,
    keyboard::{Key, Modifiers, key::Named},
};

/// Only a task that names `code` has it.
const TOOLS: [&str; 7] = ["shell", "read", "write", "patch", "list", "create_dir", "code"];

fn presets() -> Presets {
    let persona = |name: &str, description: &str| PersonaInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        mode: None,
        model: None,
        tools: None,
        max_steps: None,
        source: "built in".to_owned(),
        problem: None,
    };
    let reviewer = PersonaInfo {
        mode: Some(Mode::Roa),
        model: Some("local/careful".to_owned()),
        tools: Some(vec!["read".to_owned(), "list".to_owned()]),
        max_steps: Some(7),
        ..persona("reviewer", "Reads and judges, and changes nothing")
    };
    let lost = PersonaInfo { problem: Some("its file is a folder".to_owned()), ..persona("lost", "") };
    let template = TemplateInfo {
        name: "bug".to_owned(),
        prompt: "Find the cause of this bug:\n{input}".to_owned(),
        persona: None,
        mode: Some(Mode::Plan),
        tools: None,
        max_steps: None,
    };
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does.\nAnd more."),
        parameters: JsonText::from(serde_json::json!({})),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        tier: Tier::Allow,
    };
    Presets {
        personas: vec![persona("coder", "Careful with code"), lost, reviewer],
        templates: vec![template],
        tools: TOOLS.map(tool).into(),
    }
}

fn models() -> ListModelsReply {
    ListModelsReply {
        providers: Vec::new(),
        default: DefaultModel { model: "local/smollm2".to_owned(), why: "set in config.toml".to_owned() },
        limits: Limits { max_steps: 400, ..Limits::default() },
        mode: Mode::Agent,
        steps: Vec::new(),
    }
}

fn listed(person: &mut Person) {
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models()))));
    lists(person, presets());
}

/// The daemon lists these personas, templates and tools.
fn lists(person: &mut Person, presets: Presets) {
    let replies = [
        Reply::ListPersonas(ListPersonasReply { personas: presets.personas }),
        Reply::ListTemplates(ListTemplatesReply { templates: presets.templates }),
        Reply::ListTools(ListToolsReply { tools: presets.tools }),
    ];
    for (request, reply) in request::presets().into_iter().zip(replies) {
        person.tell(Message::Answered(request, Ok(reply)));
    }
}

/// On the page for a new conversation.
fn beginning() -> Person {
    let mut person = Person::before(preset::empty());
    listed(&mut person);
    person
}

/// In a conversation of this persona whose task has ended.
fn afterwards(persona: Option<&str>, reason: EndReason) -> Person {
    let (overview, mut conversation) = preset::waits(reason.status(), &[], preset::history());
    for task in &mut conversation.tasks {
        (task.end_reason, task.ended_at) = (Some(reason), Some(NOW));
    }
    for known in &mut conversation.conversations {
        known.persona = persona.map(str::to_owned);
    }
    let conversations = conversation.conversations.clone();
    let mut person = Person::before(Snapshot { tasks: Vec::new(), conversations, ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    listed(&mut person);
    person
}

/// Opens the choice, finds this, and takes it.
fn picks(person: &mut Person, words: &str) {
    person.press(Key::Character("S".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.writes(words);
    person.named(Named::Enter);
    if words.starts_with("tools") {
        // It stays open for other tools.
        person.named(Named::Escape);
    }
}

fn starts(person: &mut Person) -> StartTaskParams {
    person.control("l");
    person.writes("Go.");
    person.named(Named::Enter);
    match person.asked().pop() {
        Some(Request::StartTask(params)) => params,
        other => unreachable!("{other:?}"),
    }
}

fn names(of: &[&str]) -> Option<Vec<String>> {
    Some(of.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn a_task_that_names_none_has_none() {
    let mut person = beginning();
    assert!(person.finds("+ More").is_some());
    let params = starts(&mut person);
    assert_eq!((params.persona, params.template, params.tools), (None, None, None));
}

#[test]
fn persona_template_and_tools_are_chosen_by_key_and_named_at_the_button() {
    let mut person = beginning();
    picks(&mut person, "persona coder");
    assert!(person.finds("+ coder").is_some(), "{:?}", person.texts());
    picks(&mut person, "template bug");
    picks(&mut person, "tools shell");
    picks(&mut person, "tools write");
    assert!(person.finds("+ Plan · coder · bug · 4 tools").is_some(), "{:?}", person.texts());
    let params = starts(&mut person);
    assert_eq!((params.persona.as_deref(), params.template.as_deref()), (Some("coder"), Some("bug")));
    assert_eq!(params.tools, names(&["read", "patch", "list", "create_dir"]));
}

#[test]
fn the_same_is_chosen_with_the_mouse() {
    let mut person = beginning();
    person.clicks("+ More");
    person.clicks("coder: Careful with code");
    assert!(person.finds("Which persona, template and tools the next task has").is_none(), "it is closed");
    person.clicks("+ coder");
    person.writes("tools");
    person.clicks("shell: What shell does.");
    assert!(person.finds("read: What read does.").is_some(), "another tool can be chosen");
    person.named(Named::Escape);
    assert!(person.finds("shell: What shell does.").is_none(), "one Escape closes it");
    person.clicks("+ coder · 5 tools");
    // The rows that have no room come with the wheel.
    let list = person.finds("coder: Careful with code").unwrap().center();
    person.wheels_over(list, -12.0);
    person.clicks("create_dir: What create_dir does.");
    person.named(Named::Escape);
    assert_eq!(starts(&mut person).tools, names(&["read", "write", "patch", "list"]));
}

#[test]
fn a_task_can_have_no_tools_and_all_again() {
    let mut person = beginning();
    picks(&mut person, "tools none");
    assert!(person.finds("+ no tools").is_some());
    assert_eq!(starts(&mut person).tools, names(&[]));
    let mut person = beginning();
    picks(&mut person, "tools none");
    picks(&mut person, "tools read");
    assert!(person.finds("+ 1 tool").is_some());
    picks(&mut person, "tools all");
    assert!(person.finds("+ More").is_some());
    assert_eq!(starts(&mut person).tools, None);
}

#[test]
fn a_personas_settings_are_shown_where_they_take_effect() {
    let mut person = beginning();
    picks(&mut person, "reviewer");
    picks(&mut person, "steps usual");
    assert!(person.finds("Model: local/careful (of the persona reviewer)").is_some());
    let picked = drawn::words(&mut person);
    assert!(picked.contains(&"local/careful (default)".to_owned()), "{picked:?}");
    for shown in ["as usual: at most 7 steps", "those of reviewer"] {
        person.clicks("+ ROA · reviewer");
        person.writes(shown);
        assert!(person.finds_all(shown).len() > 1, "{shown}");
        person.named(Named::Escape);
    }
    let params = starts(&mut person);
    assert_eq!((params.persona.as_deref(), params.mode, params.model), (Some("reviewer"), None, None));
}

#[test]
fn tools_are_chosen_from_those_of_the_persona() {
    let mut person = beginning();
    picks(&mut person, "reviewer");
    picks(&mut person, "tools shell");
    assert_eq!(starts(&mut person).tools, names(&["shell", "read", "list"]));
}

#[test]
fn what_a_persona_or_a_template_sets_replaces_an_earlier_choice() {
    let mut person = beginning();
    picks(&mut person, "mode chat");
    picks(&mut person, "tools none");
    picks(&mut person, "reviewer");
    let params = starts(&mut person);
    assert_eq!((params.mode, params.tools), (None, None));
    let mut person = beginning();
    picks(&mut person, "reviewer");
    picks(&mut person, "template bug");
    let shown = person.finds("+ Plan · reviewer · bug");
    assert!(shown.is_some(), "the template's mode comes first: {:?}", person.texts());
    picks(&mut person, "mode tree");
    assert_eq!(starts(&mut person).mode, Some(Mode::Tree), "a later choice counts");
}

#[test]
fn a_new_conversation_can_begin_as_private() {
    let mut person = beginning();
    picks(&mut person, "memory private");
    assert!(person.finds("+ private").is_some(), "{:?}", person.texts());
    assert_eq!(starts(&mut person).memory, Some(MemoryUse::Private));
    let mut person = afterwards(None, EndReason::Completed);
    person.clicks("+ More");
    person.writes("memory");
    assert!(person.finds_all("Memory").is_empty(), "its menu has it: {:?}", person.texts());
    person.named(Named::Escape);
    assert_eq!(starts(&mut person).memory, None);
}

#[test]
fn the_choice_is_remembered() {
    let mut person = beginning();
    picks(&mut person, "persona coder");
    picks(&mut person, "tools none");
    person.tell(Message::DraftDue);
    person.opens_again(preset::empty());
    assert!(person.finds("+ coder · no tools").is_some(), "before the daemon has listed any");
    let params = starts(&mut person);
    assert_eq!((params.persona.as_deref(), params.tools), (Some("coder"), names(&[])));
}

#[test]
fn a_persona_that_is_gone_is_named_and_can_be_left() {
    let mut person = beginning();
    picks(&mut person, "persona coder");
    let gone = Presets { personas: Vec::new(), ..presets() };
    lists(&mut person, gone);
    person.clicks("+ coder");
    assert!(person.finds("coder: not found").is_some());
    person.named(Named::Escape);
    let params = starts(&mut person);
    let words = "there is no persona \"coder\"; there are reviewer";
    let failure = Failure { message: words.to_owned(), kind: None };
    person.tell(Message::Answered(Request::StartTask(params), Err(failure)));
    assert!(person.finds(words).is_some(), "the error is shown");
    picks(&mut person, "persona none");
    assert!(person.finds("+ More").is_some());
}

#[test]
fn a_persona_that_cannot_be_used_says_why() {
    let mut person = beginning();
    person.clicks("+ More");
    assert!(person.finds("lost: cannot be used: its file is a folder").is_some());
}

#[test]
fn they_are_listed_again_when_a_person_is_about_to_choose() {
    let mut person = beginning();
    person.sent();
    person.clicks("+ More");
    assert_eq!(person.sent(), request::presets());
    let old = Presets { personas: Vec::new(), ..presets() };
    lists(&mut person, old);
    assert!(person.finds("coder: Careful with code").is_none(), "the open list is renewed");
}

#[test]
fn the_next_task_of_a_conversation_can_have_others() {
    let mut person = afterwards(Some("coder"), EndReason::Completed);
    person.clicks("+ More");
    assert!(person.finds("the conversation's: coder").is_some());
    person.named(Named::Escape);
    picks(&mut person, "reviewer");
    let params = starts(&mut person);
    assert_eq!((params.conversation_id, params.persona.as_deref()), (Some(CONVERSATION), Some("reviewer")));
}

#[test]
fn going_on_uses_no_template() {
    let mut person = afterwards(None, EndReason::Stopped);
    picks(&mut person, "template bug");
    person.wait(1000);
    person.control("r");
    let asked = person.asked();
    let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&*params.message, &params.template), ("Go on.", &None));
}

/// The prompt is what the template has made of the first one.
#[test]
fn an_edited_prompt_goes_into_no_template_again() {
    let mut person = afterwards(Some("coder"), EndReason::Completed);
    person.control("n");
    picks(&mut person, "template bug");
    person.tell(Message::Sidebar(sidebar::Message::Selected(CONVERSATION)));
    let (_, mut conversation) = preset::waits(Status::Completed, &[], preset::history());
    for known in &mut conversation.conversations {
        known.persona = Some("coder".to_owned());
    }
    person.open(CONVERSATION, conversation);
    person.press(Key::Character("E".into()), Modifiers::CTRL | Modifiers::SHIFT);
    person.wait(1000);
    person.named(Named::Enter);
    let asked = person.asked();
    let [.., Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((params.persona.as_deref(), &params.template), (Some("coder"), &None));
}

#[test]
fn it_can_be_chosen_in_a_small_window() {
    for (width, height) in [(640.0, 420.0), (640.0, 360.0), (320.0, 480.0)] {
        let mut person = beginning();
        person.resizes(width, height);
        picks(&mut person, "persona coder");
        picks(&mut person, "tools none");
        assert!(person.finds("+ coder · no tools").is_some(), "{width}x{height} {:?}", person.texts());
        person.clicks("+ coder · no tools");
        assert!(person.finds("coder: Careful with code").is_some(), "{width}x{height}");
        person.points(Point::new(width / 2.0, height / 2.0));
    }
}
