//! Waiters for the ends of tasks: each is woken when its task's end is committed.

use abide_protocol::{TaskId, task::AgentTask};
use abide_store::Committed;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::oneshot;

/// All who wait. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: BTreeMap<u64, (TaskId, oneshot::Sender<Arc<AgentTask>>)>,
    next: u64,
}

impl Ends {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, task: TaskId) -> End {
        let (sender, ended) = oneshot::channel();
        let mut inner = self.lock();
        let key = inner.next;
        inner.next += 1;
        inner.waiting.insert(key, (task, sender));
        End { ends: self.clone(), key, ended }
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Tells those who wait which tasks this commit has ended.
    pub(super) fn publish(&self, committed: &Committed) {
        for task in committed.tasks.iter().filter(|task| task.end_reason.is_some()) {
            let mut inner = self.lock();
            let over: Vec<_> = inner.waiting.extract_if(.., |_, (awaited, _)| *awaited == task.id).collect();
            drop(inner);
            for (_, (_, sender)) in over {
                // Sending fails only if it no longer waits.
                let _ = sender.send(task.clone());
            }
        }
    }
}

/// The end of a task that has not ended before; given up when dropped.
#[derive(Debug)]
pub struct End {
    ends: Ends,
    key: u64,
    ended: oneshot::Receiver<Arc<AgentTask>>,
}

impl End {
    /// The task, once it has ended.
    ///
    /// # Errors
    /// The daemon ends before it.
    pub async fn come(mut self) -> Result<Arc<AgentTask>, oneshot::error::RecvError> {
        (&mut self.ended).await
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.ends.lock().waiting.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::{TASK, facts, head};
    use abide_engine::{Command, History, Mint, Start, handle, view};
    use abide_protocol::{ConversationId, Timestamp, task::EndReason};
    use uuid::Uuid;

    #[tokio::test]
    async fn all_who_wait_for_a_task_get_its_end_and_whoever_gives_up_leaves_nothing() {
        let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
        let id = ConversationId(Uuid::from_u128(1));
        let start = Start {
            task: TASK,
            conversation: Some(facts()),
            head: head(""),
            imported: Vec::new(),
            recalled: None,
            setup: None,
        };
        let inputs = [Command::Start(Box::new(start)), Command::Stop { task: TASK }];
        let [live, ended] = inputs.map(|input| {
            handle(&mut history, input, &mut mint).unwrap();
            let task = view(id, &history, history.root().unwrap()).brief();
            let tasks = vec![Arc::new(task)];
            Committed { conversation_id: id, records: Vec::new(), tasks, inbox: None, conversation: None }
        });
        let ends = Ends::default();
        let other = TaskId(Uuid::from_u128(9));
        let [first, second, given_up, of_other] = [TASK, TASK, TASK, other].map(|task| ends.of(task));
        drop(given_up);
        ends.publish(&live);
        assert_eq!(ends.waiting(), 3);
        ends.publish(&ended);
        for end in [first, second] {
            assert_eq!(end.come().await.unwrap().end_reason, Some(EndReason::Stopped));
        }
        assert_eq!(ends.waiting(), 1);
        drop(of_other);
        assert_eq!(ends.waiting(), 0);
    }
}
