//! Draws the page.

use super::{Check, DefaultChoice, Message, Screen, Typing};
use crate::{
    effect::field,
    font,
    local_state::{Settings, ThemeChoice},
    screen::composer::MAX_MODEL,
    theme::{SCALES, size, space, style},
    widget::{
        Element, Look, action, centred::centred, code, field::field, pill::pill, prose, secondary, word,
    },
    words,
};
use abide_client::{
    protocol::{
        inbox::{RuleEffect, TextRule},
        method::{
            daemon::{ListModelsReply, SandboxStatus},
            rule::RememberedRule,
        },
        provider::{KeyState, ProviderInfo},
        sandbox::SandboxLevel,
    },
    text::visible_line,
};
use iced::{
    Center, Fill,
    widget::{Column, Row, column, container, pick_list, row, rule, scrollable, space as gap, text},
};
use std::fmt;

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
            section("Models", self.models(models, look)),
            section("Sandbox", self.sandbox()),
            section("Notifications", self.notifications()),
            section("Look", appearance(settings)),
            section("Remembered decisions", self.rules(look)),
            gap().height(space::XL),
        ]
        .spacing(space::XL);
        let page = container(content).padding([space::XL, 0.0]);
        scrollable(centred(page, space::XL)).id(field::SETTINGS).height(Fill).style(style::bars).into()
    }

    fn models<'a>(&'a self, models: Option<&'a ListModelsReply>, look: Look) -> Element<'a, Message> {
        let Some(models) = models else { return secondary("Asking the daemon…").into() };
        let providers = models.providers.iter().map(|provider| self.provider(provider));
        let providers = Column::with_children(providers).spacing(space::L);
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
        let default =
            column![prose("Default model").font(font::MEDIUM), secondary(visible_line(&now).into_owned())];
        // A picker is as wide as its longest entry.
        let default: Element<'a, Message> = if look.is_narrow {
            default.push(change).spacing(space::XS).into()
        } else {
            row![default.width(Fill), change].spacing(space::M).align_y(Center).into()
        };
        column![
            default,
            rule::horizontal(1).style(style::line),
            providers,
            secondary(
                "Other providers are named in the daemon's configuration. A key is kept by the daemon: in the system's \
                 keyring, else in a file that only you can read."
            ),
        ]
        .spacing(space::M)
        .into()
    }

    /// A provider: its address, key and test.
    fn provider<'a>(&'a self, provider: &'a ProviderInfo) -> Element<'a, Message> {
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
            let label = if provider.key == KeyState::Present { "Change key…" } else { "Set key…" };
            let button = word(label, Message::KeyPressed(name()));
            let was_typed = self.key_of.as_ref() == Some(&provider.name);
            buttons = buttons.push(if was_typed { button.id(field::KEY_BUTTON) } else { button });
        }
        // A press during a test does nothing; a button that could not be pressed would lose the keyboard.
        buttons = buttons.push(word("Test", Message::CheckPressed(name())));
        let head = row![
            column![prose(visible_line(&provider.name)).font(font::MEDIUM), secondary(about)].width(Fill),
            buttons
        ]
        .spacing(space::M)
        .align_y(Center);
        let typing = self.typing.as_ref().filter(|typing| typing.provider == provider.name);
        let parts = [
            Some(head.into()),
            typing.map(|typing| key_field(typing, provider.key == KeyState::Present)),
            self.said(provider),
        ];
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
                Some(failure) => secondary(visible_line(&failure.message).into_owned()).style(style::bad),
            },
            None => secondary(visible_line(provider.problem.as_deref()?).into_owned()),
        };
        Some(words.into())
    }

    /// What confines commands on this machine, and why nothing better does.
    fn sandbox(&self) -> Element<'_, Message> {
        let Some(SandboxStatus { level, why_not, require }) = &self.sandbox else {
            return secondary("Asking the daemon…").into();
        };
        let about = match level {
            SandboxLevel::Full => {
                "full: commands and code work in a sandbox. Where what they do can be undone, they do not ask."
            }
            SandboxLevel::Landlock => "landlock: commands are confined, and each asks.",
            SandboxLevel::None => "none: commands can do all that you can, and each asks.",
        };
        let lacks = (level < require).then(|| {
            let words = format!("`[sandbox] require` is {require}, so nothing runs unattended here.");
            secondary(words).style(style::bad).into()
        });
        let reasons = why_not.iter().map(|why| secondary(visible_line(why).into_owned()).into());
        column![prose(about)].extend(lacks).extend(reasons).spacing(space::S).into()
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

fn section<'a>(name: &'a str, content: Element<'a, Message>) -> Element<'a, Message> {
    let card = container(content).padding(space::L).width(Fill).style(style::card);
    column![secondary(name).font(font::STRONG), card].spacing(space::S).into()
}

/// One of several options; the current one is highlighted.
fn pick<'a>(label: impl text::IntoFragment<'a>, is_chosen: bool, message: Message) -> Element<'a, Message> {
    let choice = word(label, message).padding([4.0, 10.0]);
    choice.style(if is_chosen { style::chosen } else { style::quiet }).into()
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

fn appearance<'a>(settings: &Settings) -> Element<'a, Message> {
    let theme = [ThemeChoice::System, ThemeChoice::Dark, ThemeChoice::Light]
        .map(|theme| pick(theme.name(), settings.theme == theme, Message::ThemePicked(theme)));
    // In a list, which closes: another size moves everything, and a button would no longer be where it was clicked.
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

fn key_field<'a>(typing: &'a Typing, has_key: bool) -> Element<'a, Message> {
    let field = field("Paste the key", (size::PROSE, [6.0, 10.0]), &typing.key, Message::KeyTyped, |input| {
        input.id(field::KEY).secure(true).on_submit(Message::KeySubmitted)
    });
    let is_ready = !typing.key.trim().is_empty() && !typing.is_under_way;
    let store = action("Store and test", None)
        .style(style::primary)
        .on_press_maybe(is_ready.then_some(Message::KeySubmitted));
    let remove = has_key.then(|| {
        let remove = Message::KeyRemoved(typing.provider.clone());
        action("Remove", None).style(style::danger).on_press(remove).into()
    });
    row![field, store]
        .extend(remove)
        .push(action("Cancel", None).style(style::quiet).on_press(Message::KeyCancelled))
        .spacing(space::S)
        .align_y(Center)
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
