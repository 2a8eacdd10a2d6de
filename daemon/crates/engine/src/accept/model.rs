use super::Draft;
use crate::{
    history::{History, is_elided},
    input::{ModelFailure, Refusal},
    mint::Mint,
    task::{Stage, Task},
};
use abide_protocol::{
    CallId, QuestionId, RecordId,
    inbox::{Question, QuestionKind},
    record::{
        CallPlanned, Compacted, ModelErrorKind, ModelFailed, NewRecord, NoticeKind, RecordBody, ReplyRecord,
    },
    task::EndReason,
    transcript::{Block, Entry, Reply, StopReason},
};

/// Attempts of one model call before the task gives up: with the delays below, about six minutes.
const MAX_ATTEMPTS: u32 = 12;
/// ms.
const FIRST_DELAY: u64 = 500;
/// ms.
const MAX_DELAY: u64 = 60_000;
/// The longest a provider's `Retry-After` is heeded, in ms.
const MAX_RETRY_AFTER: u64 = 3_600_000;
/// The identical call in a row that a person is asked about.
const LOOP: u32 = 5;

/// A reply counts only for the attempt that is under way.
pub(super) fn replied(
    task: &Task,
    item: RecordId,
    mut reply: Reply,
    mut plans: Vec<CallPlanned>,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let attempt = attempt(task, item)?;
    // The last call of such a reply may be half of one.
    if reply.stop_reason == StopReason::Length {
        reply.blocks.retain(|block| !matches!(block, Block::Call(_)));
    }
    plans.retain(|plan| reply.calls().any(|call| call.id == plan.call_id));
    let mut draft = Draft::of(task, mint);
    draft.push_as(item, RecordBody::Reply(ReplyRecord { step: task.step, attempt, reply }));
    let mut repeats = task.repeats.clone();
    for plan in plans {
        let (call_id, tool, summary) = (plan.call_id, plan.tool.clone(), plan.summary.clone());
        repeats.see(&plan.tool, &plan.arguments);
        draft.push(RecordBody::CallPlanned(plan));
        if repeats.count == LOOP {
            ask_about_loop(&mut draft, call_id, &tool, &summary);
        }
    }
    Ok(draft.records)
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
    history: &History,
    task: &Task,
    item: RecordId,
    failure: ModelFailure,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let attempt = attempt(task, item)?;
    let at = mint.at();
    let mut draft = Draft::of(task, mint);
    let elidable =
        if failure.kind == ModelErrorKind::ContextOverflow { oldest_results(history) } else { Vec::new() };
    let retry_at = if !elidable.is_empty() {
        Some(at)
    } else if failure.retryable && attempt < MAX_ATTEMPTS {
        Some(at.plus(delay(attempt, failure.retry_after_ms, draft.mint.random())))
    } else {
        None
    };
    draft.push(RecordBody::ModelFailed(ModelFailed {
        item,
        attempt,
        kind: failure.kind,
        message: failure.message.clone(),
        retry_at,
    }));
    if !elidable.is_empty() {
        draft.push(RecordBody::Compacted(Compacted { elided: elidable }));
    }
    if retry_at.is_none() {
        let notice = (NoticeKind::Error, failure.message.clone());
        draft.end(task, EndReason::Error, None, Some(failure.message), Some(notice));
    }
    Ok(draft.records)
}

fn attempt(task: &Task, item: RecordId) -> Result<u32, Refusal> {
    match task.stage {
        Stage::Thinking { item: current, attempt, .. } if current == item => Ok(attempt),
        _ => Err(Refusal::Stale),
    }
}

/// Doubles each time, up to a minute, with up to a quarter of jitter; never less than the provider wants.
fn delay(attempt: u32, retry_after: Option<u64>, random: u64) -> u64 {
    let base = FIRST_DELAY.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(MAX_DELAY);
    let jittered = base + random % (base / 4 + 1);
    jittered.max(retry_after.unwrap_or(0).min(MAX_RETRY_AFTER))
}

/// The older half of the results that are still sent whole; none if none is left.
fn oldest_results(history: &History) -> Vec<CallId> {
    let whole: Vec<CallId> = history
        .entries()
        .iter()
        .filter_map(
            |e| if let Entry::Result(r) = e { (!is_elided(&r.text)).then_some(r.call_id) } else { None },
        )
        .collect();
    let half = whole.len().div_ceil(2);
    whole.into_iter().take(half).collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_DELAY, delay};

    #[test]
    fn delays_double_up_to_a_minute_and_heed_the_provider() {
        let table = [
            (1, None, 500),
            (2, None, 1000),
            (5, None, 8000),
            (8, None, MAX_DELAY),
            (12, None, MAX_DELAY),
            (1, Some(7000), 7000),
        ];
        for (attempt, retry_after, least) in table {
            for random in [0, 1, u64::MAX] {
                let ms = delay(attempt, retry_after, random);
                assert!((least..=least + least / 4).contains(&ms), "attempt {attempt}: {ms} ms");
            }
        }
        assert_eq!(delay(1, Some(u64::MAX), 0), 3_600_000);
    }
}
