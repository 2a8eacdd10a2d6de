//! The settings page: providers and their keys, the model, remembered rules, notifications, the look. All but the look, which is
//! this window's own, is requested from the daemon by the same methods as on the command line.

mod view;

use crate::{
    effect::{Effect, field},
    local_state::ThemeChoice,
    request::{Answer, Key, Request},
};
use abide_client::protocol::{
    Seq,
    method::{
        config::{ConfigReply, ModelChoice, UpdateConfigParams},
        daemon::{CheckModelReply, SandboxStatus},
        rule::RememberedRule,
    },
};
use std::{collections::HashMap, fmt};

/// The page's state; the app has the providers.
#[derive(Debug, Default)]
pub struct Screen {
    /// As the daemon sent it.
    config: Option<ConfigReply>,
    rules: Option<Rules>,
    sandbox: Option<SandboxStatus>,
    typing: Option<Typing>,
    /// The provider whose key was typed last. Its button gets the keyboard when the key was stored or removed, or the typing cancelled.
    key_of: Option<String>,
    /// By provider.
    checks: HashMap<String, Check>,
}

#[derive(Debug)]
struct Rules {
    known: Vec<RememberedRule>,
    /// There is a page before this.
    before: Option<Seq>,
}

/// A provider's key being typed.
struct Typing {
    provider: String,
    key: String,
    is_under_way: bool,
}

/// Does not show the key.
impl fmt::Debug for Typing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typing").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// The test of a provider.
#[derive(Debug)]
enum Check {
    Asked,
    Answered(CheckModelReply),
}

#[derive(Clone)]
pub enum Message {
    KeyPressed(String),
    KeyTyped(String),
    KeySubmitted,
    KeyCancelled,
    KeyRemoved(String),
    CheckPressed(String),
    ModelPicked(DefaultChoice),
    NotificationsToggled(bool),
    RuleForgotten(String),
    MoreRules,
    ThemePicked(ThemeChoice),
    ScalePicked(f32),
    TrayToggled(bool),
    Closed,
}

/// Does not show a key.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings::Message")
    }
}

/// The model of conversations that name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultChoice {
    Automatic,
    Named(String),
}

impl fmt::Display for DefaultChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Automatic => "chosen by itself",
            Self::Named(model) => model,
        })
    }
}

impl From<DefaultChoice> for ModelChoice {
    fn from(choice: DefaultChoice) -> Self {
        match choice {
            DefaultChoice::Automatic => Self::Automatic,
            DefaultChoice::Named(model) => Self::Named(model),
        }
    }
}

impl From<ModelChoice> for DefaultChoice {
    fn from(choice: ModelChoice) -> Self {
        match choice {
            ModelChoice::Automatic => Self::Automatic,
            ModelChoice::Named(model) => Self::Named(model),
        }
    }
}

