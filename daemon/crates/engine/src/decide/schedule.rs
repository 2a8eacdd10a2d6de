//! Which of a reply's calls may start now.
//!
//! All approvals open at once, but that of a call which turns out later not to be undoable. `pure` calls run
//! in parallel; every other call waits for all calls before it. `ask_user` comes after the ordinary calls, or
//! before them if the mode asks first. `task_complete` comes last.

use crate::{
    decide::{children, draft::Draft, files},
    mint::Mint,
    mode::control::{self, Control},
    state::{
        history::History,
        task::{Call, CallStage, Task},
    },
};
use abide_protocol::{
    ApprovalId, JsonText, QuestionId, TaskId, Timestamp,
    inbox::{Approval, Question, QuestionKind, Rule},
    message::CallOutcome,
    record::{
        CallAssessed, CallStarted, ForkedBy, Joining, NewRecord, Noted, Permission, RecordBody, Update,
    },
    transcript::{EffectClass, ToolResult},
};

use serde_json::json;

/// The most `pure` calls of one reply that run at the same time.
const MAX_PARALLEL: usize = 8;

/// Records for the calls that may start; empty if all calls wait or run.
pub(crate) fn next(history: &History, task: &Task, calls: &[Call], mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    for call in calls {
        match (&call.stage, &call.assessed) {
            (CallStage::Queued, Some(assessed)) => refuse_or_ask(&mut draft, task, call, assessed),
            // Cannot happen: the reply and its assessments are one append.
            (CallStage::Queued, None) => draft.finish_call(
                call,
                CallOutcome::Refused,
                ToolResult::failure("The call was never looked at."),
            ),
            (CallStage::Allowed, Some(assessed)) => {
                if let Some(why) = files::asks_after_all(history, task, call) {
                    let assessed = CallAssessed { why: Some(why), for_task: true, ..assessed.clone() };
                    request_approval(&mut draft, task, call, &assessed);
                }
            }
            _ => {}
        }
    }
    if draft.records.is_empty() {
        begin(&mut draft, history, task, calls);
    }
    draft.records
}

fn refuse_or_ask(draft: &mut Draft<'_>, task: &Task, call: &Call, assessed: &CallAssessed) {
    match &assessed.permission {
        Permission::Denied(why) => {
            draft.finish_call(call, CallOutcome::Refused, ToolResult::failure(why.clone()));
        }
        Permission::Ask => request_approval(draft, task, call, assessed),
        // Folding `call_assessed` has already allowed these, as it has what asks for a reason that is
        // accepted for the task.
        Permission::Tier | Permission::Rule | Permission::Yes | Permission::Sandbox => {}
    }
}

fn request_approval(draft: &mut Draft<'_>, task: &Task, call: &Call, assessed: &CallAssessed) {
    let arguments = JsonText::parse(assessed.arguments.clone()).unwrap_or_else(|_| JsonText::empty());
    let approval = Approval {
        id: ApprovalId(draft.mint.uuid()),
        call_id: call.block.id,
        at: draft.mint.at(),
        tool: assessed.tool.clone(),
        summary: assessed.summary.clone(),
        workspace: task.head.workspace.clone(),
        preview: assessed.preview.clone(),
        risk: assessed.risk,
        sandbox: assessed.sandbox.clone(),
        rule: Rule::of(&assessed.tool, &arguments, &task.head.workspace),
        digest: assessed.digest.clone(),
        wider: assessed.wider.clone(),
        why: assessed.why.clone(),
        in_passing: assessed.in_passing,
        files: assessed.files.clone(),
        only_once: assessed.only_once.clone(),
        for_task: assessed.for_task,
        arguments,
    };
    draft.push(RecordBody::ApprovalRequested(approval));
}

