//! Shell completion of ids and names that the daemon knows.
//!
//! The script that `abide completions` prints runs this program with [`VARIABLE`] set. A running daemon is
//! asked, but none is started. After an error nothing is offered and nothing is printed.

use crate::{
    args::Cli,
    connection::options,
    output::{pending, ps, rule, text},
};
use abide_client::{
    Client, Options,
    protocol::{
        conversation::Conversation,
        inbox::{InboxItem, Pending},
        method::{
            Inbox, ListConversations, ListModels, ListPersonas, ListRules, ListTasks, ListTemplates,
            ListTools,
            catalog::{ListPersonasParams, ListTemplatesParams, ListToolsParams},
            conversation::ListConversationsParams,
            daemon::ListModelsParams,
            inbox::InboxParams,
            rule::{ListRulesParams, RememberedRule},
            task::ListTasksParams,
        },
        provider::{KNOWN, KnownProvider},
    },
};
use abide_host::Home;
use clap::CommandFactory as _;
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate},
};
use std::{ffi::OsStr, time::Duration};

/// Set by the script, to the name of the shell.
pub(crate) const VARIABLE: &str = "_ABIDE_COMPLETE";

/// A person waits for it after pressing Tab.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many tasks and conversations are searched, newest first.
const PAGE: u32 = 200;
/// The width of a description.
const WIDTH: usize = 60;

/// The kind of thing that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Task,
    /// A task that has not ended.
    LiveTask,
    Conversation,
    ArchivedOrNot,
    TaskOrConversation,
    Question,
    Approval,
    Model,
    Provider,
    /// A remembered decision.
    Rule,
    Persona,
    Template,
    /// Several, with commas between them.
    Tool,
}

impl Kind {
    /// For the `add` attribute of an argument.
    pub(crate) fn completer(self) -> ArgValueCompleter {
        ArgValueCompleter::new(move |typed: &OsStr| {
            typed.to_str().map(|typed| self.candidates(typed)).unwrap_or_default()
        })
    }

    fn candidates(self, typed: &str) -> Vec<CompletionCandidate> {
        let offers = asked(self).unwrap_or_default();
        if self == Self::Tool {
            // The tools before the last comma stay.
            let (before, typed) = typed.rfind(',').map_or(("", typed), |at| typed.split_at(at + 1));
            let candidates = offers.into_iter().filter_map(|offer| offer.candidate(typed));
            return candidates.map(|candidate| candidate.add_prefix(before)).collect();
        }
        offers.into_iter().filter_map(|offer| offer.candidate(typed)).collect()
    }
}

/// Completes to the names of known providers.
pub(crate) fn known_providers() -> ArgValueCompleter {
    let offer = |known: &KnownProvider| Offer {
        name: known.name.to_owned(),
        long: None,
        what: known.title.to_owned(),
    };
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_str().unwrap_or_default();
        KNOWN.iter().map(offer).filter_map(|offer| offer.candidate(typed)).collect()
    })
}

/// Prints completions if the script asked for them; `false` if it did not.
pub(crate) fn answered() -> Result<bool, clap::Error> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(Cli::command).var(VARIABLE).try_complete(std::env::args_os(), folder.as_deref())
}

/// A name that may be offered.
struct Offer {
    name: String,
    /// The full id, offered once the person has typed part of it.
    long: Option<String>,
    what: String,
}

impl Offer {
    fn candidate(self, typed: &str) -> Option<CompletionCandidate> {
        let name = std::iter::once(self.name).chain(self.long).find(|name| name.starts_with(typed))?;
        // A model's name comes from a provider, and goes to a shell.
        let is_plain = !name.chars().any(|c| c.is_control() || c.is_whitespace());
        let what = text::fit(&text::one_line(&self.what), WIDTH).into_owned();
        is_plain.then(|| CompletionCandidate::new(name).help(Some(what.into())))
    }
}

fn asked(kind: Kind) -> Option<Vec<Offer>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let home = Home::from_env().ok()?;
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE, async {
            let options = Options { connect_timeout: PATIENCE, ..options() };
            offers(&Client::connect(&home, options).await.ok()?, kind).await
        })
        .await
        .ok()?
    })
}

async fn offers(daemon: &Client, kind: Kind) -> Option<Vec<Offer>> {
    match kind {
        Kind::Task => tasks(daemon, true).await,
        Kind::LiveTask => tasks(daemon, false).await,
        Kind::Conversation => conversations(daemon, false).await,
        Kind::ArchivedOrNot => {
            let mut all = conversations(daemon, false).await?;
            all.extend(conversations(daemon, true).await?);
            Some(all)
        }
        Kind::TaskOrConversation => {
            let mut all = tasks(daemon, true).await?;
            all.extend(conversations(daemon, false).await?);
            Some(all)
        }
        Kind::Question => inbox(daemon, |item| matches!(item, Pending::Question(_))).await,
        Kind::Approval => inbox(daemon, |item| matches!(item, Pending::Approval(_))).await,
        Kind::Model => models(daemon).await,
        Kind::Provider => providers(daemon).await,
        Kind::Rule => rules(daemon).await,
        Kind::Persona => personas(daemon).await,
        Kind::Template => templates(daemon).await,
        Kind::Tool => tools(daemon).await,
    }
}

async fn listed(daemon: &Client, archived: bool) -> Option<Vec<Conversation>> {
    let params = ListConversationsParams { archived, limit: Some(PAGE), cursor: None };
    Some(daemon.call::<ListConversations>(params).await.ok()?.conversations)
}

