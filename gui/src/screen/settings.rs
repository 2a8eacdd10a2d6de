//! The settings page: providers and their keys, the model, what asks, limits, remembered rules,
//! notifications, the look. All but the look, which is this window's own, is requested from the daemon by the
//! same methods as on the command line.

mod view;

use crate::{
    effect::{Effect, field},
    local_state::ThemeChoice,
    request::{self, Reply, Request},
    screen::provider,
};
use abide_client::protocol::{
    Seq,
    method::{
        config::{ConfigReply, ModelChoice, ProviderChange, UpdateConfigParams},
        daemon::{CheckModelParams, CheckModelReply, ListModelsReply, SandboxStatus, StatusParams},
        rule::{ForgetRuleParams, PolicyRule, RememberedRule},
    },
    provider::KnownProvider,
};
use std::{collections::HashMap, fmt, path::PathBuf};

/// The page's state; the app has the providers.
#[derive(Debug, Default)]
pub struct Screen {
    /// As the daemon sent it.
    config: Option<ConfigReply>,
    rules: Option<Rules>,
    sandbox: Option<SandboxStatus>,
    /// The form for a provider.
    pub setup: provider::Setup,
    /// The provider whose form was opened last; empty for a new one. Its button gets the keyboard when the
    /// form closes.
    form_of: Option<String>,
    /// The default model, as it is being typed.
    model: String,
    /// By provider.
    checks: HashMap<String, Check>,
}

#[derive(Debug)]
struct Rules {
    known: Vec<RememberedRule>,
    /// Those of the configuration.
    policy: Vec<PolicyRule>,
    /// There is a page before this.
    before: Option<Seq>,
}

/// The test of a provider.
#[derive(Debug)]
enum Check {
    Asked,
    Answered(CheckModelReply),
}

