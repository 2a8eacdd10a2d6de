use super::stop::tell;
use crate::{args::LiveTaskArgs, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::ResumeTask;

pub(crate) async fn resume(args: LiveTaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = kind::on_task::<ResumeTask>(args.task).await?;
    tell(&reply, json)
}
