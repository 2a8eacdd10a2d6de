//! Draws the page.

use super::{Check, DefaultChoice, Message, Screen};
use crate::{
    effect::field,
    font,
    local_state::{Settings, ThemeChoice},
    screen::{composer::MAX_MODEL, provider},
    theme::{SCALES, size, space, style},
    widget::{
        Element, Look, action, beside, centred::centred, code, field::field, pick, pill::pill, prose,
        secondary, section, word,
    },
    words,
};
use abide_client::protocol::{
    inbox::{RuleEffect, TextRule},
    method::{
        daemon::{ListModelsReply, SandboxStatus},
        rule::RememberedRule,
    },
    provider::{KeyState, ProviderInfo},
    sandbox::SandboxLevel,
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, Row, column, container, pick_list, row, rule, scrollable, space as gap, text},
};
use std::fmt;

/// The size of the text in a small field, and the room around it.
const SMALL: (f32, [f32; 2]) = (size::SECONDARY, [4.0, 8.0]);
/// The most characters of a rule's arguments.
const MAX_RULE: usize = 300;

impl Screen {
    #[must_use]
    pub fn view<'a>(
        &'a self,
        models: Option<&'a ListModelsReply>,
        settings: &Settings,
        look: Look,
    ) -> Element<'a, Message> {
        let head = row![
            text("Settings").size(size::TITLE).font(font::STRONG).width(Fill),
            word("Close", Message::Closed)
        ]
        .align_y(Center);
        let content = column![
            head,
            section("Models", self.models(models)),
            section("Notifications", self.notifications()),
            section("Look", appearance(settings)),
            section("Memory", memory()),
            section("Permissions", self.permissions()),
            section("Remembered decisions", self.rules(look)),
            section("Limits of a task", limits(models)),
            section("Configuration", self.file()),
            gap().height(space::XL),
        ]
        .spacing(space::XL);
        let page = container(content).padding([space::XL, 0.0]);
        scrollable(centred(page, space::XL)).id(field::SETTINGS).height(Fill).style(style::bars).into()
    }

    fn models<'a>(&'a self, models: Option<&'a ListModelsReply>) -> Element<'a, Message> {
        let Some(models) = models else { return secondary("Asking the daemon…").into() };
        let providers = models.providers.iter().map(|provider| self.provider(provider, models));
        let is_new = self.setup.is_open() && self.setup.changes().is_none();
        let add = || {
            let add = action("Add a provider…", None).style(style::secondary);
            let add = add.on_press(Message::Setup(provider::Message::AddPressed));
            row![if self.form_of.as_deref() == Some("") { add.id(field::FORM_BUTTON) } else { add }].into()
        };
        let add = if is_new { self.form(models) } else { add() };
        column![
            self.default_model(models),
            rule::horizontal(1).style(style::line),
            Column::with_children(providers).spacing(space::L),
            add,
            secondary(
                "A key is kept by the daemon: in the system's keyring, else in a file that only you can read."
            ),
        ]
        .spacing(space::M)
        .into()
    }

    fn default_model<'a>(&'a self, models: &'a ListModelsReply) -> Element<'a, Message> {
        let chosen = self.config.as_ref().map(|config| DefaultChoice::from(config.model.clone()));
        let known = models.providers.iter().flat_map(|provider| &provider.models);
        let mut choices = vec![DefaultChoice::Automatic];
        choices.extend(known.cloned().map(DefaultChoice::Named));
        let now = match &chosen {
            Some(chosen @ DefaultChoice::Automatic) => format!("{chosen}: {}", models.default.model),
            Some(chosen) => chosen.to_string(),
            None => models.default.model.clone(),
        };
        let choices: Vec<Fitted> = choices.into_iter().map(Fitted).collect();
        let change = change(choices, |Fitted(model)| Message::ModelPicked(model));
        let typed = field("or type one", SMALL, &self.model, Message::ModelTyped, |input| {
            input.on_submit(Message::ModelSubmitted).width(space::OFFER)
        });
        let change =
            row![change, typed, word("Set", Message::ModelSubmitted)].spacing(space::XS).align_y(Center);
        column![
            prose("Default model").font(font::MEDIUM),
            secondary(visible_line(&now).into_owned()),
            change.wrap()
        ]
        .spacing(space::XS)
        .into()
    }

    /// The form, or the cards that lead to it.
    fn form<'a>(&'a self, models: &ListModelsReply) -> Element<'a, Message> {
        let form = self.setup.view(models, true).map(Message::Setup);
        container(form).padding(space::M).width(Fill).style(style::tool).into()
    }

    /// A provider: its address, key and test.
    fn provider<'a>(&'a self, provider: &'a ProviderInfo, models: &ListModelsReply) -> Element<'a, Message> {
        let name = || provider.name.clone();
        let key = match provider.key {
            KeyState::NotNeeded => "no key needed",
            KeyState::Present => "key stored",
            KeyState::Missing => "no key",
        };
        let place = if provider.base_url.is_empty() { &provider.api } else { &provider.base_url };
        let about = format!("{} · {} · {key}", visible_line(place), provider.source);
        let mut buttons = Row::new().spacing(space::XS).align_y(Center);
        if provider.api != "scripted" {
            let label = if provider.key == KeyState::Missing { "Set key…" } else { "Edit…" };
            let button = word(label, Message::EditPressed(name()));
            let was_open = self.form_of.as_ref() == Some(&provider.name);
            buttons = buttons.push(if was_open { button.id(field::FORM_BUTTON) } else { button });
        }
        // A press during a test does nothing; a button that could not be pressed would lose the keyboard.
        buttons = buttons.push(word("Test", Message::CheckPressed(name())));
        let head = row![
            column![prose(visible_line(&provider.name)).font(font::MEDIUM), secondary(about)].width(Fill),
            buttons
        ]
        .spacing(space::M)
        .align_y(Center);
        let is_changed = self.setup.changes() == Some(&*provider.name);
        let parts = [Some(head.into()), is_changed.then(|| self.form(models)), self.said(provider)];
        Column::with_children(parts.into_iter().flatten()).spacing(space::S).into()
    }

    /// The result of the test, or else the daemon's problem with the provider.
    fn said<'a>(&'a self, provider: &'a ProviderInfo) -> Option<Element<'a, Message>> {
        let words = match self.checks.get(&provider.name) {
            Some(Check::Asked) => secondary("Asking it for a few words…"),
            Some(Check::Answered(reply)) => match &reply.failure {
                None => secondary(format!(
                    "{} answers, in {}.",
                    visible_line(&reply.model),
                    words::took(reply.took_ms)
                ))
                .style(style::ok),
                Some(failure) => {
                    secondary(visible_line(&words::here(&failure.message)).into_owned()).style(style::bad)
                }
            },
            // The line above says so.
            None if provider.key == KeyState::Missing => return None,
            None => secondary(visible_line(&words::here(provider.problem.as_deref()?)).into_owned()),
        };
        Some(words.into())
    }

    /// What asks first: by what confines commands on this machine, and by the configuration's rules.
    fn permissions(&self) -> Element<'_, Message> {
        let policy = self.rules.as_ref().map(|rules| &rules.policy[..]);
        let policy: Element<'_, Message> = match policy {
            None => secondary("Asking the daemon…").into(),
            Some([]) => secondary(
                "Rules of your own, for all folders, stand in `[policy]` of the configuration: what they deny, ask about \
                 or allow. There are none.",
            )
            .into(),
            Some(rules) => {
                let rules = rules.iter().map(|rule| {
                    let effect = rule.effect.name();
                    let text = code(words::first_line(&visible_line(&rule.text), MAX_RULE)).style(style::muted);
                    row![beside(effect).width(space::FORM), text].spacing(space::S).align_y(Center).into()
                });
                let head = secondary("Rules of the configuration, in `[policy]`, for all folders:");
                column![head].extend(rules).spacing(space::XS).into()
            }
        };
        column![
            prose(
                "What only reads runs by itself. What may change something runs by itself only where the sandbox confines it \
                 and it can be undone; everything else asks you first."
            ),
            self.sandbox(),
            policy,
        ]
        .spacing(space::M)
        .into()
    }

    /// What confines commands on this machine, and why nothing better does.
    fn sandbox(&self) -> Element<'_, Message> {
        let Some(SandboxStatus { level, why_not, require }) = &self.sandbox else {
            return secondary("Asking the daemon…").into();
        };
        let about = match level {
            SandboxLevel::Full => {
                "Sandbox: full. Commands and code work in it. Where what they do can be undone, they do not ask."
            }
            SandboxLevel::Landlock => "Sandbox: landlock. Commands are confined, and each asks.",
            SandboxLevel::None => "Sandbox: none. Commands can do all that you can, and each asks.",
        };
        let lacks = (level < require).then(|| {
            let words = format!("`[sandbox] require` is {require}, so nothing runs unattended here.");
            secondary(words).style(style::bad).into()
        });
        let reasons = why_not.iter().map(|why| secondary(visible_line(why).into_owned()).into());
        column![secondary(about)].extend(lacks).extend(reasons).spacing(space::S).into()
    }

    /// All that has no field here is set in the file.
    fn file(&self) -> Element<'_, Message> {
        let Some(config) = &self.config else { return secondary("Asking the daemon…").into() };
        let open = action("Open the configuration file", None).style(style::secondary);
        column![
            secondary(format!("What has no field here is set in {}.", visible_line(&config.file.path))),
            row![open.on_press(Message::FilePressed)],
        ]
        .spacing(space::S)
        .into()
    }

    fn notifications(&self) -> Element<'_, Message> {
        let Some(config) = &self.config else { return secondary("Asking the daemon…").into() };
        let choose = |label, wanted| {
            pick(label, config.notifications == wanted, Message::NotificationsToggled(wanted))
        };
        column![
            row![choose("On", true), choose("Off", false)].spacing(space::XS),
            secondary("The daemon notifies of questions, approvals and ends, also while no window is open."),
        ]
        .spacing(space::S)
        .into()
    }

    fn rules(&self, look: Look) -> Element<'_, Message> {
        let Some(rules) = &self.rules else { return secondary("Asking the daemon…").into() };
        if rules.known.is_empty() {
            return secondary("None. “Always allow” and “Always reject” are remembered here.").into();
        }
        let mut content =
            Column::with_children(rules.known.iter().map(|rule| remembered(rule, look))).spacing(space::M);
        if rules.before.is_some() {
            content = content.push(word("Earlier ones", Message::MoreRules));
        }
        content.into()
    }
}

