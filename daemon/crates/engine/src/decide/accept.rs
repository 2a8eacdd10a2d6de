//! Turns an input into records, or refuses it; a refusal changes nothing.

mod answer;
mod call;
mod decide;
mod fork;
mod interruption;
mod intervene;
mod model;
mod relatives;
mod retry;
mod start;
mod wake;

use answer::Answer;
pub(crate) use answer::ends as ends_by_answer;
use answer::{GO_ON, STOP};
use decide::Verdict;
pub(crate) use relatives::with_relatives;
pub(crate) use retry::RetryPolicy;
pub(crate) use wake::{accept as wake_up, ends_at, is_over_time};

use crate::{
    decide::input::{Input, Refusal, Shown},
    mint::Mint,
    state::{
        files,
        history::History,
        task::{Call, CallStage, Stage, Task},
    },
};
use abide_protocol::{
    CallId, JsonText, QuestionId, TaskId, Timestamp,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{
        By, CallFinished, ConversationArchived, NewRecord, Notice, NoticeKind, PartialReply, Paused,
        QuestionAnswered, RecordBody, Resumed, TaskEnded,
    },
    task::{EndReason, PauseReason},
    transcript::ToolResult,
};
use std::{collections::BTreeMap, mem};

/// The records that `input` adds to `history`, not folded yet.
///
/// # Errors
/// The refusal, if the input changes nothing.
pub fn accept(history: &History, mut input: Input, mint: &mut Mint) -> Result<Vec<NewRecord>, Refusal> {
    let mut shown = match &mut input {
        Input::Stop { shown, .. }
        | Input::Intervene { shown, .. }
        | Input::Answer { shown, .. }
        | Input::Wake { shown } => mem::take(shown),
        _ => Shown::new(),
    };
    let records = input_records(history, input, &mut shown, mint)?;
    Ok(with_relatives(history, records, &mut shown, mint))
}

/// The records of the input itself, without those for its parents and sub-tasks.
fn input_records(
    history: &History,
    input: Input,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    match input {
        Input::Create(facts) => Ok(vec![conversation(mint, RecordBody::ConversationCreated(facts))]),
        Input::Update(update) => conversation_record(history, mint, RecordBody::ConversationUpdated(update)),
        Input::Archive { archived } => conversation_record(
            history,
            mint,
            RecordBody::ConversationArchived(ConversationArchived { archived }),
        ),
        Input::Start(start) => start::accept(history, *start, mint),
        Input::Fork(fork) => fork::accept(history, live(history, fork.parent)?, &fork, mint),
        Input::Stop { task, .. } => Ok(stop(live(history, task)?, shown, mint)),
        Input::Intervene { task, intervention, by, .. } => {
            Ok(intervene::accept(history, live(history, task)?, intervention, by, shown, mint))
        }
        Input::Pause { task } => Ok(pause(live(history, task)?, mint)),
        Input::Resume { task, by } => resume(history, live(history, task)?, by, mint),
        Input::Answer { task, question, response, by, .. } => {
            answer::accept(history, task, question, Answer { response, by }, shown, mint)
        }
        Input::Decide { approval, decision, note, rule, by } => {
            decide::accept(history, approval, Verdict { decision, note, rule, by }, mint)
        }
        Input::Replied { task, item, replied } => model::replied(live(history, task)?, item, *replied, mint),
        Input::ModelFailed { task, item, failure, traces } => {
            model::failed(live(history, task)?, item, failure, traces, mint)
        }
        Input::CallFinished { task, call, attempt, outcome, result, duration_ms, read_results } => {
            let finished =
                CallFinished { call_id: call, attempt, outcome, result, duration_ms, read_results };
            call::finished(live(history, task)?, finished, mint)
        }
        Input::Checkpointed { task, number, state } => {
            files::checkpointed(history, task, number, state, mint)
        }
        Input::Undo(begun) => files::begin_undo(history, begun, mint),
        Input::Undone { undo, result } => files::end_undo(history, undo, result, mint),
        Input::Wake { .. } => {
            Ok(history.live().flat_map(|task| wake::accept(history, task, shown, mint)).collect())
        }
        Input::Interrupted { cause, findings, ran_until } => {
            Ok(interruption::accept(history, cause, &findings, ran_until, mint))
        }
    }
}

fn live(history: &History, id: TaskId) -> Result<&Task, Refusal> {
    let task = history.task(id).ok_or(Refusal::NoTask)?;
    match &task.stage {
        Stage::Ended { end, .. } => Err(Refusal::Ended(end.reason)),
        _ => Ok(task),
    }
}

fn conversation(mint: &mut Mint, body: RecordBody) -> NewRecord {
    NewRecord { id: mint.record_id(), task_id: None, at: mint.at(), body }
}

/// A record of a conversation that exists.
fn conversation_record(
    history: &History,
    mint: &mut Mint,
    body: RecordBody,
) -> Result<Vec<NewRecord>, Refusal> {
    if history.conversation.is_none() {
        return Err(Refusal::NoConversation);
    }
    Ok(vec![conversation(mint, body)])
}

fn stop(task: &Task, shown: &mut Shown, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.keep_shown(task, shown);
    draft.end(task, End::of(EndReason::Stopped).noticed(NoticeKind::Stopped, "Stopped by you."));
    draft.records
}

fn pause(task: &Task, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    if task.paused.is_none() {
        draft.push(RecordBody::Paused(Paused { reason: PauseReason::User }));
    }
    draft.records
}

