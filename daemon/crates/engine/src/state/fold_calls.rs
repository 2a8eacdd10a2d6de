//! Folds what happens to the calls of a reply.

use crate::{
    mode::control::{Control, TASK_COMPLETE, summary},
    state::{
        scratchpad,
        task::{Call, CallStage, Origin, Stage, Task},
    },
};
use abide_protocol::{
    CallId,
    message::CallOutcome,
    method::task::TaskFile,
    record::{CallAssessed, CallFinished, Permission, ReplyRecord},
    transcript::CallBlock,
};
use std::mem;

/// The calls of a reply, then those read in its text.
pub(super) fn of_reply(reply: &ReplyRecord) -> Vec<Call> {
    let native = reply.reply.calls().map(|block| queued(block.clone(), Origin::Reply));
    native.chain(reply.calls.iter().map(|block| queued(block.clone(), Origin::Text))).collect()
}

const fn queued(block: CallBlock, origin: Origin) -> Call {
    Call { block, assessed: None, stage: CallStage::Queued, attempts: 0, by_person: false, origin }
}

/// A call that no reply has.
pub(super) fn without_reply(assessed: &CallAssessed, origin: Origin) -> Call {
    let block = CallBlock {
        id: assessed.call_id,
        provider_id: String::new(),
        tool: assessed.tool.clone(),
        arguments: assessed.arguments.clone(),
        opaque: None,
    };
    queued(block, origin)
}

pub(super) fn call_mut(task: &mut Task, id: CallId) -> Option<&mut Call> {
    if let Stage::Calling(calls) = &mut task.stage {
        calls.iter_mut().find(|c| c.block.id == id)
    } else {
        None
    }
}

/// Allows the calls that would ask only because what they do could not be undone.
pub(super) fn waive_undo(task: &mut Task) {
    let Stage::Calling(calls) = &mut task.stage else { return };
    let asks = |call: &&mut Call| {
        let asks = |assessed: &CallAssessed| assessed.for_task && assessed.permission == Permission::Ask;
        matches!(call.stage, CallStage::Queued) && call.assessed.as_ref().is_some_and(asks)
    };
    calls.iter_mut().filter(asks).for_each(|call| call.stage = CallStage::Allowed);
}

pub(super) fn finish_call(task: &mut Task, f: &CallFinished) {
    if let Some(call) = call_mut(task, f.call_id) {
        let edit = call.assessed.as_ref().and_then(|known| known.edit.as_ref()).filter(|_| f.result.ok);
        let written = edit.map(|edit| TaskFile::written(edit, f.call_id));
        let stage_before = mem::replace(
            &mut call.stage,
            CallStage::Finished { outcome: f.outcome, result: f.result.clone() },
        );
        match stage_before {
            CallStage::Approval(id) => drop(task.approvals.remove(&id)),
            CallStage::Asking(id) => drop(task.questions.remove(&id)),
            _ => {}
        }
        if let Some(file) = written {
            task.files.add(file);
        }
    }
}

/// A finished call's result on one line. A question's result is the answer.
pub(super) fn result_line(call: &Call) -> Option<String> {
    match &call.stage {
        CallStage::Finished { result, .. } => Some(scratchpad::result_line(&call.block.tool, &result.text())),
        _ => None,
    }
}

/// Whether this call is a `task_complete` that may be carried out.
pub(super) fn wants_to_end(task: &Task, call: CallId) -> bool {
    let is_allowed = |call: &Call| matches!(call.stage, CallStage::Allowed);
    task.call(call).is_some_and(|call| {
        is_allowed(call)
            && Control::parse(&call.block.tool, &call.block.arguments)
                .is_some_and(|parsed| matches!(parsed, Control::Complete { .. }))
    })
}

/// The summary of a `task_complete` that took effect.
pub(super) fn accepted_summary(calls: &[Call]) -> Option<String> {
    calls.iter().find_map(|call| match &call.stage {
        CallStage::Finished { outcome: CallOutcome::Done, result }
            if call.block.tool == TASK_COMPLETE && result.ok =>
        {
            Some(summary(&call.block.arguments))
        }
        _ => None,
    })
}

/// After an interruption no attempt runs any more: a call that was started and has no result may be started
/// again.
pub(super) fn reset_started_calls(task: &mut Task) {
    let Stage::Calling(calls) = &mut task.stage else { return };
    for call in calls.iter_mut().filter(|c| matches!(c.stage, CallStage::Started { .. })) {
        call.stage = CallStage::Allowed;
    }
}