/// A list to choose from; what is chosen stands beside it.
fn change<'a, T: ToString + PartialEq + Clone + 'a>(
    choices: impl Into<Vec<T>>,
    chosen: impl Fn(T) -> Message + 'a,
) -> Element<'a, Message> {
    const CHANGE: &str = "Change…";
    pill(pick_list(choices.into(), None::<T>, chosen).placeholder(CHANGE), CHANGE)
}

/// A model in a list: of a long name the provider and the end are shown.
#[derive(Clone, PartialEq)]
struct Fitted(DefaultChoice);

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::shortened_model(&self.0.to_string(), MAX_MODEL))
    }
}

/// A scale, as a percentage.
#[derive(Clone, PartialEq)]
struct Percent(f32);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} %", self.0 * 100.0)
    }
}

fn memory<'a>() -> Element<'a, Message> {
    let about = "What tasks are given of earlier conversations, and notes: search, forget, turn off.";
    let open = action("Memory…", None).style(style::secondary).on_press(Message::MemoryPressed);
    column![secondary(about), row![open]].spacing(space::S).into()
}

fn appearance<'a>(settings: &Settings) -> Element<'a, Message> {
    let theme = [ThemeChoice::System, ThemeChoice::Dark, ThemeChoice::Light]
        .map(|theme| pick(theme.name(), settings.theme == theme, Message::ThemePicked(theme)));
    // In a list, which closes: another size moves everything, and a button would no longer be where it was
    // clicked.
    let scale = change(SCALES.map(Percent), |Percent(scale)| Message::ScalePicked(scale));
    let scale = row![secondary(Percent(settings.scale).to_string()), scale, secondary("Ctrl + and Ctrl −")];
    let line = |name, choices: Row<'a, Message>| {
        row![container(secondary(name)).width(space::KEYS), choices.align_y(Center).wrap()].align_y(Center)
    };
    let theme = Row::with_children(theme).spacing(space::XS);
    let choose = |label, wanted| pick(label, settings.tray == wanted, Message::TrayToggled(wanted));
    let tray = row![
        choose("shown", true),
        choose("hidden", false),
        secondary("what works and what waits, also while no window is open"),
    ];
    column![
        line("Theme", theme),
        line("Size", scale.spacing(space::M)),
        line("Icon in the tray", tray.spacing(space::XS))
    ]
    .spacing(space::S)
    .into()
}

