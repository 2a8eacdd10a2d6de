use crate::{
    args::ChangesArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{changes, json, screen},
};
use abide_client::protocol::method::{
    TaskChanges,
    task::{TaskChangesParams, TaskChangesReply},
};

pub(crate) async fn diff(args: ChangesArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let params = TaskChangesParams {
        task_id: args.task,
        step: args.step,
        redo: false,
        all: false,
        files: Vec::new(),
        hunk: None,
    };
    let found = of_task(&mut daemon, params).await?;
    if json {
        json::document(&found)?;
    } else {
        screen::print(&changes::all(&found))?;
    }
    Ok(Exit::Done)
}

/// What a task has changed.
pub(super) async fn of_task(
    daemon: &mut Daemon,
    params: TaskChangesParams,
) -> Result<TaskChangesReply, CommandError> {
    let id = params.task_id.clone();
    match daemon.call::<TaskChanges>(params).await {
        Ok(found) => Ok(found),
        Err(error) => Err(kind::not_a_task(daemon, &id, error).await),
    }
}
