//! The settings page: each setting is kept by the daemon or by the window.

use crate::{
    drawn,
    person::Person,
    preset,
    replies::{is_done, status},
};
use abide_client::protocol::{
    ConversationId, JsonText,
    inbox::{Rule, RuleEffect},
    method::{
        config::{ConfigReply, ModelChoice, UpdateConfigParams},
        daemon::{CheckModelReply, ConfigStatus, ListModelsReply, SandboxStatus},
        rule::{ListRulesReply, PolicyRule, RememberedRule, RuleOrigin},
    },
    provider::{DefaultModel, KeyState, ProviderInfo},
    sandbox::SandboxLevel,
    task::{Limits, Mode},
};
use abide_client::{
    protocol::method::{
        config::ProviderChange,
        daemon::{CheckModelParams, SetKeyParams, SetKeyReply, StatusParams},
        rule::ForgetRuleParams,
    },
    provider::removal,
};
use abide_gui::{
    Message,
    app::Page,
    local_state::{LocalState, ThemeChoice},
    request::{self, Reply, Request},
    screen::settings,
};
use iced_test::core::keyboard::{Key, Modifiers, key::Named};

fn default() -> DefaultModel {
    DefaultModel { model: "demo/demo".into(), why: "built in".into() }
}

fn config() -> ConfigReply {
    ConfigReply {
        model: ModelChoice::Automatic,
        default: default(),
        notifications: true,
        memory: true,
        file: ConfigStatus::default(),
    }
}

fn rule() -> RememberedRule {
    let arguments = JsonText::parse(r#"{"command":"cargo test"}"#).unwrap();
    let rule = Rule { tool: "shell".into(), arguments, workspace: "/home/me/src/web".into() };
    let origin = RuleOrigin {
        rule,
        at: preset::NOW,
        conversation_id: ConversationId(preset::id(1)),
        conversation_title: "Fix flaky login test".into(),
    };
    RememberedRule { id: "ab".repeat(32), allow: true, origin: Some(origin), text: None }
}

pub(crate) fn open() -> Person {
    let mut person = Person::before(preset::empty());
    person.control(",");
    let asked = person.sent();
    assert!(asked.contains(&request::config()) && asked.contains(&request::rules(None)), "{asked:?}");
    let told = [
        (request::models(), Reply::ListModels(models())),
        (request::config(), Reply::GetConfig(config())),
        (
            request::rules(None),
            Reply::ListRules(ListRulesReply { rules: vec![rule()], before: None, policy: Vec::new() }),
        ),
    ];
    for (request, answer) in told {
        person.tell(Message::Answered(request, Ok(answer)));
    }
    person
}

fn models() -> ListModelsReply {
    let providers = vec![ProviderInfo {
        name: "anthropic".into(),
        api: "anthropic".into(),
        base_url: "https://api.anthropic.com".into(),
        source: "built in".into(),
        key: KeyState::Missing,
        models: vec![
            "anthropic/some-model".into(),
            "anthropic/a-model-with-a-long-name-preview-2026-11".into(),
        ],
        problem: None,
    }];
    ListModelsReply {
        providers,
        default: default(),
        limits: Limits::default(),
        mode: Mode::Auto,
        steps: Vec::new(),
    }
}

#[test]
fn control_comma_opens_the_settings_and_escape_leaves_them() {
    let mut person = open();
    assert_eq!(person.app.page(), Page::Settings);
    assert!(person.finds_bounds("Remembered decisions").is_some());
    person.named(Named::Escape);
    assert_eq!(person.app.page(), Page::NewConversation);
    person.clicks("Settings");
    assert_eq!(person.app.page(), Page::Settings);
}

#[test]
fn what_confines_commands_is_said() {
    let mut person = open();
    let mut tell = |level, require| {
        let sandbox =
            SandboxStatus { level, why_not: vec!["no `full`: it\u{202e} failed".to_owned()], require };
        person.tell(Message::Answered(Request::Status(StatusParams::default()), Ok(status(sandbox))));
        let lacks =
            person.finds_bounds("`[sandbox] require` is full, so nothing runs unattended here.").is_some();
        (lacks, person.finds_bounds("no `full`: it\\u{202e} failed").is_some())
    };
    assert_eq!(tell(SandboxLevel::Full, SandboxLevel::Landlock), (false, true));
    assert_eq!(tell(SandboxLevel::Landlock, SandboxLevel::Full), (true, true));
    assert!(person.finds_bounds("Sandbox: landlock. Commands are confined, and each asks.").is_some());
}

#[test]
fn a_key_is_saved_and_the_provider_can_be_tested() {
    let mut person = open();
    person.clicks("Set key…");
    person.writes("sk-1234");
    assert!(person.finds("sk-1234").is_none(), "a key is not shown");
    person.will_hear(Reply::SetKey(SetKeyReply { stored_in: "the key ring".into(), had_key: false }));
    person.clicks("Save");
    let asked = person.asked();
    let [Request::SetKey(key), stored @ Request::UpdateConfig(change)] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert!(!format!("{asked:?}").contains("1234"), "a key is in no log");
    assert_eq!((key.key.as_deref(), &change.model), (Some("sk-1234"), &None), "the default model stays");
    person.clicks("Save");
    assert_eq!(person.asked(), [], "the request is under way");
    person.tell(Message::Answered(stored.clone(), Ok(Reply::GetConfig(config()))));
    assert!(person.finds("Save").is_none());
    // The keyboard is on the button that has opened the form; Test is the next one.
    person.named(Named::Tab);
    person.named(Named::Enter);
    let check = Request::CheckModel(CheckModelParams { model: "anthropic".into() });
    assert_eq!(person.asked(), std::slice::from_ref(&check));
    person.named(Named::Enter);
    assert_eq!(person.asked(), [], "the test is under way");
    let reply = CheckModelReply { model: "anthropic/some-model".into(), took_ms: 840, failure: None };
    person.tell(Message::Answered(check.clone(), Ok(Reply::CheckModel(reply))));
    assert!(person.finds("anthropic/some-model answers, in 840 ms.").is_some());
    person.named(Named::Enter);
    assert_eq!(person.asked(), [check], "the keyboard is still on Test");
}

#[test]
fn a_provider_is_added_and_removed() {
    let mut person = open();
    person.clicks("Add a provider…");
    person.clicks("Another URL");
    person.writes("https://llm.example/v1");
    person.clicks("Save");
    let asked = person.asked();
    let [Request::UpdateConfig(UpdateConfigParams { provider: Some(ProviderChange::Set(entry)), .. })] =
        &asked[..]
    else {
        panic!("without a key only this: {asked:?}")
    };
    assert_eq!(entry.name, "llm.example");
    let mut listed = models();
    listed.providers[0].source = "config".into();
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(listed))));
    person.tell(Message::Answered(asked[0].clone(), Ok(Reply::GetConfig(config()))));
    person.clicks("Set key…");
    person.will_hear(Reply::GetConfig(config()));
    person.will_hear(Reply::UpdateConfig(config()));
    person.asked();
    person.clicks("Remove");
    let change = removal("anthropic", &config().model);
    let key = SetKeyParams { provider: "anthropic".into(), key: None };
    assert_eq!(person.asked(), [Request::UpdateConfig(change), Request::SetKey(key)]);
}

