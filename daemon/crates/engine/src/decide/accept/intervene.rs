//! Interventions: a person changes the course of a task while it works.

use crate::{
    decide::{
        children,
        command::Intervention,
        draft::{Draft, End},
        shown::Shown,
    },
    mint::Mint,
    state::{
        history::History,
        task::{CallStage, Task},
    },
};
use abide_protocol::{
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{
        By, Intervened, Intervener, InterventionKind, NewRecord, NoticeKind, QuestionAnswered, RecordBody,
    },
    task::EndReason,
    transcript::ToolResult,
};

/// The result of an interrupted call that new instructions have kept from running again.
const NOT_AGAIN: &str = "Interrupted, and not run again: the user changed the instructions.";
/// The result of a call that new instructions have kept from running.
const CHANGED: &str = "Not run: the user changed the instructions.";

pub(super) fn accept(
    history: &History,
    task: &Task,
    intervention: Intervention,
    by: By,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    let by = Intervener::Person(by);
    let intervened =
        |kind, comment| Intervened { by: by.clone(), kind, comment, content: None, withdraws: None };
    match intervention {
        Intervention::Comment(comment) => {
            draft.push(RecordBody::Intervened(intervened(InterventionKind::Comment, comment)));
        }
        Intervention::Modify { comment, content } => {
            close_calls(&mut draft, history, task, &content);
            answer_questions(&mut draft, task, &by, &content);
            draft.keep_shown(task, shown);
            let modified = intervened(InterventionKind::Modify, comment);
            let (content, withdraws) = (Some(content), task.unrecorded_reply());
            draft.push(RecordBody::Intervened(Intervened { content, withdraws, ..modified }));
        }
        Intervention::Delete { comment } => {
            draft.push(RecordBody::Intervened(intervened(InterventionKind::Delete, comment)));
            draft.keep_shown(task, shown);
            draft.end(task, End::of(EndReason::Deleted).noticed(NoticeKind::Stopped, "Deleted by you."));
        }
        Intervention::Complete { summary } => {
            draft.keep_shown(task, shown);
            let end = End {
                summary: Some(summary).filter(|text| !text.trim().is_empty()),
                ..End::of(EndReason::Completed)
            };
            draft.end(task, end.noticed(NoticeKind::Stopped, "Completed by you."));
        }
        Intervention::Fail { error } => {
            draft.keep_shown(task, shown);
            let words = if error.trim().is_empty() { "Ended as failed by you.".to_owned() } else { error };
            let end = End { error: Some(words.clone()), ..End::of(EndReason::Error) };
            draft.end(task, end.noticed(NoticeKind::Error, words));
        }
    }
    draft.records
}

/// Gives every call that does not run its result: to a question the new instructions, to a `wait` the results
/// so far, to any other call that it was not run. A call that runs goes on.
fn close_calls(draft: &mut Draft<'_>, history: &History, task: &Task, content: &str) {
    for call in task.calls() {
        let (outcome, result) = match &call.stage {
            CallStage::Started { .. } | CallStage::Finished { .. } => continue,
            CallStage::Asking(_) => (CallOutcome::Done, ToolResult::success(content.to_owned(), None)),
            CallStage::Joining(tasks) => {
                let known = children::results_so_far(history, tasks);
                let words = format!("Interrupted by the user. Sub-tasks that are at work go on. {known}");
                (CallOutcome::Done, ToolResult::success(words, None))
            }
            // It ran, was interrupted, and would run again.
            CallStage::Allowed if call.attempts > 0 => {
                (CallOutcome::Cancelled, ToolResult::failure(NOT_AGAIN))
            }
            CallStage::Queued | CallStage::Approval(_) | CallStage::Allowed => {
                (CallOutcome::Rejected, ToolResult::failure(CHANGED))
            }
        };
        draft.finish_call(call, outcome, result);
    }
}

/// The new instructions also answer whether a repeated call should run, and what to do about an interrupted
/// one. Whether the task may go on at all is another question, which stays.
fn answer_questions(draft: &mut Draft<'_>, task: &Task, by: &Intervener, content: &str) {
    let is_answered =
        |question: &&Question| matches!(question.kind, QuestionKind::Loop | QuestionKind::Interrupted);
    let by = match by {
        Intervener::Person(by) => Some(by.clone()),
        Intervener::Task(_) => None,
    };
    for question in task.questions.values().filter(is_answered) {
        let (question_id, response) = (question.id, Some(content.to_owned()));
        draft.push(RecordBody::QuestionAnswered(QuestionAnswered { question_id, response, by: by.clone() }));
    }
}
