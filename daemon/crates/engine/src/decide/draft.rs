//! New records of one task, before they are folded.

use crate::{
    decide::shown::Shown,
    mint::Mint,
    state::task::{Call, CallStage, Task},
};
use abide_protocol::{
    CallId, JsonText, QuestionId, RecordId, TaskId, Timestamp,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{
        By, CallFinished, NewRecord, Notice, NoticeKind, PartialReply, QuestionAnswered, RecordBody,
        TaskEnded,
    },
    task::EndReason,
    transcript::ToolResult,
};
use std::collections::BTreeMap;

/// The choice that lets a task go on.
pub(crate) const GO_ON: &str = "go on";
/// The choice that ends it.
pub(crate) const STOP: &str = "stop";

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

    pub(crate) fn push_as(&mut self, id: RecordId, body: RecordBody) {
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
            usage: None,
        }));
    }

    /// Keeps what people were shown of what is cut off: the text of a reply, and the output of calls for
    /// [`Self::end`].
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

    /// Ends the task. Every open call gets a result first, because the conversation's next task continues the
    /// transcript.
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

    /// Records the answer to a question; `None` declines.
    pub(crate) fn answered(&mut self, question_id: QuestionId, response: Option<String>, by: Option<By>) {
        self.push(RecordBody::QuestionAnswered(QuestionAnswered { question_id, response, by }));
    }
}

/// A new record of the conversation itself.
pub(crate) fn of_conversation(mint: &mut Mint, body: RecordBody) -> NewRecord {
    NewRecord { id: mint.record_id(), task_id: None, at: mint.at(), body }
}
