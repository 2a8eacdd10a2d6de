//! Recalls what has to do with a task: when it starts, and when its model asks.

use crate::config::Config;
use abide_engine::recalled;
use abide_protocol::{
    conversation::Conversation,
    memory::{MemoryUse, RecallWay, Snippet},
    record::Recalled,
};
use abide_store::ReadError;
use std::{future::Future, time::Duration};

/// The longest that anything waits for what could be recalled.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most snippets with a task's words.
pub(crate) const MOST: u32 = 10;

/// Whether a conversation's tasks may use the memory themselves: they search it and make notes. `None`: it is
/// a new conversation.
pub(crate) fn is_open(config: &Config, conversation: Option<&Conversation>) -> bool {
    let is_usual = |conversation: &Conversation| conversation.memory == MemoryUse::Normal;
    config.memory.enabled && conversation.is_none_or(is_usual)
}

/// As much of what a search finds as a task may be given. A failure is in the record, and fails nothing.
pub(crate) async fn in_time(
    search: impl Future<Output = Result<Vec<Snippet>, ReadError>>,
) -> Option<Recalled> {
    let (found, problem) = match tokio::time::timeout(PATIENCE, search).await {
        Ok(Ok(found)) => (found, None),
        Ok(Err(error)) => (Vec::new(), Some(error.to_string())),
        Err(_) => {
            let words =
                format!("the memory took longer than {} s; it may still be indexed", PATIENCE.as_secs());
            (Vec::new(), Some(words))
        }
    };
    if let Some(problem) = &problem {
        tracing::warn!(problem, "nothing is recalled");
    }
    recalled(RecallWay::Words, found, problem)
}
