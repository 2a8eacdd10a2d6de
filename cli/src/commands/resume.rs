use super::{several::each, stop::print_task};
use crate::{args::LiveTasksArgs, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::ResumeTask;

pub(crate) async fn resume(args: LiveTasksArgs, json: bool) -> Result<Exit, CommandError> {
    Ok(each(&args.tasks, json, async |id| {
        let reply = kind::on_task::<ResumeTask>(id.to_owned()).await?;
        print_task(&reply, "", json)
    })
    .await)
}
