//! Asks a person at the terminal for what the command line does not say. Nothing is stored meanwhile.

use super::draft::{Facts, checked_name};
use crate::{
    args::AddArgs,
    commands::key,
    connection::Daemon,
    error::CommandError,
    output::{
        measure, models,
        provider::{Offer, choices, offers},
        screen,
        style::{BAD, FAINT, paint},
        text,
    },
    prompt::{Edited, Terminal},
};
use abide_client::{
    protocol::{
        method::{
            CheckProvider,
            config::ModelChoice,
            daemon::{CheckModelReply, CheckProviderParams, CheckProviderReply, ListModelsReply},
        },
        provider::{APIS, KNOWN, KeyState, KnownProvider, ProviderEntry, ProviderInfo},
    },
    provider::{Draft, may_have_no_list, own_name, usual_model, wants_key, whole_name},
};
use std::{collections::BTreeMap, env, io};
use tokio::task::JoinSet;

/// Why there is no draft.
pub(super) enum Left {
    /// The person has left, by Ctrl-C or Ctrl-D.
    Gone,
    Failed(CommandError),
}

impl From<CommandError> for Left {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Left {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

type Asked<T> = Result<T, Left>;

pub(super) struct Asking<'a> {
    daemon: &'a mut Daemon,
    terminal: Terminal,
    args: AddArgs,
    there: ListModelsReply,
    /// The configured default model.
    default: ModelChoice,
}

/// How a person goes on after a test that failed.
enum Next {
    /// Tests what may have changed.
    Again,
    NameModel,
    Anyway,
}

impl<'a> Asking<'a> {
    pub(super) const fn new(
        daemon: &'a mut Daemon,
        terminal: Terminal,
        args: AddArgs,
        there: ListModelsReply,
        default: ModelChoice,
    ) -> Self {
        Self { daemon, terminal, args, there, default }
    }

    pub(super) async fn draft(mut self) -> Asked<Draft> {
        let name = match self.args.name.take() {
            Some(name) => checked_name(name)?,
            None => self.name().await?,
        };
        let Facts { api, base_url, has_key } = Facts::of(&name, &self.args, &self.there.providers);
        let base_url = match base_url {
            Some(base_url) => base_url,
            None => self.address("").await?,
        };
        let api = match api {
            Some(api) => api,
            None => self.api().await?,
        };
        let entry = ProviderEntry { name, api, base_url, api_key_env: self.args.key_env.take() };
        let key = match (&entry.api_key_env, self.args.key_stdin) {
            (Some(_), _) => None,
            (None, true) => Some(key::read(&entry.name).await?),
            (None, false) if KnownProvider::named(&entry.name).is_some_and(KnownProvider::is_local) => None,
            (None, false) => self.key(&entry, has_key).await?,
        };
        let mut draft = Draft { entry, key, models: Vec::new(), model: None, is_default: self.args.default };
        if self.list(&mut draft).await? {
            self.choose(&mut draft).await?;
        }
        Ok(draft)
    }

    async fn line(&self, label: &str) -> Asked<String> {
        match self.terminal.ask(label).await? {
            Edited::Line(line) => Ok(line.trim().to_owned()),
            Edited::Interrupted | Edited::End => Err(Left::Gone),
        }
    }

    /// A line, or what is in the brackets.
    async fn line_or(&self, label: &str, default: &str) -> Asked<String> {
        loop {
            let shown =
                if default.is_empty() { String::new() } else { format!(" [{}]", text::one_line(default)) };
            let typed = self.line(&format!("{label}{shown}: ")).await?;
            match (typed.is_empty(), default.is_empty()) {
                (false, _) => return Ok(typed),
                (true, false) => return Ok(default.to_owned()),
                (true, true) => {}
            }
        }
    }

    async fn yes(&self, question: &str, default: bool) -> Asked<bool> {
        let choices = if default { "[Y/n]" } else { "[y/N]" };
        let typed = self.line(&format!("{question} {choices} ")).await?.to_lowercase();
        Ok(match typed.as_str() {
            "" => default,
            typed => ["y", "yes"].contains(&typed),
        })
    }

    /// Which provider.
    async fn name(&mut self) -> Asked<String> {
        let running = self.running().await?;
        let offer = |known: &KnownProvider| Offer {
            name: known.name,
            title: known.title,
            state: state(known, &self.there.providers, running.get(known.name).copied()),
        };
        screen::note(&offers(&KNOWN.iter().map(offer).collect::<Vec<_>>()))?;
        let runs = |known: &&KnownProvider| running.get(known.name).is_some_and(|models| *models > 0);
        let default = KNOWN.iter().find(runs).unwrap_or(&KNOWN[0]).name;
        loop {
            let typed = self.line_or("Which provider? number or name", default).await?;
            match typed.parse::<usize>() {
                Ok(number) if number == KNOWN.len() + 1 => {
                    return Ok(checked_name(self.line_or("Its name, as in NAME/MODEL", "").await?)?);
                }
                Ok(number) => match number.checked_sub(1).and_then(|at| KNOWN.get(at)) {
                    Some(known) => return Ok(known.name.to_owned()),
                    None => screen::note("there is no such number")?,
                },
                Err(_) => match checked_name(typed) {
                    Ok(name) => return Ok(name),
                    Err(error) => screen::note(&error.to_string())?,
                },
            }
        }
    }