/// The limits of tokens that are offered; 0: none.
const TOKENS: [u64; 6] = [0, 100_000, 500_000, 2_000_000, 10_000_000, 50_000_000];

/// The limits of cost that are offered, in micro-dollars; 0: none.
const COSTS: [u64; 6] = [0, 1_000_000, 5_000_000, 10_000_000, 50_000_000, 100_000_000];

#[derive(Clone, PartialEq)]
struct Tokens(u64);

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&or_none(self.0, words::tokens))
    }
}

/// In micro-dollars.
#[derive(Clone, PartialEq)]
struct Cost(u64);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&or_none(self.0, words::money))
    }
}

fn or_none(limit: u64, words: impl FnOnce(u64) -> String) -> String {
    if limit > 0 { words(limit) } else { "no limit".to_owned() }
}

/// What bounds a task for which nobody says otherwise.
fn limits(models: Option<&ListModelsReply>) -> Element<'_, Message> {
    let Some(ListModelsReply { limits, .. }) = models else {
        return secondary("Asking the daemon…").into();
    };
    let steps = or_none(limits.max_steps.into(), |steps| words::counted(steps, "step"));
    let time = or_none(limits.max_duration_secs, |secs| {
        format!("{} of work", words::duration(secs.saturating_mul(1000)))
    });
    let tokens = or_none(limits.max_tokens, words::tokens);
    let cost = or_none(limits.max_cost_micros, words::money);
    let line = |name, value| {
        row![secondary(name).width(space::KEYS), secondary(value)].align_y(Center).spacing(space::M)
    };
    column![
        line("Steps", steps),
        line("Time", time),
        line("Tokens", tokens).push(change(TOKENS.map(Tokens), |Tokens(most)| Message::TokensPicked(most))),
        line("Cost", cost).push(change(COSTS.map(Cost), |Cost(most)| Message::CostPicked(most))),
        secondary(
            "At its limit of tokens or cost a task pauses and asks. The prompt's own field sets other steps for one task; \
             `[task]` of the configuration sets all of these.",
        ),
    ]
    .spacing(space::XS)
    .into()
}

