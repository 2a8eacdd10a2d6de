//! Sub-tasks that a running call starts: code, or a `fork` for which a worktree was made.

use crate::{
    decide::{
        children::{self, Order},
        input::{Fork, Refusal},
    },
    mint::Mint,
    state::{
        history::History,
        task::{CallStage, Task},
    },
};
use abide_protocol::record::NewRecord;

/// Starts the sub-task, or nothing if this fork has one already.
pub(super) fn accept(
    history: &History,
    parent: &Task,
    fork: &Fork,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let runs =
        |stage: &CallStage| matches!(stage, CallStage::Started { attempt, .. } if *attempt == fork.attempt);
    if !parent.call(fork.call).is_some_and(|call| runs(&call.stage)) {
        return Err(Refusal::Stale);
    }
    if children::forked(history, fork.by()).is_some() {
        return Ok(Vec::new());
    }
    let order = Order {
        prompt: &fork.prompt,
        tools: fork.tools.as_deref(),
        by: Some(fork.by()),
        place: fork.place.as_ref(),
    };
    let head = children::head(history, parent, &order).map_err(Refusal::NotForked)?;
    Ok(children::begin(fork.task, head, fork.place.clone(), mint))
}