    /// The model servers that answer at their usual addresses on this machine, each with the number of its
    /// models.
    async fn running(&self) -> Asked<BTreeMap<&'static str, usize>> {
        let mut asked = JoinSet::new();
        for known in KNOWN.iter().filter(|known| known.is_local()) {
            let entry = ProviderEntry {
                name: known.name.to_owned(),
                api: known.api.to_owned(),
                base_url: known.base_url.to_owned(),
                api_key_env: None,
            };
            let params = CheckProviderParams { provider: entry, key: None, model: None };
            let answer = self.daemon.asked::<CheckProvider>(params);
            asked.spawn(async { (known.name, answer.await) });
        }
        let mut running = BTreeMap::new();
        while let Some(answered) = asked.join_next().await {
            let (name, reply) = answered.map_err(io::Error::other)?;
            let reply = reply?;
            if reply.failure.is_none() {
                running.insert(name, reply.models.len());
            }
        }
        Ok(running)
    }

    async fn address(&self, default: &str) -> Asked<String> {
        let label =
            if default.is_empty() { "Its address, such as https://llm.example/v1" } else { "Its address" };
        self.line_or(label, default).await
    }

    async fn api(&self) -> Asked<String> {
        screen::note("Its API:")?;
        screen::note(&choices(&APIS))?;
        loop {
            let typed = self.line_or("number or name", APIS[0]).await?;
            let numbered = typed.parse::<usize>().ok().and_then(|n| APIS.get(n.checked_sub(1)?));
            match numbered.or_else(|| APIS.iter().find(|api| **api == typed)) {
                Some(api) => return Ok((*api).to_owned()),
                None => screen::note("it is none of these")?,
            }
        }
    }

    /// The key to store; `None`: the daemon has it, or none is needed.
    async fn key(&self, entry: &ProviderEntry, has_key: bool) -> Asked<Option<String>> {
        let variable = KnownProvider::named(&entry.name).and_then(|known| known.key_variable);
        let in_shell = variable.and_then(|name| Some((name, env::var(name).ok()?)));
        let in_shell = in_shell.filter(|(_, key)| key::check(key).is_ok());
        let wants_key = wants_key(&entry.base_url);
        let default = match (has_key, &in_shell, wants_key) {
            (true, ..) => " [the one that the daemon has]".to_owned(),
            (false, Some((name, _)), _) => format!(" [that of {name} in this shell]"),
            (false, None, true) => String::new(),
            (false, None, false) => " [none]".to_owned(),
        };
        let label = format!("API key of {}, not shown{default}: ", text::one_line(&entry.name));
        loop {
            let typed = self.terminal.secret(&label).await?.ok_or(Left::Gone)?;
            match (typed.trim(), &in_shell) {
                ("", _) if has_key => return Ok(None),
                ("", Some((_, key))) => return Ok(Some(key.trim().to_owned())),
                ("", None) if !wants_key => return Ok(None),
                _ => match key::check(&typed) {
                    Ok(key) => return Ok(Some(key.to_owned())),
                    Err(error) => screen::note(&error.to_string())?,
                },
            }
        }
    }

    /// Asks the provider for its models until it answers or the person has enough. Returns whether to choose
    /// a model.
    async fn list(&mut self, draft: &mut Draft) -> Asked<bool> {
        loop {
            let words = format!("asking {} for its models…", text::one_line(&draft.entry.name));
            screen::note(&paint(FAINT, &words))?;
            let reply = self.daemon.call::<CheckProvider>(draft.check(None)).await?;
            let Some(failure) = &reply.failure else {
                draft.models = reply.models;
                return Ok(true);
            };
            // Without a list one of its models may answer all the same.
            match self.mend(draft, &reply, may_have_no_list(failure.kind)).await? {
                Next::Again => {}
                Next::NameModel => return Ok(true),
                Next::Anyway => return Ok(false),
            }
        }
    }

    /// Which model, whether it answers, and whether it becomes the default.
    async fn choose(&mut self, draft: &mut Draft) -> Asked<()> {
        let is_given = self.args.model.is_some();
        let mut typed = self.args.model.take();
        loop {
            let model = match typed.take() {
                Some(typed) => Some(whole_name(&draft.entry.name, &typed, &draft.models)),
                None => self.model(draft).await?,
            };
            let Some(model) = model else { return Ok(()) };
            match self.answers(draft, &model).await? {
                Next::NameModel => {}
                Next::Again | Next::Anyway => {
                    draft.model = Some(model);
                    break;
                }
            }
        }
        if let (Some(model), false, false) = (&draft.model, draft.is_default, is_given) {
            let now = match &self.default {
                ModelChoice::Named(model) => model,
                ModelChoice::Automatic => &self.there.default.model,
            };
            let question = format!(
                "Make {} the default model? It is {} now.",
                text::one_line(model),
                text::one_line(now)
            );
            draft.is_default = self.yes(&question, self.default == ModelChoice::Automatic).await?;
        }
        Ok(())
    }

