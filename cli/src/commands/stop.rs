use super::several::each;
use crate::{args::LiveTasksArgs, error::CommandError, exit::Exit, kind, output::ps};
use abide_client::protocol::method::{StopTask, task::TaskReply};

pub(crate) async fn stop(args: LiveTasksArgs, json: bool) -> Result<Exit, CommandError> {
    Ok(each(&args.tasks, json, async |id| {
        let reply = kind::on_task::<StopTask>(id.to_owned()).await?;
        print_task(&reply, "", json)
    })
    .await)
}

/// Prints the task's state after `stop`, `pause`, `resume` or `intervene`, and what more was done.
pub(crate) fn print_task(reply: &TaskReply, done: &str, json: bool) -> Result<Exit, CommandError> {
    if json {
        crate::output::json::document(&reply.task)?;
    } else {
        let (status, _) = ps::status(&reply.task);
        crate::output::screen::print(&format!("{} {status}{done}\n", reply.task.id.short()))?;
    }
    Ok(Exit::Done)
}
