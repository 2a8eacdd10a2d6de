use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};
use crate::{
    committed::{self, Committed, TaskProjection},
    hidden::{self, HIDDEN},
    memory,
    project::{self, Changes},
    withdrawal::WithdrawnStarts,
};
use abide_protocol::{
    ConversationId, Seq, TaskId,
    notification::{ConversationUpdate, InboxUpdate},
    record::{Record, RecordBody},
    task::AgentTask,
};
use rusqlite::Connection;
use std::{mem, sync::Arc};

/// Records of one conversation, and the projections of the tasks that they change.
pub(crate) struct Append {
    conversation: ConversationId,
    /// Each call of `apply` assigns their seqs again.
    records: Vec<Record>,
    tasks: Vec<(TaskProjection, Arc<AgentTask>)>,
    urgent: bool,
    withdrawn: WithdrawnStarts,
    inbox: Option<InboxUpdate>,
    changed: Option<ConversationUpdate>,
    committed: Option<Arc<Committed>>,
    answer: Answer<Arc<Committed>>,
}

impl Append {
    pub(crate) fn new(
        append: committed::Append,
        withdrawn: WithdrawnStarts,
        answer: Answer<Arc<Committed>>,
    ) -> Self {
        let committed::Append { conversation_id, records, tasks, urgent } = append;
        let record = |new: abide_protocol::record::NewRecord| Record {
            seq: Seq::default(),
            id: new.id,
            conversation_id,
            task_id: new.task_id,
            at: new.at,
            body: new.body,
        };
        let brief = |projection: TaskProjection| {
            let brief = Arc::new(projection.task.brief());
            (projection, brief)
        };
        Self {
            conversation: conversation_id,
            records: records.into_iter().map(record).collect(),
            tasks: tasks.into_iter().map(brief).collect(),
            urgent,
            withdrawn,
            inbox: None,
            changed: None,
            committed: None,
            answer,
        }
    }

    /// The root task that the append starts, if any.
    fn started(&self) -> Option<TaskId> {
        self.records.iter().find_map(|record| match &record.body {
            RecordBody::TaskStarted(head) if head.parent_id.is_none() => record.task_id,
            _ => None,
        })
    }

    /// Checks that the conversation exists, or that the append's first record creates it. The hidden
    /// conversation is never created, so it takes no appends.
    fn check_conversation(&self, connection: &Connection) -> Result<(), Fault> {
        let exists = |sql: &str| connection.prepare_cached(sql)?.exists([self.conversation.0]);
        let creates =
            matches!(self.records.first(), Some(Record { body: RecordBody::ConversationCreated(_), .. }));
        if creates {
            if self.conversation == HIDDEN || exists("SELECT 1 FROM records WHERE conversation = ?1 LIMIT 1")?
            {
                let reason = format!("conversation {} was created before", self.conversation);
                return Err(WorkError::Invalid(reason).into());
            }
        } else if !exists("SELECT 1 FROM conversations WHERE id = ?1")? {
            return Err(WorkError::Gone(self.conversation).into());
        }
        Ok(())
    }
}

impl Work for Append {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        if self.started().is_some_and(|task| self.withdrawn.has(task)) {
            return Err(WorkError::Withdrawn.into());
        }
        self.check_conversation(ledger.connection)?;
        let mut changes = Changes::of(self.tasks.iter().map(|(_, brief)| &**brief));
        for record in &mut self.records {
            if let RecordBody::Recalled(recalled) = &mut record.body {
                memory::blank_gone(ledger.connection, recalled)?;
            }
            ledger.append(record)?;
            project::record(ledger.connection, record, &mut changes)?;
        }
        for (projection, brief) in &self.tasks {
            project::task(ledger, self.conversation, projection, brief, &mut changes)?;
        }
        (self.inbox, self.changed) = project::finish(ledger, self.conversation, changes)?;
        for record in hidden::derived(&self.records)? {
            hidden::append(ledger, record)?;
        }
        Ok(())
    }

    fn committed(&mut self) -> Option<Arc<Committed>> {
        let committed = Arc::new(Committed {
            conversation_id: self.conversation,
            records: mem::take(&mut self.records).into_iter().map(Arc::new).collect(),
            tasks: mem::take(&mut self.tasks).into_iter().map(|(_, brief)| brief).collect(),
            inbox: self.inbox.take(),
            conversation: self.changed.take(),
        });
        self.committed = Some(Arc::clone(&committed));
        Some(committed)
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let Self { committed, answer, .. } = *self;
        let _ = answer.send(outcome.and_then(|()| committed.ok_or(WorkError::Closed)));
    }

    fn changes_rules(&self) -> bool {
        self.records.iter().any(|record| matches!(record.body, RecordBody::RuleRemembered(_)))
    }

    fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Existing work goes on when there is room. New work is refused, because nobody may want it by then.
    fn waits_for_room(&self) -> bool {
        let creates = |record: &Record| matches!(record.body, RecordBody::ConversationCreated(_));
        self.started().is_none() && !self.records.iter().any(creates)
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