/// Resumes a paused task. If the pause asked a question, that question is answered with "go on"; others stay open.
fn resume(
    history: &History,
    task: &Task,
    by: Option<By>,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let Some(was) = task.paused else {
        let holder = history.ancestors(task.id).find(|above| above.own_hold().is_some());
        return Err(holder.map_or(Refusal::NotPaused, |holder| Refusal::Held(holder.id)));
    };
    if let Some(question) = task.questions.values().find(|q| answer::asked_by_pause(q, was)) {
        return Ok(answer::go_on(history, task, question, by, mint));
    }
    let mut draft = Draft::of(task, mint);
    draft.push(RecordBody::Resumed(Resumed { was }));
    Ok(draft.records)
}

/// The result of a call that ran when its task ended.
const CUT_OFF: &str = "The task was ended while this ran; it was stopped, its effects are unknown.";

/// A list of new records of one task.
pub(crate) struct Draft<'a> {
    task: TaskId,
    pub(crate) mint: &'a mut Mint,
    pub(crate) records: Vec<NewRecord>,
    /// What became of calls that ran.
    cut_off: BTreeMap<CallId, String>,
}

/// How a task ends, and the notice that people read.
pub(crate) struct End {
    pub(crate) reason: EndReason,
    /// The result, from the task's last reply.
    pub(crate) summary: Option<String>,
    pub(crate) error: Option<String>,
    /// The result for programs.
    pub(crate) data: Option<JsonText>,
    pub(crate) notice: Option<Notice>,
}

impl End {
    pub(crate) const fn of(reason: EndReason) -> Self {
        Self { reason, summary: None, error: None, data: None, notice: None }
    }

    pub(crate) fn noticed(self, about: NoticeKind, text: impl Into<String>) -> Self {
        Self { notice: Some(Notice { about, text: text.into() }), ..self }
    }
}

/// A question whether the task is to go on.
pub(crate) struct GoOn {
    pub(crate) kind: QuestionKind,
    pub(crate) text: String,
    /// The call that it is about.
    pub(crate) call_id: Option<CallId>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl GoOn {
    pub(crate) fn new(kind: QuestionKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), call_id: None, expires_at: None }
    }
}

impl<'a> Draft<'a> {
    pub(crate) const fn of(task: &Task, mint: &'a mut Mint) -> Self {
        Self::new(task.id, mint)
    }

    pub(crate) const fn new(task: TaskId, mint: &'a mut Mint) -> Self {
        Self { task, mint, records: Vec::new(), cut_off: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, body: RecordBody) {
        let id = self.mint.record_id();
        self.push_as(id, body);
    }

    pub(crate) fn push_as(&mut self, id: abide_protocol::RecordId, body: RecordBody) {
        self.records.push(NewRecord { id, task_id: Some(self.task), at: self.mint.at(), body });
    }

    pub(crate) fn finish_call(&mut self, call: &Call, outcome: CallOutcome, result: ToolResult) {
        let (call_id, attempt) = (call.block.id, call.attempts);
        self.push(RecordBody::CallFinished(CallFinished {
            call_id,
            attempt,
            outcome,
            result,
            duration_ms: 0,
            read_results: Vec::new(),
        }));
    }

    /// Keeps what people were shown of what is cut off: the text of a reply, and the output of calls for [`Self::end`].
    pub(crate) fn keep_shown(&mut self, task: &Task, shown: &mut Shown) {
        for call in task.calls().iter().filter(|call| matches!(call.stage, CallStage::Started { .. })) {
            self.cut_off.insert(call.block.id, shown.cut_off(call.block.id, CUT_OFF));
        }
        // It has the reply's id, so that clients replace the live text by this record.
        if let Some(item) = task.unrecorded_reply()
            && let Some(text) = shown.replies.remove(&item).filter(|text| !text.trim().is_empty())
        {
            self.push_as(item, RecordBody::PartialReply(PartialReply { text }));
        }
    }

    /// Ends the task. Every open call gets a result first, because the conversation's next task continues the transcript.
    pub(crate) fn end(&mut self, task: &Task, End { reason, summary, error, data, notice }: End) {
        for call in task.calls().iter().filter(|c| !c.is_finished()) {
            let words = match (&call.stage, self.cut_off.remove(&call.block.id)) {
                (_, Some(words)) => words,
                (CallStage::Started { .. }, None) => CUT_OFF.to_owned(),
                (_, None) => "The task was ended before this ran.".to_owned(),
            };
            self.finish_call(call, CallOutcome::Cancelled, ToolResult::failure(words));
        }
        if let Some(notice) = notice {
            self.push(RecordBody::Notice(notice));
        }
        self.push(RecordBody::TaskEnded(TaskEnded { reason, summary, error, data }));
    }

    /// Asks whether the task is to go on.
    pub(crate) fn ask_to_go_on(&mut self, asks: GoOn) {
        let GoOn { kind, text, call_id, expires_at } = asks;
        let (id, at) = (QuestionId(self.mint.uuid()), self.mint.at());
        let choices = vec![GO_ON.to_owned(), STOP.to_owned()];
        self.push(RecordBody::QuestionAsked(Question { id, kind, at, text, choices, call_id, expires_at }));
    }

    fn answered(&mut self, question_id: QuestionId, Answer { response, by }: Answer) {
        self.push(RecordBody::QuestionAnswered(QuestionAnswered { question_id, response, by }));
    }
}
