use crate::{
    decide::{
        draft::{Draft, End, GO_ON, STOP},
        input::{Refusal, live},
        limits,
        shown::Shown,
    },
    mint::Mint,
    state::{history::History, task::Task},
};
use abide_protocol::{
    QuestionId, TaskId,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{By, LimitsRaised, NewRecord, NoticeKind, Nudge, RecordBody, Resumed},
    task::{EndReason, PauseReason},
    transcript::ToolResult,
};

/// A person's answer to a question.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// `None` declines.
    pub(super) response: Option<String>,
    pub(super) by: Option<By>,
}

/// The first answer counts; later ones are refused with the first.
pub(super) fn accept(
    history: &History,
    task: TaskId,
    id: QuestionId,
    answer: Answer,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    if let Some(first) = history.answer(id) {
        return Err(Refusal::Answered(first.clone()));
    }
    let task = live(history, task)?;
    let question = task.questions.get(&id).ok_or(Refusal::NoQuestion)?;
    Ok(match (question.kind, answer.response.as_deref()) {
        (QuestionKind::Agent, _) => agent(task, question, answer, mint),
        (QuestionKind::Interrupted, _) => interrupted(task, question, answer, mint),
        (_, Some(GO_ON)) => go_on(history, task, question, answer.by, mint),
        (_, Some(STOP) | None) => end(task, question, answer, shown, mint),
        (QuestionKind::Loop, Some(words)) => advise(task, question, &answer, words, mint),
        (_, Some(_)) => return Err(Refusal::NotAChoice(question.choices.clone())),
    })
}

/// Whether this answer to the question ends the task.
pub(crate) fn ends(question: &Question, response: Option<&str>) -> bool {
    let asks_whether = !matches!(question.kind, QuestionKind::Agent | QuestionKind::Interrupted);
    asks_whether && matches!(response, Some(STOP) | None)
}

/// Whether the pause with this reason asked this question: then the answer also ends the pause.
pub(super) fn asked_by_pause(question: &Question, reason: PauseReason) -> bool {
    matches!(
        (question.kind, reason),
        (QuestionKind::Budget, PauseReason::Budget)
            | (QuestionKind::Restart, PauseReason::CrashLoop | PauseReason::Restart)
            | (QuestionKind::Parked, PauseReason::Parked)
    )
}

/// The call's result for the model when a person declines.
const DECLINED: &str = "The user declined to answer. Decide yourself, or end the task if you cannot.";

/// The response becomes the result of the `ask_user` call.
fn agent(task: &Task, question: &Question, answer: Answer, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, answer.response.clone(), answer.by);
    if let Some(call) = question.call_id.and_then(|id| task.call(id)) {
        let words = answer.response.unwrap_or_else(|| DECLINED.to_owned());
        draft.finish_call(call, CallOutcome::Done, ToolResult::success(words, None));
    }
    draft.records
}

/// Ends the pause that asked the question and raises the limits that were reached.
pub(super) fn go_on(
    history: &History,
    task: &Task,
    question: &Question,
    by: Option<By>,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, Some(GO_ON.to_owned()), by);
    if question.kind == QuestionKind::Budget {
        let limits = limits::raised(&task.limits, &task.head.limits, &history.usage());
        draft.push(RecordBody::LimitsRaised(LimitsRaised { limits }));
    }
    if let Some(was) = task.paused.filter(|was| asked_by_pause(question, *was)) {
        draft.push(RecordBody::Resumed(Resumed { was }));
    }
    draft.records
}

/// Any answer but the two choices becomes the result of the repeated call, which is not run.
fn advise(
    task: &Task,
    question: &Question,
    answer: &Answer,
    response: &str,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    let words = format!("Not run: this call repeats itself. The user says: {response}");
    draft.answered(question.id, answer.response.clone(), answer.by.clone());
    if let Some(call) = question.call_id.and_then(|id| task.call(id)).filter(|c| !c.is_finished()) {
        draft.finish_call(call, CallOutcome::Rejected, ToolResult::failure(words));
    }
    draft.records
}

fn end(
    task: &Task,
    question: &Question,
    answer: Answer,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let reason = if question.kind == QuestionKind::Budget { EndReason::Budget } else { EndReason::Stopped };
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, answer.response, answer.by);
    draft.keep_shown(task, shown);
    draft.end(task, End::of(reason).noticed(NoticeKind::Stopped, "Stopped by you."));
    draft.records
}

fn interrupted(task: &Task, question: &Question, answer: Answer, mint: &mut Mint) -> Vec<NewRecord> {
    let about = question.text.lines().next().unwrap_or_default();
    let said = answer.response.as_deref().unwrap_or("(no answer)");
    let mut draft = Draft::of(task, mint);
    let text = format!(
        "Of the call that was interrupted, the user was asked: {about}\nThe user says: {said}\n\
         If that leaves anything open, look before you do it again."
    );
    draft.answered(question.id, answer.response, answer.by);
    draft.push(RecordBody::Nudge(Nudge::new(text)));
    draft.records
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::Timestamp;

    #[test]
    fn a_pause_is_ended_only_by_its_own_question() {
        let question = |kind| Question {
            id: abide_protocol::QuestionId(uuid::Uuid::nil()),
            kind,
            at: Timestamp(0),
            text: String::new(),
            choices: Vec::new(),
            call_id: None,
            expires_at: None,
        };
        let budget = question(QuestionKind::Budget);
        assert!(asked_by_pause(&budget, PauseReason::Budget));
        assert!(!asked_by_pause(&budget, PauseReason::User));
        let restart = question(QuestionKind::Restart);
        assert!(asked_by_pause(&restart, PauseReason::Restart));
        assert!(asked_by_pause(&restart, PauseReason::CrashLoop));
        assert!(
            !asked_by_pause(&restart, PauseReason::Budget) && !asked_by_pause(&restart, PauseReason::User)
        );
    }
}
