//! Sub-tasks that a running call starts (code, or a `fork` for which a worktree was made), or a client.

use crate::{
    decide::{
        children::{self, Order},
        command::StartBeneath,
        input::{Fork, Refusal},
    },
    mint::Mint,
    state::{
        history::History,
        task::{CallStage, Task},
    },
};
use abide_protocol::record::{NewRecord, TaskStarted};

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

/// Starts the sub-task that a client asks for.
pub(super) fn beneath(
    history: &History,
    parent: &Task,
    start: StartBeneath,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let StartBeneath { task, prompt, tools, metadata, client_message, external_id, by, .. } = start;
    let order = Order { prompt: &prompt, tools: tools.as_deref(), by: None, place: None };
    let head = children::head(history, parent, &order).map_err(Refusal::NotForked)?;
    let head = TaskStarted { metadata, client_message, external_id, by: Some(by), ..head };
    Ok(children::begin(task, head, None, mint))
}