#[test]
fn a_default_model_that_is_in_no_list_is_typed() {
    let mut person = open();
    person.clicks("or type one");
    person.writes("corp/some");
    person.named(Named::Enter);
    let model = Some(ModelChoice::Named("corp/some".into()));
    let change = UpdateConfigParams { model, ..UpdateConfigParams::default() };
    assert_eq!(person.asked(), [Request::UpdateConfig(change)]);
}

#[test]
fn what_asks_and_what_bounds_a_task_is_said() {
    let mut person = open();
    let rule = PolicyRule { text: "shell(rm *)".into(), effect: RuleEffect::Deny };
    let rules = ListRulesReply { rules: vec![], before: None, policy: vec![rule] };
    person.tell(Message::Answered(request::rules(None), Ok(Reply::ListRules(rules))));
    for words in ["shell(rm *)", "deny", "no limit", "50 steps", "Open the configuration file"] {
        assert!(person.finds_bounds(words).is_some(), "{words}: {:?}", person.texts());
    }
}

#[test]
fn the_limits_of_tokens_and_cost_are_set() {
    for (row, offers, picked, change) in [
        (
            "Tokens",
            ["no limit", "100k", "2.0M"],
            settings::Message::TokensPicked(2_000_000),
            UpdateConfigParams { max_tokens: Some(2_000_000), ..UpdateConfigParams::default() },
        ),
        (
            "Cost",
            ["no limit", "$1.00", "$5.00"],
            settings::Message::CostPicked(0),
            UpdateConfigParams { max_cost_micros: Some(0), ..UpdateConfigParams::default() },
        ),
    ] {
        let mut person = open();
        person.resizes(1280.0, 2000.0);
        let line = person.finds(row).unwrap();
        let lists = person.finds_all("Change…");
        let list = lists.iter().find(|list| (list.center_y() - line.center_y()).abs() < 12.0).unwrap();
        person.clicks_at(list.center());
        let offered = drawn::filled(&mut person);
        assert!(offers.iter().all(|offer| offered.iter().any(|words| words == offer)), "{offered:?}");
        person.tell(Message::Settings(picked));
        assert_eq!(person.asked(), [Request::UpdateConfig(change)]);
    }
}

