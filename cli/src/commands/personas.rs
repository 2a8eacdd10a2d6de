use crate::{
    args::PersonasArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{catalog, json, screen, text},
    replace::become_daemon,
};
use abide_client::protocol::method::{ListPersonas, catalog::ListPersonasParams};
use std::ffi::OsStr;

pub(crate) async fn personas(args: &PersonasArgs, json: bool) -> Result<Exit, CommandError> {
    if args.write {
        let flags = if json { &["--json"][..] } else { &[] };
        let arguments: Vec<&OsStr> = ["personas", "--write"].iter().chain(flags).map(OsStr::new).collect();
        return become_daemon(&arguments);
    }
    let reply = Daemon::started().await?.call::<ListPersonas>(ListPersonasParams::default()).await?;
    if json {
        json::document(&reply.personas)?;
    } else {
        screen::print(&catalog::personas(&reply.personas, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
