//! Providers of models, without an editor: set up, list, remove.

mod add;
mod ask;
mod draft;

use crate::{
    args::ProviderCommand,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, models, provider, screen, text},
};
use abide_client::{
    protocol::{
        ErrorKind,
        method::{
            GetConfig, ListModels, SetKey, UpdateConfig,
            config::GetConfigParams,
            daemon::{ListModelsParams, ListModelsReply, SetKeyParams},
        },
    },
    provider::removal,
};
use serde_json::json;

pub(crate) async fn provider(command: ProviderCommand, json: bool) -> Result<Exit, CommandError> {
    match command {
        ProviderCommand::Add(args) => add::add(args, json).await,
        ProviderCommand::List => list(json).await,
        ProviderCommand::Remove { name } => remove(name, json).await,
    }
}

/// The providers, without asking them.
async fn known(daemon: &mut Daemon) -> Result<ListModelsReply, CommandError> {
    daemon.call::<ListModels>(ListModelsParams { offline: true, provider: None }).await
}

async fn list(json: bool) -> Result<Exit, CommandError> {
    let reply = known(&mut Daemon::started().await?).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&models::default(&reply.default))?;
        screen::print(&provider::list(&reply.providers))?;
    }
    Ok(Exit::Done)
}

/// Removes the entry first: a key without its provider is sent to nobody.
async fn remove(name: String, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let config = daemon.call::<GetConfig>(GetConfigParams::default()).await?;
    let params = removal(&name, &config.model);
    let is_default = params.model.is_some();
    let changed = match daemon.call::<UpdateConfig>(params).await {
        Ok(changed) => Some(changed),
        // One that is built in has no entry, but may have a key.
        Err(error) if error.is(ErrorKind::NotFound) => None,
        Err(error) => return Err(hinted(error)),
    };
    let key = daemon.call::<SetKey>(SetKeyParams { provider: name.clone(), key: None }).await?;
    if changed.is_none() && !key.had_key {
        let words = format!("{} is not set up, and no key of it is stored", text::one_line(&name));
        return Err(CommandError::failed(words).hinted("`abide provider list` shows what there is"));
    }
    let was_default = is_default && changed.is_some();
    let config = changed.unwrap_or(config);
    if json {
        json::document(&json!({ "removed": name, "key": key, "config": config }))?;
    } else {
        screen::print(&provider::removed(&name, was_default, &config, &key))?;
    }
    Ok(Exit::Done)
}

/// A file that is invalid is not changed.
fn hinted(error: CommandError) -> CommandError {
    match error.is(ErrorKind::IllegalState) {
        true => error.hinted("`abide config edit` lets you correct the file"),
        false => error,
    }
}
