//! A window without a model: a provider is set up in it, and the prompt that was written before goes.

use crate::{drawn, person::Person, preset};
use abide_client::protocol::method::{config::ProviderChange, daemon::SetKeyReply};
use abide_client::protocol::{
    method::{
        config::{ConfigReply, ModelChoice},
        daemon::{CheckFailure, CheckProviderParams, CheckProviderReply, ConfigStatus, ListModelsReply},
    },
    notification::Snapshot,
    provider::{DefaultModel, KeyState, ProviderInfo},
    record::ModelErrorKind,
    task::{EndReason, Limits, Mode, Status},
};
use abide_gui::{
    Message,
    app::Page,
    request::{self, Reply, Request},
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

fn listed(default: &str, providers: Vec<ProviderInfo>) -> Reply {
    Reply::ListModels(ListModelsReply {
        providers,
        default: DefaultModel { model: default.to_owned(), why: "no other model".to_owned() },
        limits: Limits::default(),
        mode: Mode::Auto,
        steps: Vec::new(),
    })
}

fn found(name: &str) -> ProviderInfo {
    ProviderInfo {
        name: name.to_owned(),
        api: "openai-chat".to_owned(),
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        source: "found on loopback".to_owned(),
        key: KeyState::NotNeeded,
        models: Vec::new(),
        problem: None,
    }
}

fn config(default: &str) -> Reply {
    Reply::GetConfig(ConfigReply {
        model: ModelChoice::Named(default.to_owned()),
        default: DefaultModel { model: default.to_owned(), why: "set in config.toml".to_owned() },
        notifications: true,
        memory: true,
        file: ConfigStatus::default(),
    })
}

/// A window whose daemon has no model.
fn without_a_model(providers: Vec<ProviderInfo>) -> Person {
    let mut person = Person::before(preset::empty());
    person.tell(Message::Answered(request::models(), Ok(listed("demo/demo", providers))));
    person.sent();
    person
}

/// The test that was asked for.
fn check(person: &Person) -> CheckProviderParams {
    let asked = person.asked();
    let [Request::CheckProvider(params)] = &asked[..] else { unreachable!("{asked:?}") };
    params.clone()
}

fn answers(person: &mut Person, params: CheckProviderParams, reply: CheckProviderReply) {
    let request = Request::CheckProvider(params);
    person.tell(Message::Answered(request, Ok(Reply::CheckProvider(reply))));
}

fn lists(models: &[&str]) -> CheckProviderReply {
    let models = models.iter().map(ToString::to_string).collect();
    CheckProviderReply { models, took_ms: 20, failure: None, base_url: None }
}

fn fails(kind: ModelErrorKind, message: &str, near: Option<&str>) -> CheckProviderReply {
    let failure = Some(CheckFailure { kind, message: message.to_owned() });
    CheckProviderReply { models: Vec::new(), took_ms: 20, failure, base_url: near.map(str::to_owned) }
}

const REFUSED: &str =
    "anthropic: it does not accept the key (401: no); set another with `abide key set anthropic`";

#[test]
fn a_prompt_waits_until_a_provider_is_set_up_in_the_window() {
    let mut person = without_a_model(Vec::new());
    person.writes("Tidy up");
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "no demo");
    assert!(person.finds("Your prompt waits for a model: choose where it comes from.").is_some());
    // The keyboard is on the first card.
    person.named(Named::Enter);
    assert!(person.finds("Its keys are made at console.anthropic.com/settings/keys.").is_some());
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "there is no key yet");
    assert!(person.finds("Paste a key: Anthropic answers nothing without one.").is_some());
    person.writes("sk-wrong");
    assert!(person.finds("sk-wrong").is_none(), "a key is not shown");
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!((params.key.as_deref(), params.model.as_deref()), (Some("sk-wrong"), None));
    answers(&mut person, params, fails(ModelErrorKind::Auth, REFUSED, None));
    assert!(
        person.finds("Anthropic: it does not accept the key (401: no)").is_some(),
        "without a command to type"
    );
    person.named(Named::Backspace);
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!(params.key.as_deref(), Some("sk-wron"));
    answers(&mut person, params, lists(&["anthropic/claude-next", "anthropic/claude-sonnet-5"]));
    // The usual model is there, with the keyboard on it.
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!(params.model.as_deref(), Some("anthropic/claude-sonnet-5"));
    person.will_hear(Reply::SetKey(SetKeyReply { stored_in: "the key ring".into(), had_key: false }));
    answers(&mut person, params, lists(&[]));
    let asked = person.asked();
    let [Request::SetKey(key), stored @ Request::UpdateConfig(change)] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert!(!format!("{asked:?}").contains("wron"), "a key is in no log");
    assert_eq!(key.key.as_deref(), Some("sk-wron"));
    assert_eq!(change.model, Some(ModelChoice::Named("anthropic/claude-sonnet-5".into())));
    let Some(ProviderChange::Set(entry)) = &change.provider else { panic!("{change:?}") };
    assert_eq!(entry.base_url, "https://api.anthropic.com");
    person.tell(Message::Answered(stored.clone(), Ok(config("anthropic/claude-sonnet-5"))));
    let asked = person.asked();
    let [Request::StartTask(task)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&*task.message, task.model.as_deref()), ("Tidy up", None));
    let words = person.texts();
    assert!(!words.iter().any(|words| words.contains("demo")), "{words:?}");
}

