use super::stop::print_task;
use crate::{args::LiveTaskArgs, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::ResumeTask;

pub(crate) async fn resume(args: LiveTaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = kind::on_task::<ResumeTask>(args.task).await?;
    print_task(&reply, "", json)
}
