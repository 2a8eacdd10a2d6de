//! The approximate size of a record in memory: a queue bounded by count alone could hold gigabytes of long records.

use abide_protocol::{
    JsonText,
    checkpoint::{CheckpointState, UndoResult},
    inbox::Preview,
    record::{Imported, Record, RecordBody},
    transcript::{Block, ToolSpec},
};

/// The size of a record without its texts.
const LEAST: usize = 512;

/// Two trees with their commits.
const SAVED_TREES: usize = 4 * 64;

/// The record's size in bytes. Every kind is listed, so that a new one must be added here.
pub(super) fn weight(record: &Record) -> usize {
    LEAST
        + match &record.body {
            RecordBody::ConversationCreated(made) => made.title.len() + made.workspace.len(),
            RecordBody::ConversationUpdated(update) => {
                of_text(update.title.as_ref()) + of_text(update.workspace.as_ref())
            }
            RecordBody::TaskStarted(head) => {
                let tool = |tool: &ToolSpec| tool.description.len() + tool.parameters.as_str().len();
                head.original_prompt.len()
                    + head.system_prompt.len()
                    + of_text(head.child_system_prompt.as_ref())
                    + head.title.len()
                    + head.tools.iter().map(tool).sum::<usize>()
                    + head.environment.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
                    + of_json(head.metadata.as_ref())
                    + head.prompts.values().map(String::len).sum::<usize>()
            }
            RecordBody::UserMessage(message) => message.text.len(),
            RecordBody::Notice(notice) => notice.text.len(),
            RecordBody::Nudge(nudge) => nudge.text.len(),
            RecordBody::Update(update) => update.text.len(),
            RecordBody::ModelFailed(failed) => failed.message.len(),
            RecordBody::PartialReply(partial) => partial.text.len(),
            RecordBody::Reply(record) => {
                let calls = record.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
                record.reply.blocks.iter().map(of_block).sum::<usize>()
                    + of_text(record.text.as_ref())
                    + calls
            }
            RecordBody::PhaseBegan(began) => of_text(began.text.as_ref()),
            RecordBody::AgentMessage(message) => message.text.len(),
            RecordBody::Imported(imported) => of_imported(imported),
            RecordBody::CallAssessed(call) => {
                call.arguments.len() + call.summary.len() + of_preview(call.preview.as_deref())
            }
            RecordBody::ApprovalRequested(approval) => {
                // The rule has the arguments a second time.
                2 * approval.arguments.as_str().len()
                    + approval.summary.len()
                    + of_preview(approval.preview.as_deref())
            }
            RecordBody::ApprovalDecided(decided) => of_text(decided.note.as_ref()),
            RecordBody::RuleRemembered(remembered) => remembered.rule.arguments.as_str().len(),
            RecordBody::CallFinished(call) => {
                let result = &call.result;
                result.message.len()
                    + of_json(result.data.as_ref())
                    + result.diagnostics.iter().map(String::len).sum::<usize>()
            }
            RecordBody::QuestionAsked(question) => {
                question.text.len() + question.choices.iter().map(String::len).sum::<usize>()
            }
            RecordBody::QuestionAnswered(answered) => of_text(answered.response.as_ref()),
            RecordBody::Compacted(compacted) => {
                size_of_val(compacted.elided.as_slice())
                    + compacted.steps.iter().map(|step| step.text.len()).sum::<usize>()
            }
            RecordBody::Joining(joining) => size_of_val(joining.tasks.as_slice()),
            RecordBody::Intervened(intervened) => {
                intervened.comment.len() + of_text(intervened.content.as_ref())
            }
            RecordBody::Checkpointed(checkpointed) => match &checkpointed.state {
                CheckpointState::Taken(_) => SAVED_TREES,
                CheckpointState::Impossible(words) => words.len(),
                CheckpointState::Unchanged => 0,
            },
            RecordBody::UndoBegun(begun) => begun.by.name.len() + begun.hunk.as_ref().map_or(0, String::len),
            RecordBody::UndoEnded(ended) => {
                of_text(ended.note.as_ref())
                    + match &ended.result {
                        UndoResult::Failed(words) => words.len(),
                        UndoResult::Done(done) => {
                            SAVED_TREES
                                + done.kept.iter().map(|file| file.path.len() + file.why.len()).sum::<usize>()
                        }
                    }
            }
            RecordBody::TaskEnded(ended) => {
                of_text(ended.summary.as_ref()) + of_text(ended.error.as_ref()) + of_json(ended.data.as_ref())
            }
            RecordBody::ModelTraced(traced) => {
                traced.traces.iter().map(|trace| trace.what.len() + trace.raw.len()).sum()
            }
            RecordBody::ResultsDelivered(delivered) => {
                delivered.text.len() + size_of_val(delivered.tasks.as_slice())
            }
            RecordBody::ConversationArchived(_)
            | RecordBody::ConversationDeleted(_)
            | RecordBody::ModelRequested(_)
            | RecordBody::CallStarted(_)
            | RecordBody::Paused(_)
            | RecordBody::Resumed(_)
            | RecordBody::LimitsRaised(_)
            | RecordBody::Restarted(_)
            | RecordBody::ClockMoved(_) => 0,
        }
}