async fn tasks(daemon: &Client, all: bool) -> Option<Vec<Offer>> {
    let params = ListTasksParams { all, limit: Some(PAGE), ..ListTasksParams::default() };
    let (tasks, conversations) = tokio::join!(daemon.call::<ListTasks>(params), listed(daemon, false));
    let conversations = conversations?;
    let offer = |task: abide_client::protocol::task::AgentTask| {
        let conversation = conversations.iter().find(|c| c.id == task.conversation_id);
        let title = conversation.map_or("", |c| c.title.as_str());
        let what = format!("{}, {title}", ps::status(&task).0);
        Offer { name: task.id.short(), long: Some(task.id.to_string()), what }
    };
    let mut offers: Vec<Offer> = tasks.ok()?.tasks.into_iter().map(offer).collect();
    offers.push(Offer { name: "last".to_owned(), long: None, what: "the newest task".to_owned() });
    Some(offers)
}

async fn conversations(daemon: &Client, archived: bool) -> Option<Vec<Offer>> {
    let offer = |c: Conversation| Offer { name: c.id.short(), long: Some(c.id.to_string()), what: c.title };
    Some(listed(daemon, archived).await?.into_iter().map(offer).collect())
}

async fn inbox(daemon: &Client, is_wanted: impl Fn(&Pending) -> bool) -> Option<Vec<Offer>> {
    let items = daemon.call::<Inbox>(InboxParams::default()).await.ok()?.items;
    let offer = |item: InboxItem| {
        let what = match &item.pending {
            Pending::Question(question) => question.text.clone(),
            Pending::Approval(approval) => format!("{}: {}", approval.tool, approval.summary),
        };
        Offer { name: pending::short(item.pending.id()), long: None, what }
    };
    Some(items.into_iter().filter(|item| is_wanted(&item.pending)).map(offer).collect())
}

/// The default, the models that providers list offline, and those of conversations.
async fn models(daemon: &Client) -> Option<Vec<Offer>> {
    let offline = ListModelsParams { offline: true, provider: None };
    let (models, conversations) = tokio::join!(daemon.call::<ListModels>(offline), listed(daemon, false));
    let models = models.ok()?;
    let mut names: Vec<String> = models.providers.into_iter().flat_map(|provider| provider.models).collect();
    names.extend(conversations.unwrap_or_default().into_iter().filter_map(|c| c.model));
    names.push(models.default.model.clone());
    names.sort();
    names.dedup();
    let offer = |name: String| {
        let what = if name == models.default.model { "the default".to_owned() } else { String::new() };
        Offer { name, long: None, what }
    };
    Some(names.into_iter().map(offer).collect())
}

async fn providers(daemon: &Client) -> Option<Vec<Offer>> {
    let models = daemon.call::<ListModels>(ListModelsParams { offline: true, provider: None }).await.ok()?;
    let offer = |provider: abide_client::protocol::provider::ProviderInfo| Offer {
        what: format!("{} {}", provider.api, provider.base_url),
        name: provider.name,
        long: None,
    };
    Some(models.providers.into_iter().map(offer).collect())
}

async fn rules(daemon: &Client) -> Option<Vec<Offer>> {
    let params = ListRulesParams { before: None, limit: Some(PAGE) };
    let rules = daemon.call::<ListRules>(params).await.ok()?.rules;
    let offer =
        |r: RememberedRule| Offer { what: rule::about(&r), name: r.short().to_owned(), long: Some(r.id) };
    Some(rules.into_iter().map(offer).collect())
}

async fn personas(daemon: &Client) -> Option<Vec<Offer>> {
    let personas = daemon.call::<ListPersonas>(ListPersonasParams::default()).await.ok()?.personas;
    Some(personas.into_iter().map(|p| Offer { name: p.name, long: None, what: p.description }).collect())
}

async fn templates(daemon: &Client) -> Option<Vec<Offer>> {
    let templates = daemon.call::<ListTemplates>(ListTemplatesParams::default()).await.ok()?.templates;
    Some(templates.into_iter().map(|t| Offer { name: t.name, long: None, what: t.prompt }).collect())
}

async fn tools(daemon: &Client) -> Option<Vec<Offer>> {
    let tools = daemon.call::<ListTools>(ListToolsParams::default()).await.ok()?.tools;
    let none = Offer { name: "none".to_owned(), long: None, what: "no tools".to_owned() };
    let tools = tools.into_iter().map(|t| Offer { name: t.name, long: None, what: t.description });
    Some(tools.chain([none]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(typed: &str, name: &str, what: &str) -> Option<(String, String)> {
        let offer = Offer { name: name.into(), long: Some("0198c0de-00aa".into()), what: what.into() };
        let candidate = offer.candidate(typed)?;
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        Some((candidate.get_value().to_str().unwrap().to_owned(), help))
    }

    #[test]
    fn the_short_id_is_offered_and_the_full_one_once_typed_in_part() {
        assert_eq!(offered("", "5f2c", "Tidy").unwrap().0, "5f2c");
        assert_eq!(offered("5f", "5f2c", "Tidy").unwrap().0, "5f2c");
        assert_eq!(offered("0198", "5f2c", "Tidy").unwrap().0, "0198c0de-00aa");
        assert_eq!(offered("x", "5f2c", "Tidy"), None);
    }

    #[test]
    fn foreign_text_is_shortened_and_escaped() {
        let (_, what) = offered("", "5f2c", &format!("two\nlines\u{1b}[2J{}", "x".repeat(200))).unwrap();
        assert!(
            what.starts_with("two lines") && !what.contains('\u{1b}') && text::width(&what) <= WIDTH,
            "{what:?}"
        );
        assert_eq!(offered("", "bad name", "x"), None);
        assert_eq!(offered("", "bad\u{1b}name", "x"), None);
    }
}