    /// Asks the model for a word until it answers or the person has enough.
    async fn answers(&mut self, draft: &mut Draft, model: &str) -> Asked<Next> {
        loop {
            screen::note(&paint(FAINT, &format!("asking {} for a word…", text::one_line(model))))?;
            let reply = self.daemon.call::<CheckProvider>(draft.check(Some(model))).await?;
            if reply.failure.is_none() {
                let answered =
                    CheckModelReply { model: model.to_owned(), took_ms: reply.took_ms, failure: None };
                screen::note(&models::answers(&answered))?;
                return Ok(Next::Anyway);
            }
            match self.mend(draft, &reply, true).await? {
                Next::Again => {}
                next => return Ok(next),
            }
        }
    }

    /// One of the models, as `provider/model`. `None`: the provider lists none, and the person names none.
    async fn model(&self, draft: &Draft) -> Asked<Option<String>> {
        let provider = &draft.entry.name;
        let listed = &draft.models;
        if listed.is_empty() {
            let typed = self.line("It lists no models. Which one shall be tried? name [none]: ").await?;
            return Ok((!typed.is_empty()).then(|| whole_name(provider, &typed, listed)));
        }
        let own = |model: &str| own_name(provider, model).to_owned();
        let mut shown: Vec<&String> = listed.iter().collect();
        let mut default = usual_model(provider, listed).unwrap_or_else(|| listed[0].clone());
        loop {
            let names: Vec<String> = shown.iter().map(|model| own(model)).collect();
            screen::note(&choices(&names))?;
            let typed = self.line_or("Which model? number, name or a part of it", &own(&default)).await?;
            let numbered = typed.parse::<usize>().ok().and_then(|n| shown.get(n.checked_sub(1)?));
            if let Some(model) = numbered {
                return Ok(Some((*model).clone()));
            }
            let whole = whole_name(provider, &typed, listed);
            if listed.contains(&whole) {
                return Ok(Some(whole));
            }
            let part = typed.to_lowercase();
            let fitting: Vec<&String> =
                listed.iter().filter(|model| own(model).to_lowercase().contains(&part)).collect();
            match fitting.first() {
                Some(first) => {
                    default = (*first).clone();
                    shown = fitting;
                }
                None if self.yes("It lists no such model. Try it all the same?", false).await? => {
                    return Ok(Some(whole));
                }
                None => {}
            }
        }
    }

    /// Says what is wrong, and lets the person change it.
    async fn mend(&self, draft: &mut Draft, reply: &CheckProviderReply, has_model: bool) -> Asked<Next> {
        if let Some(failure) = &reply.failure {
            screen::Screen::new().prose(&paint(BAD, &text::one_line(&failure.message)))?;
        }
        if let Some(url) = &reply.base_url
            && self.yes(&format!("{} answers. Take that address?", text::one_line(url)), true).await?
        {
            draft.entry.base_url.clone_from(url);
            return Ok(Next::Again);
        }
        let model = if has_model { " · m name a model" } else { "" };
        let label = format!(
            "t try again · k another key · a another address{model} · s set it up as it is · q leave: "
        );
        loop {
            match self.line(&label).await?.as_str() {
                "t" => return Ok(Next::Again),
                "k" => {
                    draft.entry.api_key_env = None;
                    draft.key = self.key(&draft.entry, false).await?;
                    return Ok(Next::Again);
                }
                "a" => {
                    draft.entry.base_url = self.address(&draft.entry.base_url).await?;
                    return Ok(Next::Again);
                }
                "m" if has_model => return Ok(Next::NameModel),
                "s" => return Ok(Next::Anyway),
                "q" => return Err(Left::Gone),
                _ => screen::note("type one of these letters, then Enter")?,
            }
        }
    }
}

/// What a person may want to know of a provider before choosing it.
fn state(known: &KnownProvider, there: &[ProviderInfo], models: Option<usize>) -> String {
    let info = there.iter().find(|info| info.name == known.name);
    let set_up = info.filter(|info| info.source == "config").map(|_| "set up".to_owned());
    let key = info.filter(|info| info.key == KeyState::Present).map(|_| "has a key".to_owned());
    let runs = models.map(|models| format!("runs here, {}", measure::counted(models as u64, "model")));
    let here = (known.is_local() && models.is_none()).then(|| "on this machine".to_owned());
    set_up.into_iter().chain(key).chain(runs).chain(here).collect::<Vec<_>>().join(", ")
}