/// The model may also come from elsewhere: a variable, the command line, a server that was started.
#[test]
fn a_prompt_that_waits_goes_once_and_only_if_it_was_sent() {
    for (is_sent, is_emptied) in [(true, false), (false, false), (true, true)] {
        let mut person = without_a_model(Vec::new());
        person.writes("Go");
        if is_sent {
            person.named(Named::Enter);
            person.control("l");
        }
        if is_emptied {
            person.named(Named::Backspace);
            person.named(Named::Backspace);
        }
        for _ in 0..2 {
            person.tell(Message::Answered(request::models(), Ok(listed("ollama/qwen3", Vec::new()))));
        }
        let asked = person.asked();
        let goes = asked.iter().filter(|asked| matches!(asked, Request::StartTask(_))).count();
        assert_eq!(goes, usize::from(is_sent && !is_emptied), "{asked:?}");
    }
}

#[test]
fn a_prompt_that_is_sent_before_the_models_are_known_waits_for_them() {
    for (default, starts) in [("ollama/qwen3", 1), ("demo/demo", 0)] {
        let mut person = Person::before_unknown_models(preset::empty());
        person.sent();
        person.writes("Go");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "the demo may be all there is");
        person.tell(Message::Answered(request::models(), Ok(listed(default, Vec::new()))));
        let asked = person.asked();
        assert_eq!(
            asked.iter().filter(|asked| matches!(asked, Request::StartTask(_))).count(),
            starts,
            "{asked:?}"
        );
        let waits = person.finds("Your prompt waits for a model: choose where it comes from.");
        assert_eq!(waits.is_some(), starts == 0);
    }
}

#[test]
fn what_can_be_set_up_has_a_card() {
    for (providers, shown) in [
        (vec![], vec!["Anthropic", "OpenAI", "OpenRouter", "Another URL", "Look again"]),
        (vec![found("ollama")], vec!["Anthropic", "Ollama", "has no model yet", "Another URL"]),
    ] {
        let mut person = without_a_model(providers.clone());
        for (width, height) in [(1280.0, 800.0), (640.0, 420.0)] {
            person.resizes(width, height);
            for words in &shown {
                assert!(person.finds_whole(words), "{words} at {width}: {:?}", drawn::words(&mut person));
            }
        }
        let words = person.texts();
        assert!(!words.iter().any(|words| words.contains("abide ")), "no command to type: {words:?}");
        if !providers.is_empty() {
            person.clicks("Ollama");
            assert_eq!(check(&person).provider.name, "ollama", "it needs nothing more to be asked");
        }
    }
}

/// A list says nothing of a key that only calls need, and a test nothing of what was typed after it.
#[test]
fn what_was_typed_since_a_test_is_tested_again() {
    let mut person = without_a_model(Vec::new());
    person.clicks("OpenRouter");
    person.writes("sk-1");
    person.named(Named::Enter);
    let params = check(&person);
    person.writes("2");
    answers(&mut person, params, lists(&["openrouter/some/model"]));
    assert!(person.finds("It answers: 1 model.").is_none(), "of another key");
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!(params.key.as_deref(), Some("sk-12"));
    answers(&mut person, params, lists(&["openrouter/some/model"]));
    assert!(person.finds("It answers: 1 model.").is_some());
    person.clicks("Use it");
    let params = check(&person);
    answers(&mut person, params, fails(ModelErrorKind::Auth, "openrouter: no", None));
    assert_eq!(person.asked(), [], "nothing is stored");
    person.clicks("Use it all the same");
    assert!(matches!(&person.asked()[..], [Request::SetKey(_)]));
}