impl Screen {
    /// Requests what the page shows.
    #[must_use]
    pub fn opened(&mut self) -> Vec<Effect> {
        vec![
            Effect::Unfocus,
            Effect::Ask(Request::Config),
            Effect::Ask(Request::Rules(None)),
            Effect::Ask(Request::Models),
            Effect::Ask(Request::Sandbox),
        ]
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::KeyPressed(provider) => {
                self.key_of = Some(provider.clone());
                self.typing = Some(Typing { provider, key: String::new(), is_under_way: false });
                vec![Effect::Focus(field::KEY)]
            }
            Message::KeyTyped(key) => {
                if let Some(typing) = self.typing.as_mut().filter(|typing| !typing.is_under_way) {
                    typing.key = key;
                }
                Vec::new()
            }
            Message::KeySubmitted => self.store_key(),
            Message::KeyCancelled => {
                self.typing = None;
                vec![Effect::Focus(field::KEY_BUTTON)]
            }
            Message::KeyRemoved(provider) => {
                self.typing = None;
                self.checks.remove(&provider);
                vec![Effect::Ask(Request::SetKey(provider, None)), Effect::Focus(field::KEY_BUTTON)]
            }
            Message::CheckPressed(provider) => self.check(provider),
            Message::ModelPicked(choice) => Self::change(UpdateConfigParams {
                model: Some(choice.into()),
                ..UpdateConfigParams::default()
            }),
            Message::NotificationsToggled(wanted) => Self::change(UpdateConfigParams {
                notifications: Some(wanted),
                ..UpdateConfigParams::default()
            }),
            Message::RuleForgotten(id) => vec![Effect::Ask(Request::ForgetRule(id))],
            Message::MoreRules => {
                let before = self.rules.as_ref().and_then(|rules| rules.before);
                before.map(|before| Effect::Ask(Request::Rules(Some(before)))).into_iter().collect()
            }
            Message::ThemePicked(theme) => vec![Effect::Theme(theme)],
            Message::ScalePicked(scale) => vec![Effect::Scale(scale)],
            Message::TrayToggled(wanted) => vec![Effect::Tray(wanted)],
            Message::Closed => vec![Effect::Back],
        }
    }

    fn change(params: UpdateConfigParams) -> Vec<Effect> {
        vec![Effect::Ask(Request::ChangeConfig(params))]
    }

    fn check(&mut self, provider: String) -> Vec<Effect> {
        if matches!(self.checks.get(&provider), Some(Check::Asked)) {
            return Vec::new();
        }
        self.checks.insert(provider.clone(), Check::Asked);
        vec![Effect::Ask(Request::Check(provider))]
    }

    fn store_key(&mut self) -> Vec<Effect> {
        match self.typing.as_mut().filter(|typing| !typing.is_under_way) {
            Some(typing) if !typing.key.trim().is_empty() => {
                typing.is_under_way = true;
                let key = Key::from(typing.key.trim().to_owned());
                vec![Effect::Ask(Request::SetKey(typing.provider.clone(), Some(key)))]
            }
            _ => Vec::new(),
        }
    }

    /// Whether a key is being typed: Escape cancels that.
    #[must_use]
    pub const fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// A request of this page was answered.
    pub fn answered(&mut self, request: &Request, answer: &Answer) -> Vec<Effect> {
        match (request, answer) {
            (_, Answer::Config(config)) => {
                self.config = Some(config.clone());
                // What starts with the default model shows the new one.
                if matches!(request, Request::ChangeConfig(_)) {
                    return vec![Effect::Ask(Request::Models)];
                }
            }
            (_, Answer::Sandbox(sandbox)) => self.sandbox = Some(sandbox.clone()),
            (Request::Rules(before), Answer::Rules(page)) => {
                let known = self.rules.take().filter(|_| before.is_some()).map(|rules| rules.known);
                let mut known = known.unwrap_or_default();
                known.extend(page.rules.iter().cloned());
                self.rules = Some(Rules { known, before: page.before });
            }
            (Request::ForgetRule(id), Answer::Done) => {
                if let Some(rules) = &mut self.rules {
                    rules.known.retain(|rule| rule.id != *id);
                }
            }
            (Request::SetKey(provider, key), Answer::Done) => {
                let stored = self.typing.take_if(|typing| typing.provider == *provider);
                let mut effects = vec![Effect::Ask(Request::Models), Effect::Ask(Request::Config)];
                if key.is_some() {
                    effects.extend(stored.map(|_| Effect::Focus(field::KEY_BUTTON)));
                    // The old test says nothing about the new key.
                    self.checks.remove(provider);
                    effects.extend(self.check(provider.clone()));
                }
                return effects;
            }
            (Request::Check(provider), Answer::Checked(reply)) => {
                self.checks.insert(provider.clone(), Check::Answered(reply.clone()));
            }
            _ => {}
        }
        Vec::new()
    }

    /// A request of this page was not done.
    pub fn failed(&mut self, request: &Request) {
        match request {
            Request::Check(provider) => drop(self.checks.remove(provider)),
            Request::SetKey(..) => {
                if let Some(typing) = &mut self.typing {
                    typing.is_under_way = false;
                }
            }
            _ => {}
        }
    }
}
