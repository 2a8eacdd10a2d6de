use crate::{args::TaskArgs, connection::Daemon, error::CommandError, exit::Exit, output::ps};
use abide_client::protocol::method::{
    StopTask,
    task::{TaskParams, TaskReply},
};

pub(crate) async fn stop(args: TaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<StopTask>(TaskParams { task_id: args.task }).await?;
    tell(&reply, json)
}

/// Where a task stands after a command: the last word of `stop`, `pause` and `resume`.
pub(crate) fn tell(reply: &TaskReply, json: bool) -> Result<Exit, CommandError> {
    if json {
        crate::output::json::document(&reply.task)?;
    } else {
        let (status, _) = ps::status(&reply.task);
        crate::output::screen::print(&format!("{} {status}\n", reply.task.id.short()))?;
    }
    Ok(Exit::Done)
}