/// Of a page that is longer than the window, Tab reaches the last field, and a key that names a field shows
/// it.
#[test]
fn the_page_scrolls_to_the_field_that_gets_the_keyboard() {
    let mut person = without_a_model(Vec::new());
    person.resizes(640.0, 420.0);
    person.clicks("Another URL");
    person.resizes(640.0, 260.0);
    assert!(!person.finds_whole("+ More"), "the window is low");
    person.press(Key::Character("f".into()), Modifiers::CTRL | Modifiers::SHIFT);
    assert!(person.finds_whole("+ More"), "the folder's field is beside it");
    assert!(!person.finds_whole("Known by name:"));
    let reached = (0..40).any(|_| {
        person.named(Named::Tab);
        person.finds_whole("Known by name:")
    });
    assert!(reached, "back to the form by Tab");
}

/// The field says: a part of its name. A model that the server does not list can be named too.
#[test]
fn a_part_of_a_name_that_fits_one_model_names_it() {
    for (typed, named) in [("GLM", "glm-5"), ("qwen3", "qwen3"), ("qwen", "qwen"), ("other", "other")] {
        let mut person = without_a_model(Vec::new());
        person.clicks("Another URL");
        person.writes("https://llm.example/v1");
        person.named(Named::Enter);
        let params = check(&person);
        answers(
            &mut person,
            params,
            lists(&["llm.example/glm-5", "llm.example/qwen3", "llm.example/qwen3-mini"]),
        );
        person.writes(typed);
        person.named(Named::Enter);
        assert_eq!(check(&person).model, Some(format!("llm.example/{named}")), "{typed}");
    }
}

#[test]
fn another_address_is_taken_as_it_is_or_as_it_was_meant() {
    let mut person = without_a_model(Vec::new());
    person.clicks("Another URL");
    person.writes("llm.example");
    person.named(Named::Enter);
    assert_eq!(person.asked(), []);
    assert!(person.finds("Give its address, such as https://llm.example/v1.").is_some());
    person.named(Named::Home);
    person.writes("https://");
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!((&*params.provider.name, &*params.provider.base_url), ("llm.example", "https://llm.example"));
    let near = "https://llm.example/v1";
    answers(&mut person, params, fails(ModelErrorKind::NotFound, "llm.example: no list", Some(near)));
    person.clicks("Take that address");
    let params = check(&person);
    assert_eq!(params.provider.base_url, near);
    // Some servers give no list, and still have models.
    answers(&mut person, params, fails(ModelErrorKind::NotFound, "llm.example: no list", None));
    person.clicks("the name of its model");
    person.writes("some");
    person.named(Named::Enter);
    assert_eq!(check(&person).model.as_deref(), Some("llm.example/some"));
}

#[test]
fn a_task_that_ended_for_want_of_a_key_leads_to_the_form() {
    let mut task = preset::task(Status::Error);
    task.end_reason = Some(EndReason::Error);
    task.error_message = Some(REFUSED.to_owned());
    let about = vec![preset::conversation(&task)];
    let conversation = Snapshot { conversations: about.clone(), tasks: vec![task], ..preset::history() };
    let mut person = Person::before(Snapshot { conversations: about, ..preset::empty() });
    let there = found("anthropic");
    person.tell(Message::Answered(request::models(), Ok(listed("anthropic/some", vec![there]))));
    person.open(preset::CONVERSATION, conversation);
    assert!(
        person.finds("anthropic: it does not accept the key (401: no)").is_some(),
        "{:?}",
        person.texts()
    );
    person.clicks("Set the key…");
    assert_eq!(person.app.page(), Page::Settings);
    person.sent();
    person.writes("sk-1");
    person.named(Named::Enter);
    let params = check(&person);
    assert_eq!(params.key.as_deref(), Some("sk-1"));
    answers(&mut person, params, lists(&["anthropic/claude-sonnet-5"]));
    assert_eq!(person.focused(), 1, "the model's field");
    person.named(Named::Enter);
    assert_eq!(check(&person).model.as_deref(), Some("anthropic/claude-sonnet-5"));
}
