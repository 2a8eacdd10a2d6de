use crate::{
    args::ShowArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{json, screen, show, text},
};
use abide_client::protocol::method::{GetTask, task::GetTaskParams};

pub(crate) async fn show(args: ShowArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let params = GetTaskParams { task_id: args.task.clone(), history: args.history };
    let reply = match daemon.call::<GetTask>(params).await {
        Ok(reply) => reply,
        Err(error) => return Err(kind::not_a_task(&mut daemon, &args.task, error).await),
    };
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&show::task(&reply, args.output.extent(), clock::now(), text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