fn remembered<'a>(rule: &'a RememberedRule, look: Look) -> Element<'a, Message> {
    let verb = if rule.allow { "allowed" } else { "rejected" };
    let what: Element<'a, Message> = match (&rule.text, &rule.origin) {
        (Some(TextRule { text, workspace, effect }), _) => {
            let verb = match effect {
                RuleEffect::Deny => "denied",
                RuleEffect::Ask => "asked about",
                RuleEffect::Allow => "allowed",
            };
            let place = words::place(&visible_line(workspace), look.home);
            column![
                prose(format!("What this rule matches is {verb}")),
                code(words::first_line(&visible_line(text), MAX_RULE)).style(style::muted),
                secondary(format!("in {place}"))
            ]
            .width(Fill)
            .into()
        }
        (None, Some(origin)) => {
            let arguments = visible_line(origin.rule.arguments.as_str()).into_owned();
            let from = format!(
                "in {} · {} · {}",
                words::place(&visible_line(&origin.rule.workspace), look.home),
                visible_line(&origin.conversation_title),
                words::age(origin.at, look.now),
            );
            column![
                prose(format!("{} is {verb} with exactly these arguments", visible_line(&origin.rule.tool))),
                code(words::first_line(&arguments, MAX_RULE)).style(style::muted),
                secondary(from)
            ]
            .width(Fill)
            .into()
        }
        (None, None) => {
            let id = rule.short();
            secondary(format!("A call is {verb}; the conversation that it is from is deleted ({id})."))
                .width(Fill)
                .into()
        }
    };
    row![what, word("Forget", Message::RuleForgotten(rule.id.clone()))]
        .spacing(space::M)
        .align_y(Center)
        .into()
}
