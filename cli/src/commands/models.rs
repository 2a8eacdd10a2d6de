use crate::{
    args::ModelsArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, models, screen},
};
use abide_client::protocol::method::{ListModels, daemon::ListModelsParams};

pub(crate) async fn models(args: &ModelsArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let reply = daemon.call::<ListModels>(ListModelsParams { offline: args.offline }).await?;
    daemon.warn().await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&models::models(&reply))?;
    }
    Ok(Exit::Done)
}
