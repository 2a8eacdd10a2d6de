//! Sets up a provider of models: cards to choose one from, then one form with its address, its key, a test
//! and its model. The page for a new conversation and the settings have it.

mod view;

use crate::{
    effect::{Effect, field},
    request::{self, Reply, Request},
    words,
};
use abide_client::{
    protocol::{
        key::{self, KeyFault},
        method::{
            config::{ProviderChange, UpdateConfigParams},
            daemon::CheckProviderReply,
        },
        provider::{APIS, KeyState, KnownProvider, ProviderEntry, ProviderInfo, is_provider_name},
    },
    provider::{Draft, may_have_no_list, name_at, own_name, usual_model, wants_key, whole_name},
};
use std::fmt;

/// What one is called that is not known by name.
const ANOTHER: &str = "Another URL";

/// See the module.
#[derive(Debug, Default)]
pub enum Setup {
    #[default]
    Closed,
    /// One is being chosen.
    Choosing,
    Form(Box<Form>),
}

/// A provider that is being set up. Nothing is stored before the end.
pub struct Form {
    known: Option<&'static KnownProvider>,
    /// Of one that is there; its name cannot be changed.
    there: Option<String>,
    api: String,
    base_url: String,
    key: String,
    /// The daemon has a key for it.
    has_key: bool,
    /// There is something to remove.
    is_kept: bool,
    /// As typed.
    model: String,
    /// What it lists. `None`: it has not answered since something was changed.
    models: Option<Vec<String>>,
    asked: Option<Asked>,
    failed: Option<Failed>,
}

/// Does not show the key.
impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// What the daemon is doing for the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    List,
    /// A few words of the model, which is then set up.
    Words,
    Store,
}

/// Why it does not go on.
#[derive(Debug)]
struct Failed {
    words: String,
    /// An address near the one given that answers.
    near: Option<String>,
    /// It was the model that did not answer: the person may know better.
    is_model: bool,
}

#[derive(Clone)]
pub enum Message {
    /// Shows the cards.
    AddPressed,
    /// `None`: one that is not known by name.
    Chosen(Option<&'static KnownProvider>),
    AddressTyped(String),
    ApiPicked(&'static str),
    KeyTyped(String),
    TestPressed,
    /// Takes the address that does answer, and tests it.
    NearPressed,
    ModelTyped(String),
    /// One that is offered.
    ModelPicked(String),
    /// The model gets a few words; if it answers, it is the default.
    UsePressed,
    /// The same whether it answers or not.
    AnywayPressed,
    /// Stores what is there, and leaves the default model as it is.
    SavePressed,
    RemovePressed,
    /// Lists again what there is.
    LookPressed,
    Cancelled,
}

/// Does not show a key.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("provider::Message")
    }
}

impl Setup {
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// The name of the provider that is there and being changed.
    #[must_use]
    pub fn changes(&self) -> Option<&str> {
        let Self::Form(form) = self else { return None };
        form.there.as_deref()
    }

    /// Opens the form for one that is there.
    pub fn edit(&mut self, info: &ProviderInfo) -> Vec<Effect> {
        let has_key = info.key == KeyState::Present;
        let form = Form {
            there: Some(info.name.clone()),
            has_key,
            is_kept: has_key || info.source == "config",
            ..Form::new(KnownProvider::named(&info.name))
        };
        let (api, base_url) = (info.api.clone(), info.base_url.clone());
        *self = Self::Form(Box::new(Form { api, base_url, ..form }));
        vec![Effect::Focus(field::KEY)]
    }

    /// Moves the keyboard to where the person goes on.
    #[must_use]
    pub fn wanted(&self) -> Effect {
        match self {
            Self::Closed | Self::Choosing => Effect::Focus(field::PROVIDER),
            Self::Form(form) => form.wanted(),
        }
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match (message, &mut *self) {
            (Message::AddPressed, _) => {
                *self = Self::Choosing;
                vec![self.wanted()]
            }
            (Message::Chosen(known), _) => {
                let mut form = Form::new(known);
                // A server on this machine needs nothing more to be asked.
                let asked = known.is_some_and(KnownProvider::is_local).then(|| form.test());
                let effects = asked.unwrap_or_else(|| vec![form.wanted()]);
                *self = Self::Form(Box::new(form));
                effects
            }
            (Message::LookPressed, _) => vec![Effect::Ask(request::models())],
            (Message::Cancelled, _) => {
                *self = Self::Closed;
                Vec::new()
            }
            (Message::RemovePressed, Self::Form(form)) => {
                let removed = form.there.clone().map(Effect::RemoveProvider);
                *self = Self::Closed;
                removed.into_iter().collect()
            }
            (message, Self::Form(form)) => form.update(message),
            (_, Self::Closed | Self::Choosing) => Vec::new(),
        }
    }

