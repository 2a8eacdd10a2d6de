use crate::{
    decide::{draft::Draft, input::Refusal},
    mint::Mint,
    state::task::{CallStage, Task},
};
use abide_protocol::record::{CallFinished, NewRecord, RecordBody};

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
