use abide_protocol::TaskId;
use serde_json::Value;
use std::{future::Future, pin::Pin};

/// Sub-tasks of the task whose call runs, for code that speaks on a line.
///
/// The future of an answer is dropped when the call ends or its line closes. A daemon that drains answers
/// open waits with an error, because the call then has to end.
pub trait SubTasks: Send + Sync {
    /// Starts a sub-task with this prompt. Returns its handle. `index` numbers the forks of a call from 0; a
    /// call never uses an index twice.
    fn fork(&self, index: u32, prompt: String) -> Answer<'_, String>;

    /// Waits until the sub-task has ended. Returns its result.
    fn wait(&self, handle: String) -> Answer<'_, Value>;

    /// The sub-tasks whose results the call has been given.
    fn read(&self) -> Vec<TaskId>;
}

/// A later answer, or words for a model that say why there is none.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// For calls that cannot have sub-tasks.
#[derive(Debug, Clone, Copy)]
pub struct NoSubTasks;

impl SubTasks for NoSubTasks {
    fn fork(&self, _: u32, _: String) -> Answer<'_, String> {
        refused()
    }

    fn wait(&self, _: String) -> Answer<'_, Value> {
        refused()
    }

    fn read(&self) -> Vec<TaskId> {
        Vec::new()
    }
}

fn refused<'a, T: Send + 'a>() -> Answer<'a, T> {
    Box::pin(async { Err("sub-tasks are not available".to_owned()) })
}
