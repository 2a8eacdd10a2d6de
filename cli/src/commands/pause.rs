use super::{several::each, stop::print_task};
use crate::{args::LiveTasksArgs, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::PauseTask;

pub(crate) async fn pause(args: LiveTasksArgs, json: bool) -> Result<Exit, CommandError> {
    Ok(each(&args.tasks, json, async |id| {
        let reply = kind::on_task::<PauseTask>(id.to_owned()).await?;
        print_task(&reply, "", json)
    })
    .await)
}