/// Two providers can have the same model, and a provider two versions of one.
#[test]
fn a_long_model_in_the_list_shows_its_provider_and_its_end() {
    let mut person = open();
    person.clicks("Change…");
    let words = drawn::filled(&mut person);
    let is_whole = |words: &&String| words.starts_with("anthropic/…") && words.ends_with("-preview-2026-11");
    assert_eq!(words.iter().filter(is_whole).count(), 1, "{words:?}");
}

#[test]
fn the_first_escape_clears_a_typed_key_and_the_second_leaves() {
    let mut person = open();
    person.clicks("Set key…");
    person.writes("sk");
    person.named(Named::Escape);
    assert_eq!(person.app.page(), Page::Settings);
    assert!(person.finds("Save").is_none());
    person.named(Named::Escape);
    assert_eq!(person.app.page(), Page::NewConversation);
    assert_eq!(person.asked(), []);
}

#[test]
fn the_keyboard_stays_with_a_provider_whose_key_is_cancelled() {
    for by_mouse in [false, true] {
        let mut person = open();
        person.clicks("Set key…");
        if by_mouse {
            person.clicks("Cancel");
        } else {
            person.named(Named::Escape);
        }
        person.named(Named::Enter);
        assert!(person.finds("Save").is_some(), "by the mouse: {by_mouse}");
    }
}

#[test]
fn notifications_and_rules_are_set_in_the_daemon() {
    let mut person = open();
    person.clicks("Off");
    let change = UpdateConfigParams { notifications: Some(false), ..UpdateConfigParams::default() };
    assert_eq!(person.asked(), [Request::UpdateConfig(change)]);
    person.press(Key::Named(Named::End), Modifiers::CTRL);
    person.clicks("Forget");
    let forget = Request::ForgetRule(ForgetRuleParams { rule_id: rule().id });
    assert_eq!(person.asked(), std::slice::from_ref(&forget));
    person.tell(is_done(forget));
    assert!(person.finds("Forget").is_none());
}

#[test]
fn a_rule_of_a_deleted_conversation_is_shown_by_its_id() {
    let mut person = open();
    let rule = RememberedRule { id: "0".repeat(56) + "beef0071", allow: true, origin: None, text: None };
    let rules = ListRulesReply { rules: vec![rule], before: None, policy: Vec::new() };
    person.tell(Message::Answered(request::rules(None), Ok(Reply::ListRules(rules))));
    let words = "A call is allowed; the conversation that it is from is deleted (beef0071).";
    assert!(person.finds_bounds(words).is_some());
}

#[test]
fn theme_and_size_are_kept_by_the_window() {
    let mut person = open();
    person.tell(Message::Settings(settings::Message::ThemePicked(ThemeChoice::Dark)));
    assert!(person.app.theme().extended_palette().is_dark);
    assert!(person.finds("100 %").is_some());
    person.tell(Message::Settings(settings::Message::ScalePicked(1.5)));
    assert!((person.app.scale() - 1.5).abs() < 0.01);
    assert!(person.finds("150 %").is_some());
    // Another size moves everything: no button for a third one may come under the pointer.
    assert!(person.finds("100 %").is_none() && person.finds("200 %").is_none());
}

#[test]
fn the_lists_to_choose_from_have_a_label() {
    let mut person = open();
    let labels = drawn::words(&mut person).into_iter().filter(|words| words == "Change…");
    assert!(labels.count() > 0, "it is seen: {:?}", drawn::words(&mut person));
}

#[test]
fn the_icon_in_the_tray_is_a_setting_of_the_window() {
    let mut person = open();
    let kept = |person: &Person| LocalState::of(&person.home()).settings().tray;
    assert!(kept(&person));
    person.clicks("hidden");
    assert!(!kept(&person));
    person.clicks("shown");
    assert!(kept(&person));
    assert_eq!(person.asked(), [], "the daemon has no part in it");
}

/// iced would cut a placeholder that is too long.
#[test]
fn the_placeholder_of_the_key_field_ends_in_an_ellipsis_if_it_is_too_long() {
    for (width, is_cut) in [(1280.0, false), (400.0, true)] {
        let mut person = open();
        person.resizes(width, 800.0);
        let mut listed = models();
        listed.providers[0].key = KeyState::Present;
        person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(listed))));
        person.clicks("Edit…");
        let words = drawn::words(&mut person);
        let hint = words.iter().find(|words| words.starts_with("A k") && !words.contains("kept"));
        assert_eq!(hint.map(|hint| hint.ends_with('…')), Some(is_cut), "{width}: {hint:?}");
    }
}