fn begin(draft: &mut Draft<'_>, history: &History, task: &Task, calls: &[Call]) {
    let (ordinary, last): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|c| !is_deferred(c));
    let (complete, asks): (Vec<&Call>, Vec<&Call>) =
        last.into_iter().partition(|c| c.block.tool == control::TASK_COMPLETE);
    let questions = |draft: &mut Draft<'_>| {
        for call in asks.iter().filter(|c| matches!(c.stage, CallStage::Allowed)) {
            ask(draft, task, call);
        }
        draft.records.is_empty() && asks.iter().all(|c| c.is_finished())
    };
    let ordinary = |draft: &mut Draft<'_>| {
        begin_ordinary(draft, history, task, &ordinary);
        draft.records.is_empty() && ordinary.iter().all(|c| c.is_finished())
    };
    let order: [&dyn Fn(&mut Draft<'_>) -> bool; 2] =
        if task.table().asks_first { [&questions, &ordinary] } else { [&ordinary, &questions] };
    if !order.iter().all(|are_over| are_over(draft)) {
        return;
    }
    let failed = calls.iter().any(|c| matches!(&c.stage, CallStage::Finished { result, .. } if !result.ok));
    for call in complete.iter().filter(|c| matches!(c.stage, CallStage::Allowed)) {
        if Control::parse(&call.block.tool, &call.block.arguments).is_none() {
            refuse_arguments(draft, call);
            continue;
        }
        let (outcome, result) = match not_complete(history, task, failed) {
            Some(words) => (CallOutcome::Refused, ToolResult::failure(words)),
            None => (CallOutcome::Done, ToolResult::success("The task is complete.", None)),
        };
        draft.finish_call(call, outcome, result);
    }
}

/// Why a `task_complete` is refused, if it is. `failed`: a call beside it failed.
fn not_complete(history: &History, task: &Task, failed: bool) -> Option<String> {
    if let Some(words) = children::keep_from_ending(history, task) {
        return Some(format!("Not completed: {words}"));
    }
    failed.then(|| {
        "Not completed: a call beside this one failed or was rejected. Look at its result first.".to_owned()
    })
}

fn is_deferred(call: &Call) -> bool {
    matches!(call.block.tool.as_str(), control::TASK_COMPLETE | control::ASK_USER | control::REQUEST_INPUT)
        && call.effect() == EffectClass::Control
}

fn begin_ordinary(draft: &mut Draft<'_>, history: &History, task: &Task, calls: &[&Call]) {
    let mut running = calls.iter().filter(|c| matches!(c.stage, CallStage::Started { .. })).count();
    for call in calls {
        match &call.stage {
            CallStage::Finished { .. } => {}
            CallStage::Started { .. } if call.effect() == EffectClass::Pure => {}
            CallStage::Allowed if call.effect() == EffectClass::Pure && running < MAX_PARALLEL => {
                start(draft, call);
                running += 1;
            }
            CallStage::Allowed if running == 0 => {
                if call.effect() == EffectClass::Control {
                    control(draft, history, task, call);
                } else if call.effect() == EffectClass::Pure || !files::works_on_files(history) {
                    start(draft, call);
                }
                return;
            }
            _ => return,
        }
    }
}

fn start(draft: &mut Draft<'_>, call: &Call) {
    let (call_id, attempt) = (call.block.id, call.attempts.saturating_add(1));
    draft.push(RecordBody::CallStarted(CallStarted { call_id, attempt, sandbox: call.sandbox() }));
}

/// Carries out a call of a control tool that neither asks nor ends the task.
fn control(draft: &mut Draft<'_>, history: &History, task: &Task, call: &Call) {
    let done = match Control::parse(&call.block.tool, &call.block.arguments) {
        Some(Control::Update { message: text }) => {
            draft.push(RecordBody::Update(Update { call_id: call.block.id, text }));
            Ok("The user has been told.".to_owned())
        }
        Some(Control::Remember { text }) if !text.trim().is_empty() => {
            draft.push(RecordBody::Noted(Noted { text }));
            Ok("Noted: every later task in this workspace is given it.".to_owned())
        }
        Some(Control::Fork { prompt, tools, worktree }) => {
            let by = ForkedBy { call_id: call.block.id, index: 0 };
            let order =
                children::Order { prompt: &prompt, tools: tools.as_deref(), by: Some(by), place: None };
            let head = children::head(history, task, &order);
            if head.is_ok() && worktree {
                // The worktree has to be made first: that is an attempt, which then asks for the sub-task.
                return start(draft, call);
            }
            head.map(|head| {
                let child = TaskId(draft.mint.uuid());
                draft.records.append(&mut children::begin(child, head, None, draft.mint));
                json!({ "handle": child.short() }).to_string()
            })
        }
        Some(Control::Wait { handle }) => match children::awaited(history, task, handle.as_deref()) {
            Ok(tasks) => match children::results(history, &tasks, &[]) {
                Some(results) => Ok(results),
                None => return draft.push(RecordBody::Joining(Joining { call_id: call.block.id, tasks })),
            },
            Err(words) => Err(words),
        },
        Some(Control::Tell { handle, message }) => {
            children::tell(history, task, &handle, &message, draft.mint).map(|mut records| {
                draft.records.append(&mut records);
                "Told. It is read before the next step.".to_owned()
            })
        }
        Some(Control::Complete { .. } | Control::Ask { .. } | Control::Remember { .. }) | None => {
            return refuse_arguments(draft, call);
        }
    };
    match done {
        Ok(words) => draft.finish_call(call, CallOutcome::Done, ToolResult::success(words, None)),
        Err(words) => draft.finish_call(call, CallOutcome::Refused, ToolResult::failure(words)),
    }
}

fn ask(draft: &mut Draft<'_>, task: &Task, call: &Call) {
    let Some(Control::Ask { question, choices }) = Control::parse(&call.block.tool, &call.block.arguments)
    else {
        return refuse_arguments(draft, call);
    };
    let question = Question {
        id: QuestionId(draft.mint.uuid()),
        kind: QuestionKind::Agent,
        at: draft.mint.at(),
        text: question,
        choices,
        call_id: Some(call.block.id),
        expires_at: expiry(task, draft.mint.at()),
    };
    draft.push(RecordBody::QuestionAsked(question));
}

/// Arguments are checked before a call is allowed; this is a second line of defence.
fn refuse_arguments(draft: &mut Draft<'_>, call: &Call) {
    let words = format!("`{}` is not a tool that takes these arguments.", call.block.tool);
    draft.finish_call(call, CallOutcome::Refused, ToolResult::failure(words));
}

fn expiry(task: &Task, at: Timestamp) -> Option<Timestamp> {
    let secs = task.limits.question_timeout_secs;
    (secs > 0).then(|| at.plus(secs.saturating_mul(1000)))
}
