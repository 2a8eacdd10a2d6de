use abide_protocol::TaskId;
use serde_json::Value;
use std::{future::Future, pin::Pin};

/// Sub-tasks of the task whose call runs, for code that speaks on a line.
///
/// The daemon drops the future of an answer when the call ends or its line closes. It answers an open wait with an error when it
/// drains, because the call then has to end.
pub trait SubTasks: Send + Sync {
    /// Starts a sub-task with this prompt; its handle. `index` numbers the forks of a call from 0: the call never forks twice with
    /// the same one.
    fn fork(&self, index: u32, prompt: String) -> Answer<'_, String>;

    /// Waits until the sub-task has ended; its result.
    fn wait(&self, handle: String) -> Answer<'_, Value>;

    /// The sub-tasks whose results it has given.
    fn read(&self) -> Vec<TaskId>;
}

/// An answer that comes in time, or why there is none, in words for a model.
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
