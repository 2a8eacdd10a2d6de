use super::{Answer, Work};
use crate::ledger::{Fault, Ledger, WorkError};
use crate::{
    committed::TaskProjection,
    memory,
    project::{self, Changes},
    query,
};
use abide_protocol::{ConversationId, task::AgentTask};
use rusqlite::OptionalExtension as _;

/// Rebuilds all projections of a conversation.
pub(crate) struct Rebuild {
    conversation: ConversationId,
    tasks: Vec<(TaskProjection, AgentTask)>,
    differed: bool,
    answer: Answer<bool>,
}

impl Rebuild {
    pub(crate) fn new(
        conversation: ConversationId,
        tasks: Vec<TaskProjection>,
        answer: Answer<bool>,
    ) -> Self {
        let brief = |projection: TaskProjection| {
            let brief = projection.task.brief();
            (projection, brief)
        };
        Self { conversation, tasks: tasks.into_iter().map(brief).collect(), differed: false, answer }
    }
}

impl Work for Rebuild {
    fn apply(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        let id = self.conversation;
        let before = project::rows(ledger.connection, id)?;
        project::close_items(ledger, id)?;
        project::forget_calls(ledger.connection, id)?;
        memory::drop_sources(ledger.connection, id)?;
        ledger.connection.prepare_cached("DELETE FROM conversations WHERE id = ?1")?.execute([id.0])?;
        let read_up_to = ledger
            .connection
            .prepare_cached("SELECT seq FROM read_marks WHERE conversation = ?1")?
            .query_row([id.0], |row| row.get(0))
            .optional()?;
        let tasks = self.tasks.iter().map(|(_, brief)| brief);
        let mut changes = Changes::of(tasks).for_rebuild(read_up_to.unwrap_or(0));
        query::each_record(ledger.connection, id, |record| {
            project::record(ledger.connection, &record, &mut changes)
        })?;
        for (projection, brief) in &self.tasks {
            project::task(ledger, id, projection, brief, &mut changes)?;
        }
        project::finish(ledger, id, changes)?;
        self.differed = project::rows(ledger.connection, id)? != before;
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), WorkError>) {
        let _ = self.answer.send(outcome.map(|()| self.differed));
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}
