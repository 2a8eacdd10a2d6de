use super::Draft;
use crate::{history::History, input::Refusal, limits, mint::Mint, task::Task};
use abide_protocol::{
    QuestionId, TaskId,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{LimitsRaised, NewRecord, NoticeKind, Nudge, RecordBody, Resumed},
    task::{EndReason, PauseReason},
    transcript::ToolResult,
};

/// The choice that lets a task go on.
pub(crate) const GO_ON: &str = "go on";
/// The choice that ends it.
pub(crate) const STOP: &str = "stop";

/// The first response counts; a later one learns what it was.
pub(super) fn accept(
    history: &History,
    task: TaskId,
    id: QuestionId,
    response: Option<String>,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    if let Some(first) = history.answer(id) {
        return Err(Refusal::Answered(first.clone()));
    }
    let task = super::live(history, task)?;
    let question = task.questions.get(&id).ok_or(Refusal::NoQuestion)?;
    Ok(match (question.kind, response) {
        (QuestionKind::Agent, response) => agent(task, question, response, mint),
        (QuestionKind::Interrupted, response) => interrupted(task, question, response, mint),
        (_, Some(response)) if response == GO_ON => go_on(task, question, response, mint),
        (QuestionKind::Loop, Some(response)) if response != STOP => advise(task, question, response, mint),
        (_, Some(response)) if response != STOP => {
            return Err(Refusal::NotAChoice(question.choices.clone()));
        }
        (_, response) => end(task, question, response, mint),
    })
}

/// Whether a pause for that reason asks this question, so that its answer ends the pause.
pub(super) fn asked_by_pause(question: &Question, reason: PauseReason) -> bool {
    question.kind == QuestionKind::Budget && reason == PauseReason::Budget
}

/// What the model reads when a person would not answer.
const DECLINED: &str = "The user declined to answer. Decide yourself, or end the task if you cannot.";

/// The response is the asking call's result.
fn agent(task: &Task, question: &Question, response: Option<String>, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, response.clone());
    if let Some(call) = question.call_id.and_then(|id| task.call(id)) {
        let words = response.unwrap_or_else(|| DECLINED.to_owned());
        draft.finish_call(call, CallOutcome::Done, ToolResult::success(words, None));
    }
    draft.records
}

/// The task goes on: the pause that asked is over, a limit that was reached is raised.
pub(super) fn go_on(task: &Task, question: &Question, response: String, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, Some(response));
    if question.kind == QuestionKind::Budget {
        let limits = limits::raised(&task.limits, &task.head.limits, &task.usage);
        draft.push(RecordBody::LimitsRaised(LimitsRaised { limits }));
    }
    if let Some(was) = task.paused.filter(|was| asked_by_pause(question, *was)) {
        draft.push(RecordBody::Resumed(Resumed { was }));
    }
    draft.records
}

/// Any words but the two choices are for the model, instead of the call that repeats itself.
fn advise(task: &Task, question: &Question, response: String, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    let words = format!("Not run: this call repeats itself. The user says: {response}");
    draft.answered(question.id, Some(response));
    if let Some(call) = question.call_id.and_then(|id| task.call(id)).filter(|c| !c.is_finished()) {
        draft.finish_call(call, CallOutcome::Rejected, ToolResult::failure(words));
    }
    draft.records
}

fn end(task: &Task, question: &Question, response: Option<String>, mint: &mut Mint) -> Vec<NewRecord> {
    let reason = if question.kind == QuestionKind::Budget { EndReason::Budget } else { EndReason::Stopped };
    let mut draft = Draft::of(task, mint);
    draft.answered(question.id, response);
    draft.end(task, reason, None, None, Some((NoticeKind::Stopped, "Stopped by you.".to_owned())));
    draft.records
}

fn interrupted(
    task: &Task,
    question: &Question,
    response: Option<String>,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let about = question.text.lines().next().unwrap_or_default();
    let said = response.as_deref().unwrap_or("(no answer)");
    let mut draft = Draft::of(task, mint);
    let text = format!(
        "Of the call that was interrupted, the user was asked: {about}\nThe user says: {said}\n\
         If that leaves anything open, look before you do it again."
    );
    draft.answered(question.id, response);
    draft.push(RecordBody::Nudge(Nudge { text }));
    draft.records
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::Timestamp;

    #[test]
    fn only_the_budgets_question_ends_the_budgets_pause() {
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
        assert!(!asked_by_pause(&question(QuestionKind::Restart), PauseReason::Budget));
    }
}
