use crate::{
    decide::{draft::Draft, input::Refusal, recalled::new_for},
    mint::Mint,
    state::task::{CallStage, Origin, Task},
};
use abide_protocol::{
    CallId,
    measure::counted,
    message::CallOutcome,
    record::{CallFinished, NewRecord, Recalled, RecordBody},
    transcript::ToolResult,
};

/// A call's outcome counts only if its attempt is the one under way.
pub(super) fn finished(
    task: &Task,
    mut finished: CallFinished,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let call = task.call(finished.call_id).ok_or(Refusal::Stale)?;
    match call.stage {
        CallStage::Started { attempt, .. } if attempt == finished.attempt => {}
        _ => return Err(Refusal::Stale),
    }
    // What code has read before it failed may be in no output, so it is sent as a note.
    finished.read_results.retain(|read| finished.result.ok && task.children.contains(read));
    let mut draft = Draft::of(task, mint);
    draft.push(RecordBody::CallFinished(finished));
    Ok(draft.records)
}

/// What a call has recalled is a record of its own, as at a task's start: its words can be taken out of it. The
/// model reads it after the results. Before a step it is what the model has not read yet.
pub(super) fn recalled(
    task: &Task,
    (call_id, attempt): (CallId, u32),
    recalled: Option<Recalled>,
    duration_ms: u64,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let is_before_step = task.call(call_id).is_some_and(|call| call.origin == Origin::Step);
    let recalled = if is_before_step { recalled.and_then(|found| new_for(task, found)) } else { recalled };
    let result = match &recalled {
        None => ToolResult::success("Nothing is recalled.", None),
        Some(Recalled { problem: Some(problem), snippets, .. }) if snippets.is_empty() => {
            ToolResult::failure(problem.clone())
        }
        Some(Recalled { snippets, .. }) => {
            let count = counted(snippets.len() as u64, "passage");
            ToolResult::success(format!("Recalled {count}, given after the results."), None)
        }
    };
    let (outcome, read_results, usage) = (CallOutcome::Done, Vec::new(), None);
    let ended = CallFinished { call_id, attempt, outcome, result, duration_ms, read_results, usage };
    let ended = finished(task, ended, mint)?;
    let mut draft = Draft::of(task, mint);
    let found = recalled.filter(|recalled| !recalled.snippets.is_empty());
    found.into_iter().for_each(|found| draft.push(RecordBody::Recalled(found)));
    draft.records.extend(ended);
    Ok(draft.records)
}
