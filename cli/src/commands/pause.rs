use super::stop::print_task;
use crate::{args::LiveTaskArgs, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::PauseTask;

pub(crate) async fn pause(args: LiveTaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = kind::on_task::<PauseTask>(args.task).await?;
    print_task(&reply, "", json)
}
