//! Folds records that are not messages into a conversation's view.

use super::{change::Change, conversation::ConversationView, entry::Entry, output::Attempts};
use abide_protocol::{
    CallId,
    event::Event,
    message::CallView,
    notification::DeltaItem,
    record::{CallAssessed, Record, RecordBody, TaskEnded},
    task::CallState,
};

impl ConversationView {
    pub(super) fn fold_record(&mut self, record: &Record, changes: &mut Vec<Change>) {
        match &record.body {
            RecordBody::CallAssessed(assessed) => self.add_call(record, assessed, changes),
            RecordBody::ApprovalRequested(approval) => self.change_call(approval.call_id, changes, |call| {
                call.state = CallState::WaitingApproval;
            }),
            // A rejected call waits for its result as a queued one does.
            RecordBody::ApprovalDecided(decided) => self.change_call(decided.call_id, changes, |call| {
                call.state = CallState::Queued;
            }),
            RecordBody::CallStarted(started) => {
                let item = DeltaItem::Call(started.call_id);
                self.output.close(item, Attempts::UpTo(started.attempt.saturating_sub(1)), None, changes);
                self.change_call(started.call_id, changes, |call| {
                    call.state = CallState::Running;
                    call.attempt = started.attempt;
                    call.started_at = Some(record.at);
                });
            }
            RecordBody::Joining(joining) => self.change_call(joining.call_id, changes, |call| {
                call.state = CallState::WaitingChildren;
            }),
            RecordBody::CallFinished(finished) => {
                self.output.close(DeltaItem::Call(finished.call_id), Attempts::All, None, changes);
                self.change_call(finished.call_id, changes, |call| {
                    call.state = CallState::Finished;
                    call.attempt = finished.attempt;
                    call.ended_at = Some(record.at);
                    call.outcome = Some(finished.outcome);
                    call.result = Some(finished.result.clone());
                });
            }
            RecordBody::ModelRequested(requested) => {
                let item = DeltaItem::Reply(requested.item);
                self.output.close(item, Attempts::UpTo(requested.attempt.saturating_sub(1)), None, changes);
                if let Some(task_id) = record.task_id {
                    // Ids are sorted by time: earlier replies of the task are over, even if the record of
                    // their end was missed.
                    let is_earlier = |other| matches!(other, DeltaItem::Reply(_)) && other < item;
                    self.output.close_where(task_id, None, is_earlier, changes);
                }
            }
            RecordBody::ModelFailed(failed) => {
                self.output.close(
                    DeltaItem::Reply(failed.item),
                    Attempts::UpTo(failed.attempt),
                    None,
                    changes,
                );
            }
            // It has no text; otherwise it would be a message.
            RecordBody::Reply(_) => {
                self.output.close(DeltaItem::Reply(record.id), Attempts::All, None, changes);
            }
            RecordBody::TaskEnded(ended) => self.end_task(record, ended, changes),
            RecordBody::ConversationDeleted(_) => self.set_deleted(changes),
            _ => {}
        }
        if let Some(event) = Event::of(record) {
            self.add_entry(Entry::Event(event), changes);
        }
    }

    fn add_call(&mut self, record: &Record, assessed: &CallAssessed, changes: &mut Vec<Change>) {
        // Every call belongs to a task; a record without one is ignored.
        let Some(task_id) = record.task_id else { return };
        let call = CallView {
            call_id: assessed.call_id,
            seq: record.seq,
            conversation_id: record.conversation_id,
            task_id,
            tool: assessed.tool.clone(),
            summary: assessed.summary.clone(),
            arguments: assessed.arguments.clone(),
            preview: assessed.preview.clone(),
            state: CallState::Queued,
            attempt: 0,
            started_at: None,
            ended_at: None,
            outcome: None,
            result: None,
            permission: assessed.permission.clone(),
        };
        self.add_entry(Entry::Call(call), changes);
    }

    /// A call that is older than this view's entries is ignored.
    fn change_call(
        &mut self,
        call_id: CallId,
        changes: &mut Vec<Change>,
        change: impl FnOnce(&mut CallView),
    ) {
        if let Some(call) = self.call_mut(call_id) {
            change(call);
            changes.push(Change::Changed(call.seq));
        }
    }

    fn end_task(&mut self, record: &Record, ended: &TaskEnded, changes: &mut Vec<Change>) {
        let Some(task_id) = record.task_id else { return };
        self.output.end(task_id, changes);
        // The task's own update says this too, but it may have been missed.
        if let Some(task) = self.tasks.get_mut(&task_id)
            && !task.status.has_ended()
        {
            task.status = ended.reason.status();
            task.end_reason = Some(ended.reason);
            task.ended_at = Some(record.at);
            task.summary.clone_from(&ended.summary);
            task.error_message.clone_from(&ended.error);
            task.pending.clear();
            task.active_calls.clear();
            changes.push(Change::Task(task_id));
        }
    }
}