    /// A request was answered.
    pub fn answered(&mut self, request: &Request, reply: &Reply) -> Vec<Effect> {
        let Self::Form(form) = self else { return Vec::new() };
        match (request, reply) {
            (Request::CheckProvider(asked), Reply::CheckProvider(reply)) => {
                // What was typed since is not what was tested.
                let is_meant = match form.asked {
                    Some(Asked::List) => *asked == form.draft(None).check(None),
                    Some(Asked::Words) => {
                        let model = form.whole_model();
                        *asked == form.draft(None).check(Some(&model))
                    }
                    Some(Asked::Store) | None => false,
                };
                if is_meant { form.checked(reply) } else { Vec::new() }
            }
            (request, _) if stores(request) && form.asked == Some(Asked::Store) => {
                *self = Self::Closed;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A request was not done.
    pub fn failed(&mut self, request: &Request) {
        match self {
            Self::Form(form) if stores(request) || matches!(request, Request::CheckProvider(_)) => {
                form.asked = None;
            }
            _ => {}
        }
    }
}

/// Whether this request stores a provider.
const fn stores(request: &Request) -> bool {
    matches!(
        request,
        Request::UpdateConfig(UpdateConfigParams { provider: Some(ProviderChange::Set(_)), .. })
    )
}

impl Form {
    fn new(known: Option<&'static KnownProvider>) -> Self {
        Self {
            known,
            there: None,
            api: known.map_or(APIS[0], |known| known.api).to_owned(),
            base_url: known.map(|known| known.base_url.to_owned()).unwrap_or_default(),
            key: String::new(),
            has_key: false,
            is_kept: false,
            model: String::new(),
            models: None,
            asked: None,
            failed: None,
        }
    }

    fn name(&self) -> String {
        match &self.there {
            Some(there) => there.clone(),
            None => name_at(self.base_url.trim()),
        }
    }

    /// Those of its models that are offered, by their own names: all of them once one is named, before that
    /// those whose names contain what is typed.
    fn fitting<'a>(&self, models: &'a [String]) -> Vec<&'a str> {
        let name = self.name();
        let own = models.iter().map(|model| own_name(&name, model));
        let is_one = own.clone().any(|model| model == self.model.trim());
        let typed = self.model.trim().to_lowercase();
        own.filter(|model| is_one || model.to_lowercase().contains(&typed)).collect()
    }

    fn whole_model(&self) -> String {
        whole_name(&self.name(), self.model.trim(), self.models.as_deref().unwrap_or_default())
    }

    /// `model` becomes the default.
    fn draft(&self, model: Option<String>) -> Draft {
        Draft {
            entry: ProviderEntry {
                name: self.name(),
                api: self.api.clone(),
                base_url: self.base_url.trim().to_owned(),
                api_key_env: None,
            },
            key: key::read(&self.key).ok().map(str::to_owned),
            models: Vec::new(),
            is_default: model.is_some(),
            model,
        }
    }

    fn wanted(&self) -> Effect {
        match (&self.models, self.base_url.is_empty()) {
            (Some(_), _) => Effect::FocusText(field::MODEL),
            (None, true) => Effect::Focus(field::ADDRESS),
            (None, false) => Effect::Focus(field::KEY),
        }
    }

    /// Whether an address is asked for: that of one known by name is right.
    const fn has_address(&self) -> bool {
        self.known.is_none() || self.there.is_some()
    }

    fn update(&mut self, message: Message) -> Vec<Effect> {
        if self.asked == Some(Asked::Store) {
            return Vec::new();
        }
        match message {
            Message::AddressTyped(address) => {
                if let Some(known) = KnownProvider::at(address.trim()) {
                    known.api.clone_into(&mut self.api);
                }
                self.base_url = address;
            }
            Message::ApiPicked(api) => api.clone_into(&mut self.api),
            Message::KeyTyped(key) => self.key = key,
            Message::ModelTyped(model) => {
                (self.model, self.failed) = (model, None);
                self.asked.take_if(|asked| *asked == Asked::Words);
                return Vec::new();
            }
            Message::ModelPicked(model) => {
                let mut effects = self.update(Message::ModelTyped(model));
                effects.push(Effect::Focus(field::MODEL));
                return effects;
            }
            Message::TestPressed => return self.test(),
            Message::NearPressed => {
                let near = self.failed.as_mut().and_then(|failed| failed.near.take());
                self.base_url = near.unwrap_or_else(|| self.base_url.clone());
                return self.test();
            }
            Message::UsePressed => return self.ask_model(),
            Message::AnywayPressed => return self.store(Some(self.whole_model())),
            Message::SavePressed => return self.store(None),
            _ => return Vec::new(),
        }
        // What was found out is of another server or key.
        (self.models, self.asked, self.failed) = (None, None, None);
        Vec::new()
    }

    /// What is missing or wrong before anybody is asked.
    fn fault(&self) -> Option<(String, &'static str)> {
        let address = self.base_url.trim();
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        if !is_address || !is_provider_name(&self.name()) {
            return Some(("Give its address, such as https://llm.example/v1.".to_owned(), field::ADDRESS));
        }
        match key::read(&self.key) {
            Err(KeyFault::Empty) if wants_key(address) && !self.has_key => {
                let words = format!("Paste a key: {} answers nothing without one.", self.title());
                Some((words, field::KEY))
            }
            Ok(_) | Err(KeyFault::Empty) => None,
            Err(fault) => Some((format!("That is not an API key: {fault}."), field::KEY)),
        }
    }

    fn title(&self) -> String {
        let name = || Some(self.name()).filter(|name| !name.is_empty());
        let title = self.known.map(|known| known.title.to_owned()).or_else(name);
        title.unwrap_or_else(|| ANOTHER.to_owned())
    }

    fn refuse(&mut self, (words, field): (String, &'static str)) -> Vec<Effect> {
        self.failed = Some(Failed { words, near: None, is_model: false });
        vec![Effect::Focus(field)]
    }

    /// Asks it for its models.
    fn test(&mut self) -> Vec<Effect> {
        if self.asked.is_some() {
            return Vec::new();
        }
        if let Some(fault) = self.fault() {
            return self.refuse(fault);
        }
        (self.asked, self.failed, self.models) = (Some(Asked::List), None, None);
        vec![Effect::Ask(Request::CheckProvider(self.draft(None).check(None)))]
    }

    /// Asks the model for a few words.
    fn ask_model(&mut self) -> Vec<Effect> {
        if self.asked.is_some() {
            return Vec::new();
        }
        if self.model.trim().is_empty() {
            return self.refuse(("Name a model: click one, or type it.".to_owned(), field::MODEL));
        }
        (self.asked, self.failed) = (Some(Asked::Words), None);
        let fitting = self.fitting(self.models.as_deref().unwrap_or_default());
        if let [only] = fitting[..] {
            self.model = only.to_owned();
        }
        let model = self.whole_model();
        vec![Effect::Ask(Request::CheckProvider(self.draft(None).check(Some(&model))))]
    }

    fn store(&mut self, model: Option<String>) -> Vec<Effect> {
        if let Some(fault) = self.fault() {
            return self.refuse(fault);
        }
        (self.asked, self.failed) = (Some(Asked::Store), None);
        vec![Effect::StoreProvider(Box::new(self.draft(model)))]
    }

    fn checked(&mut self, reply: &CheckProviderReply) -> Vec<Effect> {
        let asked = self.asked.take();
        let is_model = asked == Some(Asked::Words);
        if let Some(failure) = &reply.failure {
            // Some servers have no list; a model of them can still be named.
            if !is_model && reply.base_url.is_none() && may_have_no_list(failure.kind) {
                self.models = Some(Vec::new());
            }
            let words = words::sentence(&words::here(&failure.message));
            self.failed = Some(Failed { words, near: reply.base_url.clone(), is_model });
            return Vec::new();
        }
        if is_model {
            return self.store(Some(self.whole_model()));
        }
        if self.model.is_empty() {
            let usual = usual_model(&self.name(), &reply.models);
            self.model = usual.map(|model| own_name(&self.name(), &model).to_owned()).unwrap_or_default();
        }
        self.models = Some(reply.models.clone());
        vec![self.wanted()]
    }
}