#[derive(Debug, Clone)]
pub enum Message {
    Setup(provider::Message),
    /// Opens the form for a provider that is there.
    EditPressed(String),
    CheckPressed(String),
    ModelPicked(DefaultChoice),
    ModelTyped(String),
    ModelSubmitted,
    TokensPicked(u64),
    CostPicked(u64),
    NotificationsToggled(bool),
    RuleForgotten(String),
    MoreRules,
    FilePressed,
    MemoryPressed,
    ThemePicked(ThemeChoice),
    ScalePicked(f32),
    TrayToggled(bool),
    Closed,
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
        let mut effects: Vec<Effect> = [
            request::config(),
            request::rules(None),
            request::models(),
            Request::Status(StatusParams::default()),
        ]
        .map(Effect::Ask)
        .into();
        if !self.setup.is_open() {
            effects.insert(0, Effect::Unfocus);
        }
        effects
    }

    /// Opens the form for the provider of this name: one that is there, or one that is known.
    pub fn edit(&mut self, name: &str, models: Option<&ListModelsReply>) -> Vec<Effect> {
        self.form_of = Some(name.to_owned());
        match models.and_then(|models| models.providers.iter().find(|there| there.name == name)) {
            Some(there) => self.setup.edit(there),
            None => self.setup.update(provider::Message::Chosen(KnownProvider::named(name))),
        }
    }

    pub fn update(&mut self, message: Message, models: Option<&ListModelsReply>) -> Vec<Effect> {
        match message {
            Message::EditPressed(name) => self.edit(&name, models),
            Message::Setup(message) => {
                match message {
                    provider::Message::AddPressed => self.form_of = Some(String::new()),
                    // One that is there is changed, not set up anew.
                    provider::Message::Chosen(Some(known)) if has(models, known.name) => {
                        return self.edit(known.name, models);
                    }
                    _ => {}
                }
                let was_open = self.setup.is_open();
                let mut effects = self.setup.update(message);
                if was_open && !self.setup.is_open() {
                    effects.push(Effect::Focus(field::FORM_BUTTON));
                }
                effects
            }
            Message::CheckPressed(provider) => self.check(provider),
            Message::ModelPicked(choice) => Self::change(UpdateConfigParams {
                model: Some(choice.into()),
                ..UpdateConfigParams::default()
            }),
            Message::ModelTyped(model) => {
                self.model = model;
                Vec::new()
            }
            Message::ModelSubmitted if self.model.trim().is_empty() => Vec::new(),
            Message::ModelSubmitted => Self::change(UpdateConfigParams {
                model: Some(ModelChoice::Named(self.model.trim().to_owned())),
                ..UpdateConfigParams::default()
            }),
            Message::FilePressed => {
                let path = self.config.as_ref().map(|config| PathBuf::from(&config.file.path));
                path.map(Effect::EditFile).into_iter().collect()
            }
            Message::MemoryPressed => vec![Effect::Memory],
            Message::TokensPicked(most) => {
                Self::change(UpdateConfigParams { max_tokens: Some(most), ..UpdateConfigParams::default() })
            }
            Message::CostPicked(most) => Self::change(UpdateConfigParams {
                max_cost_micros: Some(most),
                ..UpdateConfigParams::default()
            }),
            Message::NotificationsToggled(wanted) => Self::change(UpdateConfigParams {
                notifications: Some(wanted),
                ..UpdateConfigParams::default()
            }),
            Message::RuleForgotten(id) => {
                vec![Effect::Ask(Request::ForgetRule(ForgetRuleParams { rule_id: id }))]
            }
            Message::MoreRules => {
                let before = self.rules.as_ref().and_then(|rules| rules.before);
                before.map(|before| Effect::Ask(request::rules(Some(before)))).into_iter().collect()
            }
            Message::ThemePicked(theme) => vec![Effect::Theme(theme)],
            Message::ScalePicked(scale) => vec![Effect::Scale(scale)],
            Message::TrayToggled(wanted) => vec![Effect::Tray(wanted)],
            Message::Closed => vec![Effect::Back],
        }
    }

    fn change(params: UpdateConfigParams) -> Vec<Effect> {
        vec![Effect::Ask(Request::UpdateConfig(params))]
    }

    fn check(&mut self, provider: String) -> Vec<Effect> {
        if matches!(self.checks.get(&provider), Some(Check::Asked)) {
            return Vec::new();
        }
        self.checks.insert(provider.clone(), Check::Asked);
        vec![Effect::Ask(Request::CheckModel(CheckModelParams { model: provider }))]
    }

    /// A request of this page was answered.
    pub fn answered(&mut self, request: &Request, reply: &Reply) -> Vec<Effect> {
        match (request, reply) {
            (_, Reply::GetConfig(config) | Reply::UpdateConfig(config)) => {
                self.config = Some(config.clone());
                let was_open = self.setup.is_open();
                drop(self.setup.answered(request, reply));
                let mut effects = Vec::new();
                let Request::UpdateConfig(change) = request else { return effects };
                match &change.provider {
                    None => self.model.clear(),
                    // The old test says nothing about the new key.
                    Some(ProviderChange::Set(entry)) => drop(self.checks.remove(&entry.name)),
                    Some(ProviderChange::Remove(name)) => drop(self.checks.remove(name)),
                }
                // What starts with the default model shows the new one.
                effects.push(Effect::Ask(request::models()));
                if was_open && !self.setup.is_open() {
                    effects.push(Effect::Focus(field::FORM_BUTTON));
                }
                return effects;
            }
            (_, Reply::Status(status)) => self.sandbox = Some(status.sandbox.clone()),
            (Request::ListRules(asked), Reply::ListRules(page)) => {
                let known = self.rules.take().filter(|_| asked.before.is_some()).map(|rules| rules.known);
                let mut known = known.unwrap_or_default();
                known.extend(page.rules.iter().cloned());
                self.rules = Some(Rules { known, policy: page.policy.clone(), before: page.before });
            }
            (Request::ForgetRule(asked), Reply::ForgetRule(_)) => {
                if let Some(rules) = &mut self.rules {
                    rules.known.retain(|rule| rule.id != asked.rule_id);
                }
            }
            (Request::CheckProvider(_), _) => return self.setup.answered(request, reply),
            (Request::CheckModel(asked), Reply::CheckModel(reply)) => {
                self.checks.insert(asked.model.clone(), Check::Answered(reply.clone()));
            }
            _ => {}
        }
        Vec::new()
    }

    /// A request of this page was not done.
    pub fn failed(&mut self, request: &Request) {
        match request {
            Request::CheckModel(asked) => drop(self.checks.remove(&asked.model)),
            request => self.setup.failed(request),
        }
    }
}

fn has(models: Option<&ListModelsReply>, name: &str) -> bool {
    models.is_some_and(|models| models.providers.iter().any(|there| there.name == name))
}
