use super::stop::tell;
use crate::{args::TaskArgs, connection::Daemon, error::CommandError, exit::Exit, output::screen};
use abide_client::protocol::{
    method::{PauseTask, task::TaskParams},
    task::Status,
};

pub(crate) async fn pause(args: TaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<PauseTask>(TaskParams { task_id: args.task }).await?;
    tell(&reply, json)?;
    if !json && reply.task.status != Status::Paused {
        screen::note("what runs now is finished first")?;
    }
    Ok(Exit::Done)
}
