use crate::{
    args::ModelsArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, models, screen, text},
};
use abide_client::protocol::method::{
    CheckModel, ListModels,
    daemon::{CheckModelParams, ListModelsParams},
};
use tokio::task::JoinSet;

pub(crate) async fn models(args: ModelsArgs, json: bool) -> Result<Exit, CommandError> {
    if let Some(model) = args.check {
        return check(model, json).await;
    }
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
    // Each provider is shown when it has answered, so a slow one does not delay the others.
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

async fn check(model: String, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    daemon.warn().await?;
    let reply = daemon.call::<CheckModel>(CheckModelParams { model }).await?;
    let exit = if reply.failure.is_none() { Exit::Done } else { Exit::Failed };
    if json {
        json::document(&reply)?;
        return Ok(exit);
    }
    match &reply.failure {
        None => screen::print(&models::answers(&reply))?,
        Some(failure) => {
            let words = format!("{} does not answer: {}", reply.model, failure.message);
            return Err(CommandError::failed(text::one_line(&words)));
        }
    }
    Ok(exit)
}
