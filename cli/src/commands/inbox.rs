use crate::{
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, pending, screen, text},
};
use abide_client::protocol::method::{Inbox, inbox::InboxParams};

pub(crate) async fn inbox(json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<Inbox>(InboxParams::default()).await?;
    if json {
        json::document(&reply.items)?;
    } else {
        screen::print(&pending::inbox(&reply.items, clock::now(), text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
