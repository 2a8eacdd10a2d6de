use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{catalog, json, screen, text},
};
use abide_client::protocol::method::{ListTools, catalog::ListToolsParams};

pub(crate) async fn tools(json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<ListTools>(ListToolsParams::default()).await?;
    if json {
        json::document(&reply.tools)?;
    } else {
        screen::print(&catalog::tools(&reply.tools, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
