use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{catalog, json, screen, text},
};
use abide_client::protocol::method::{ListTemplates, catalog::ListTemplatesParams};

pub(crate) async fn templates(json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<ListTemplates>(ListTemplatesParams::default()).await?;
    if json {
        json::document(&reply.templates)?;
    } else if reply.templates.is_empty() {
        screen::note(
            "there are no templates; `abide config reference` says how to write [templates.NAME]\n",
        )?;
    } else {
        screen::print(&catalog::templates(&reply.templates, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
