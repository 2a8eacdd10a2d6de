use super::stop::tell;
use crate::{args::TaskArgs, connection::Daemon, error::CommandError, exit::Exit};
use abide_client::protocol::method::{ResumeTask, task::TaskParams};

pub(crate) async fn resume(args: TaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<ResumeTask>(TaskParams { task_id: args.task }).await?;
    tell(&reply, json)
}