fn of_imported(imported: &Imported) -> usize {
    match imported {
        Imported::User(said) | Imported::System(said) => said.text.len(),
        Imported::Assistant(reply) => {
            reply.text.len() + reply.calls.iter().map(|call| call.arguments.len()).sum::<usize>()
        }
        Imported::Result(result) => result.text.len(),
    }
}

fn of_text(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

fn of_block(block: &Block) -> usize {
    match block {
        Block::Text(text) | Block::Reasoning(text) => text.text.len() + of_json(text.opaque.as_ref()),
        Block::Call(call) => call.arguments.len() + of_json(call.opaque.as_ref()),
    }
}

fn of_preview(preview: Option<&Preview>) -> usize {
    preview.map_or(0, |preview| preview.diff.len())
}

fn of_json(json: Option<&JsonText>) -> usize {
    json.map_or(0, |json| json.as_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::{
        ApprovalId, CallId, ConversationId, QuestionId, RecordId, Seq, Timestamp,
        inbox::{Decision, Question, QuestionKind},
        record::{
            ApprovalDecided, ConversationCreated, ModelErrorKind, ModelFailed, ModelTraced, Notice,
            NoticeKind, Nudge, QuestionAnswered, TaskEnded, Trace,
        },
        task::EndReason,
    };
    use uuid::Uuid;

    #[test]
    fn a_record_weighs_as_much_as_its_longest_text() {
        const LONG: usize = 100_000;
        let text = || "x".repeat(LONG);
        let call_id = CallId(Uuid::nil());
        let question = Question {
            id: QuestionId(Uuid::nil()),
            kind: QuestionKind::Agent,
            at: Timestamp(0),
            text: text(),
            choices: Vec::new(),
            call_id: None,
            expires_at: None,
        };
        for body in [
            RecordBody::Nudge(Nudge::new(text())),
            RecordBody::Notice(Notice { about: NoticeKind::Error, text: text() }),
            RecordBody::QuestionAsked(Question {
                text: String::new(),
                choices: vec![text()],
                ..question.clone()
            }),
            RecordBody::QuestionAsked(question),
            RecordBody::QuestionAnswered(QuestionAnswered {
                question_id: QuestionId(Uuid::nil()),
                response: Some(text()),
                by: None,
            }),
            RecordBody::ApprovalDecided(ApprovalDecided {
                approval_id: ApprovalId(Uuid::nil()),
                call_id,
                decision: Decision::RejectOnce,
                note: Some(text()),
                by: abide_protocol::record::By {
                    via: abide_protocol::record::Via::Socket,
                    name: String::new(),
                },
            }),
            RecordBody::ModelFailed(ModelFailed {
                item: RecordId(Uuid::nil()),
                attempt: 1,
                kind: ModelErrorKind::Network,
                message: text(),
                retry_at: None,
                sent: true,
            }),
            RecordBody::ModelTraced(ModelTraced {
                item: RecordId(Uuid::nil()),
                attempt: 1,
                traces: vec![Trace { what: String::new(), raw: text() }],
                left_out: 0,
            }),
            RecordBody::TaskEnded(TaskEnded {
                reason: EndReason::Completed,
                summary: Some(text()),
                error: None,
                data: None,
            }),
            RecordBody::ConversationCreated(ConversationCreated {
                title: text(),
                workspace: String::new(),
                mode: None,
                model: None,
                persona: None,
            }),
        ] {
            let record = Record {
                seq: Seq(1),
                id: RecordId(Uuid::nil()),
                conversation_id: ConversationId(Uuid::nil()),
                task_id: None,
                at: Timestamp(0),
                body,
            };
            let weight = weight(&record);
            assert!(
                (LONG..LONG + 2 * LEAST).contains(&weight),
                "{weight}: {:.60}",
                format!("{:?}", record.body)
            );
        }
    }
}
