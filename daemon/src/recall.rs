//! Recalls what has to do with a task: when it starts, and when its model asks.

use crate::{config::Config, embedder::Embedder};
use abide_engine::recalled;
use abide_protocol::{
    conversation::Conversation,
    memory::{MemoryUse, RecallWay, Snippet},
    record::Recalled,
};
use abide_store::{Meaning, ReadError, RecallQuery, Store};
use abide_tools::Worktrees;
use std::{future::Future, time::Duration};

/// The longest that anything waits for what could be recalled.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest that it waits for what the query means. There is time left to search by its words.
const PATIENCE_FOR_MEANING: Duration = Duration::from_secs(1);
/// How much of a query counts for what it means, in bytes: about as much as a small model reads. Its server
/// refuses more.
const MOST_OF_QUERY: usize = 1024;
/// The most snippets with a task's words.
pub(crate) const MOST: u32 = 10;

/// What was found.
pub(crate) struct Found {
    pub(crate) how: RecallWay,
    pub(crate) snippets: Vec<Snippet>,
    /// Why it was not looked for by meaning, though it should have been.
    pub(crate) problem: Option<String>,
}

impl Found {
    pub(crate) const NOTHING: Self = Self { how: RecallWay::Words, snippets: Vec::new(), problem: None };
}

/// Whether a conversation's tasks may use the memory themselves: they search it and make notes. `None`: it is
/// a new conversation.
pub(crate) fn is_open(config: &Config, conversation: Option<&Conversation>) -> bool {
    let is_usual = |conversation: &Conversation| conversation.memory == MemoryUse::Normal;
    config.memory.enabled && conversation.is_none_or(is_usual)
}

/// This workspace and those that share its memory: the work trees of one repository. The first is the main work
/// tree, which stays when another one is removed.
pub(crate) async fn scope(workspace: &str) -> Vec<String> {
    let workspace = workspace.to_owned();
    tokio::task::spawn_blocking(move || Worktrees::alike(&workspace)).await.unwrap_or_default()
}

/// Searches by words, and by meaning where an embedder serves. What goes wrong with it never keeps words from
/// being searched for. Where a conversation could recall nothing, this costs one query.
pub(crate) async fn search(
    store: &Store,
    embedder: &Embedder,
    query: RecallQuery<'_>,
) -> Result<Found, ReadError> {
    if let (Some(conversation), Some(workspaces)) = (query.except, query.workspaces)
        && !store.remembers(conversation, workspaces).await?
    {
        return Ok(Found::NOTHING);
    }
    let mut text = query.texts.join("\n");
    text.truncate(text.floor_char_boundary(MOST_OF_QUERY));
    let embedded = Box::pin(embedder.of_query(text, PATIENCE_FOR_MEANING)).await;
    let (how, problem) = match &embedded {
        Ok(_) => (RecallWay::WordsAndMeaning, None),
        Err(error) if error.is_no_problem() => (RecallWay::Words, None),
        Err(error) => (RecallWay::Words, Some(error.to_string())),
    };
    let embedded = embedded.ok();
    let meaning = embedded.as_ref().map(|(embedder, vector)| Meaning { embedder, vector });
    let snippets = store.recall(RecallQuery { meaning, ..query }).await?;
    Ok(Found { how, snippets, problem })
}

/// As much of what a search finds as a task may be given. A failure is in the record, and fails nothing.
pub(crate) async fn in_time(search: impl Future<Output = Result<Found, ReadError>>) -> Option<Recalled> {
    let failed = |problem| Found { problem: Some(problem), ..Found::NOTHING };
    let Found { how, snippets, problem } = match tokio::time::timeout(PATIENCE, search).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => {
            failed(format!("the memory took longer than {} s; it may still be indexed", PATIENCE.as_secs()))
        }
    };
    if let Some(problem) = &problem {
        tracing::warn!(problem, "less is recalled than there may be");
    }
    recalled(how, snippets, problem)
}
