use super::stop::tell;
use crate::{args::LiveTaskArgs, error::CommandError, exit::Exit, kind, output::screen};
use abide_client::protocol::{method::PauseTask, task::Status};

pub(crate) async fn pause(args: LiveTaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = kind::on_task::<PauseTask>(args.task).await?;
    tell(&reply, json)?;
    if !json && reply.task.status != Status::Paused {
        screen::note("what runs now is finished first")?;
    }
    Ok(Exit::Done)
}
