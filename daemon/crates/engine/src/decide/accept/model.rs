use crate::{
    decide::{
        accept::retry::{self, Next},
        compaction::{self, bytes, cut_notice, is_cut},
        draft::{Draft, End, GoOn},
        input::{ModelFailure, Refusal, Replied, Traces},
        shown::Shown,
    },
    mint::Mint,
    mode::reading::Reading,
    state::task::{Stage, Task},
};
use abide_protocol::{
    CallId, RecordId, Timestamp,
    inbox::QuestionKind,
    record::{
        ModelErrorKind, ModelFailed, ModelTraced, NewRecord, NoticeKind, Paused, RecordBody, ReplyRecord,
    },
    task::{EndReason, PauseReason},
};

/// At this number of identical calls in a row a person is asked.
const LOOP: u32 = 5;

/// A reply counts only if its attempt is the one under way.
pub(super) fn replied(
    task: &Task,
    item: RecordId,
    Replied { reply, reading, mut assessed, traces, window }: Replied,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let attempt = attempt(task, item)?;
    let phase = task.turn().phase;
    let Reading { control, text, calls } = reading;
    let usage = reply.usage;
    let replied = ReplyRecord { phase, control, text, calls, ..ReplyRecord::new(task.step, attempt, reply) };
    assessed.retain(|known| replied.calls().any(|call| call.id == known.call_id));
    let mut draft = Draft::of(task, mint);
    keep_traces(&mut draft, item, attempt, traces);
    draft.push_as(item, RecordBody::Reply(replied));
    if !task.knows_cut && is_cut(bytes(task.entries()), &usage) {
        draft.push(RecordBody::Notice(cut_notice(task, &usage, window.as_deref())));
    }
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
    let text = format!(
        "The agent wants to make the same call for the {LOOP}th time in a row: {tool} ({summary}). Go on? \
         You can also answer with words for the agent."
    );
    draft.ask_to_go_on(GoOn { call_id: Some(call), ..GoOn::new(QuestionKind::Loop, text) });
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
    let overflows = failure.kind == ModelErrorKind::ContextOverflow;
    let compacted = overflows.then(|| compaction::after_overflow(task)).flatten();
    let next = match compacted {
        Some(_) => Next::Retry { delay: 0 },
        None => retry::next(task, attempt, &failure, draft.mint.random()),
    };
    let retry_at = match next {
        Next::Retry { delay } | Next::Park { delay } => Some(at.plus(delay)),
        Next::End => None,
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
    if matches!(next, Next::Park { .. }) {
        park(&mut draft, &failure.message, retry_at);
    }
    if retry_at.is_none() {
        draft.keep_shown(task, &mut Shown::from([(item, failure.shown)]));
        let end = End { error: Some(failure.message.clone()), ..End::of(EndReason::Error) };
        draft.end(task, end.noticed(NoticeKind::Error, failure.message));
    }
    Ok(draft.records)
}

/// Parks the task: a pause that ends by itself at that time. Its question is in the inbox meanwhile.
fn park(draft: &mut Draft<'_>, reason: &str, until: Option<Timestamp>) {
    draft.push(RecordBody::Paused(Paused { reason: PauseReason::Parked }));
    let reason = reason.trim_end_matches('.');
    let text = format!("{reason}. The task goes on by itself when the time has come. Go on now?");
    draft.ask_to_go_on(GoOn { expires_at: until, ..GoOn::new(QuestionKind::Parked, text) });
}

fn attempt(task: &Task, item: RecordId) -> Result<u32, Refusal> {
    match task.stage {
        Stage::Thinking { item: current, attempt, .. } if current == item => Ok(attempt),
        _ => Err(Refusal::Stale),
    }
}
