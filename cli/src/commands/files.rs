use crate::{
    args::FilesArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{files, json, screen, text},
};
use abide_client::protocol::method::{ListFiles, task::TaskParams};

pub(crate) async fn files(args: FilesArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let files = match daemon.call::<ListFiles>(TaskParams { task_id: args.task.clone() }).await {
        Ok(reply) => reply.files,
        Err(error) => return Err(kind::not_a_task(&mut daemon, &args.task, error).await),
    };
    if json {
        json::document(&files)?;
    } else {
        screen::print(&files::files(&files, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
