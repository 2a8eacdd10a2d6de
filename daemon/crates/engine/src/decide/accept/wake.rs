use crate::{
    decide::{
        accept::answer,
        draft::{Draft, End},
        shown::Shown,
    },
    mint::Mint,
    state::{history::History, task::Task},
};
use abide_protocol::{
    Timestamp,
    inbox::{Question, QuestionKind},
    record::{NewRecord, NoticeKind},
    task::EndReason,
};

/// Ends a task whose question or time limit has expired, and lets a parked one go on; retries and delayed
/// steps are [`crate::advance()`]'s.
pub(crate) fn accept(history: &History, task: &Task, shown: &mut Shown, mint: &mut Mint) -> Vec<NewRecord> {
    let at = mint.at();
    if let Some(question) = expired(task, at).find(|question| question.kind == QuestionKind::Parked) {
        return answer::go_on(history, task, question, None, mint);
    }
    let mut draft = Draft::of(task, mint);
    if has_expired_question(task, at) {
        draft.keep_shown(task, shown);
        let words = "Nobody answered in time. Stopping here.".to_owned();
        draft.end(task, End::of(EndReason::QuestionTimeout).noticed(NoticeKind::LimitReached, words));
    } else if is_over_time(task, at) {
        draft.keep_shown(task, shown);
        let words = format!(
            "I have reached the time limit of {} seconds. Stopping here.",
            task.limits.max_duration_secs
        );
        draft.end(task, End::of(EndReason::TimeLimit).noticed(NoticeKind::LimitReached, words));
    }
    draft.records
}

/// Whether [`accept`] ends the task at that time.
pub(crate) fn ends_at(task: &Task, at: Timestamp) -> bool {
    has_expired_question(task, at) || is_over_time(task, at)
}

fn has_expired_question(task: &Task, at: Timestamp) -> bool {
    expired(task, at).any(|question| question.kind != QuestionKind::Parked)
}

fn expired(task: &Task, at: Timestamp) -> impl Iterator<Item = &Question> {
    task.questions.values().filter(move |question| question.expires_at.is_some_and(|until| until <= at))
}

pub(crate) fn is_over_time(task: &Task, at: Timestamp) -> bool {
    let limit = task.limits.max_duration_secs.saturating_mul(1000);
    limit > 0 && task.clock.worked_at(at) >= limit
}
