use super::{Draft, End, RetryPolicy};
use crate::{
    compaction,
    input::{ModelFailure, Refusal, Replied, Shown, Traces},
    mint::Mint,
    reading::Reading,
    task::{Stage, Task},
};
use abide_protocol::{
    CallId, QuestionId, RecordId,
    inbox::{Question, QuestionKind},
    record::{ModelErrorKind, ModelFailed, ModelTraced, NewRecord, NoticeKind, RecordBody, ReplyRecord},
    task::EndReason,
};

/// At this number of identical calls in a row a person is asked.
const LOOP: u32 = 5;

/// A reply counts only if its attempt is the one under way.
pub(super) fn replied(
    task: &Task,
    item: RecordId,
    Replied { reply, reading, mut assessed, traces }: Replied,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let attempt = attempt(task, item)?;
    let phase = task.turn().phase;
    let Reading { control, text, calls } = reading;
    let replied = ReplyRecord { phase, control, text, calls, ..ReplyRecord::new(task.step, attempt, reply) };
    assessed.retain(|known| replied.calls().any(|call| call.id == known.call_id));
    let mut draft = Draft::of(task, mint);
    keep_traces(&mut draft, item, attempt, traces);
    draft.push_as(item, RecordBody::Reply(replied));
    let mut repeats = task.repeats.clone();
    for call in assessed {
        let (call_id, tool, summary) = (call.call_id, call.tool.clone(), call.summary.clone());
        repeats.see(&call.tool, &call.arguments);
        draft.push(RecordBody::CallAssessed(call));
        if repeats.count == LOOP {
            ask_about_loop(&mut draft, call_id, &tool, &summary);
        }
    }
    Ok(draft.records)
}

fn keep_traces(draft: &mut Draft<'_>, item: RecordId, attempt: u32, traces: Traces) {
    let Traces { kept, left_out } = traces;
    if !kept.is_empty() || left_out > 0 {
        draft.push(RecordBody::ModelTraced(ModelTraced { item, attempt, traces: kept, left_out }));
    }
}

fn ask_about_loop(draft: &mut Draft<'_>, call: CallId, tool: &str, summary: &str) {
    let question = Question {
        id: QuestionId(draft.mint.uuid()),
        kind: QuestionKind::Loop,
        at: draft.mint.at(),
        text: format!(
            "The agent wants to make the same call for the {LOOP}th time in a row: {tool} ({summary}). Go on? \
             You can also answer with words for the agent."
        ),
        choices: vec![super::answer::GO_ON.to_owned(), super::answer::STOP.to_owned()],
        call_id: Some(call),
        expires_at: None,
    };
    draft.push(RecordBody::QuestionAsked(question));
}

pub(super) fn failed(
    task: &Task,
    item: RecordId,
    failure: ModelFailure,
    traces: Traces,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let attempt = attempt(task, item)?;
    let at = mint.at();
    let mut draft = Draft::of(task, mint);
    keep_traces(&mut draft, item, attempt, traces);
    let policy = RetryPolicy::after(failure.kind, task.was_reached);
    let overflows = failure.kind == ModelErrorKind::ContextOverflow;
    let compacted = overflows.then(|| compaction::after_overflow(task)).flatten();
    let retry_at = if compacted.is_some() {
        Some(at)
    } else if failure.retryable && attempt < policy.attempts {
        Some(at.plus(policy.delay(attempt, failure.retry_after_ms, draft.mint.random())))
    } else {
        None
    };
    draft.push(RecordBody::ModelFailed(ModelFailed {
        item,
        attempt,
        kind: failure.kind,
        message: failure.message.clone(),
        retry_at,
        sent: failure.sent,
    }));
    if let Some(compacted) = compacted {
        draft.push(RecordBody::Compacted(compacted));
    }
    if retry_at.is_none() {
        draft.keep_shown(task, &mut Shown::from([(item, failure.shown)]));
        let end = End { error: Some(failure.message.clone()), ..End::of(EndReason::Error) };
        draft.end(task, end.noticed(NoticeKind::Error, failure.message));
    }
    Ok(draft.records)
}

fn attempt(task: &Task, item: RecordId) -> Result<u32, Refusal> {
    match task.stage {
        Stage::Thinking { item: current, attempt, .. } if current == item => Ok(attempt),
        _ => Err(Refusal::Stale),
    }
}
