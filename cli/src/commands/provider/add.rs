//! Sets up a provider: tests it, then stores its key, then changes the configuration in one update.

use super::{
    ask::{Asking, Left},
    draft::{Facts, checked_name},
    hinted, known,
};
use crate::{
    args::AddArgs,
    commands::key,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, provider, screen, text},
    prompt::Terminal,
};
use abide_client::{
    protocol::{
        method::{
            CheckProvider, GetConfig, SetKey, UpdateConfig,
            config::GetConfigParams,
            daemon::{CheckProviderReply, ListModelsReply, SetKeyParams},
        },
        provider::{APIS, ProviderEntry},
    },
    provider::{Draft, may_have_no_list, usual_model, wants_key, whole_name},
};
use serde_json::json;

pub(super) async fn add(args: AddArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let config = daemon.call::<GetConfig>(GetConfigParams::default()).await?;
    if let Some(refused) = &config.file.refused {
        return Err(CommandError::failed(text::one_line(&refused.message))
            .hinted("`abide config edit` lets you correct the file"));
    }
    let there = known(&mut daemon).await?;
    let terminal = Terminal::open().filter(|_| !json);
    // Nothing is stored before this is over.
    let draft = tokio::select! {
        draft = async {
            match terminal {
                Some(terminal) => match Asking::new(&mut daemon, terminal, args, there, config.model).draft().await {
                    Ok(draft) => Ok(Some(draft)),
                    Err(Left::Gone) => Ok(None),
                    Err(Left::Failed(error)) => Err(error),
                },
                None => given(&mut daemon, args, &there).await.map(Some),
            }
        } => draft?,
        _ = tokio::signal::ctrl_c() => None,
    };
    let Some(draft) = draft else {
        screen::note("\nnothing is changed")?;
        return Ok(Exit::Failed);
    };
    store(&mut daemon, draft, json).await
}

/// From the command line alone.
async fn given(daemon: &mut Daemon, args: AddArgs, there: &ListModelsReply) -> Result<Draft, CommandError> {
    let missing = |flag: &str, why: &str| CommandError::usage(format!("{flag} is missing: {why}"));
    let Some(name) = args.name.clone() else {
        return Err(missing("NAME", "say which provider, as in `abide provider add openrouter`"));
    };
    let name = checked_name(name)?;
    let Facts { api, base_url, has_key } = Facts::of(&name, &args, &there.providers);
    let base_url = base_url.ok_or_else(|| missing("--base-url", &format!("{name} is not known by name")))?;
    let key = if args.key_stdin { Some(key::read(&name).await?) } else { None };
    if key.is_none() && args.key_env.is_none() && !has_key && wants_key(&base_url) {
        return Err(missing(
            "--key-stdin or --key-env",
            &format!("{base_url} answers nothing without a key"),
        ));
    }
    let api = api.unwrap_or_else(|| APIS[0].to_owned());
    let entry = ProviderEntry { name, api, base_url, api_key_env: args.key_env };
    let mut draft = Draft { entry, key, models: Vec::new(), model: None, is_default: args.default };
    let reply = daemon.call::<CheckProvider>(draft.check(None)).await?;
    match &reply.failure {
        None => draft.models = reply.models,
        Some(failure)
            if args.model.is_some() && reply.base_url.is_none() && may_have_no_list(failure.kind) => {}
        Some(_) => return Err(failed(&reply)),
    }
    draft.model = match args.model {
        Some(typed) => Some(whole_name(&draft.entry.name, &typed, &draft.models)),
        None if args.default => {
            let usual = usual_model(&draft.entry.name, &draft.models);
            let why = format!("{} lists {} models", draft.entry.name, draft.models.len());
            Some(usual.ok_or_else(|| missing("--model", &why))?)
        }
        None => None,
    };
    if let Some(model) = &draft.model {
        let reply = daemon.call::<CheckProvider>(draft.check(Some(model))).await?;
        if reply.failure.is_some() {
            return Err(failed(&reply));
        }
    }
    Ok(draft)
}

/// The failure of a test, as this command's.
fn failed(reply: &CheckProviderReply) -> CommandError {
    let words = reply.failure.as_ref().map(|failure| text::one_line(&failure.message)).unwrap_or_default();
    let error = CommandError::failed(format!("{words}; nothing is changed"));
    match &reply.base_url {
        Some(url) => error.hinted(format!("{url} answers: try `--base-url {url}`")),
        None => error,
    }
}

async fn store(daemon: &mut Daemon, draft: Draft, json: bool) -> Result<Exit, CommandError> {
    let stored = match draft.set_key() {
        None => None,
        Some(key) => Some(daemon.call::<SetKey>(key).await?),
    };
    let change = daemon.call::<UpdateConfig>(draft.change()).await;
    let Draft { entry, models, model, .. } = draft;
    let config = match change {
        Ok(config) => config,
        Err(error) => {
            if stored.is_some_and(|stored| !stored.had_key) {
                // The error that matters is the first one.
                drop(daemon.call::<SetKey>(SetKeyParams { provider: entry.name, key: None }).await);
            }
            return Err(hinted(error));
        }
    };
    if json {
        json::document(&json!({
            "provider": entry,
            "models": models,
            "model": model,
            "key": stored,
            "config": config,
        }))?;
    } else {
        screen::print(&provider::added(&entry, models.len(), model.as_deref(), stored.as_ref(), &config))?;
    }
    Ok(Exit::Done)
}
