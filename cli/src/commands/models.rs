use crate::{
    args::ModelsArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, models, screen},
};
use abide_client::protocol::method::{ListModels, daemon::ListModelsParams};
use tokio::task::JoinSet;

pub(crate) async fn models(args: &ModelsArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    if json {
        let params = ListModelsParams { offline: args.offline, provider: None };
        json::document(&daemon.call::<ListModels>(params).await?)?;
        return Ok(Exit::Done);
    }
    daemon.warn().await?;
    let known = daemon.call::<ListModels>(ListModelsParams { offline: true, provider: None }).await?;
    screen::print(&models::default(&known.default))?;
    if args.offline {
        known.providers.iter().try_for_each(|provider| screen::print(&models::provider(provider)))?;
        return Ok(Exit::Done);
    }
    // Each is shown when it has answered: one that is slow or away keeps nobody waiting for the others.
    let mut asked = JoinSet::new();
    for provider in known.providers {
        let params = ListModelsParams { offline: false, provider: Some(provider.name) };
        asked.spawn(daemon.asked::<ListModels>(params));
    }
    while let Some(answered) = asked.join_next().await {
        let reply =
            answered.map_err(|e| CommandError::failed(format!("asking a provider failed: {e}")))??;
        reply.providers.iter().try_for_each(|provider| screen::print(&models::provider(provider)))?;
    }
    Ok(Exit::Done)
}
