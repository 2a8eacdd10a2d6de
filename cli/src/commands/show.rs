use crate::{
    args::ShowArgs,
    clock,
    commands::kind,
    error::CommandError,
    exit::Exit,
    output::{json, screen, show, text},
};
use abide_client::protocol::method::GetTask;

pub(crate) async fn show(args: ShowArgs, json: bool) -> Result<Exit, CommandError> {
    let reply = kind::on_task::<GetTask>(args.task).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&show::task(&reply, args.output.extent(), clock::now(), text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
