use crate::{
    args::TaskArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, show},
};
use abide_client::protocol::method::{GetTask, task::TaskParams};

pub(crate) async fn show(args: TaskArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<GetTask>(TaskParams { task_id: args.task }).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&show::task(&reply, clock::now()))?;
    }
    Ok(Exit::Done)
}
