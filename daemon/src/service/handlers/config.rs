use super::RequestError;
use crate::{
    launch::choose_model,
    service::Service,
    settings::{ChangeError, Settings},
};
use abide_protocol::{
    Error, ErrorKind,
    method::config::{ConfigReply, ModelChoice, ProviderChange, UpdateConfigParams},
};

pub(super) async fn get(service: &Service) -> ConfigReply {
    in_force(&service.settings).await
}

/// A default model whose provider does not exist is refused: every task would fail with it.
pub(super) async fn update(
    service: &Service,
    params: UpdateConfigParams,
) -> Result<ConfigReply, RequestError> {
    let settings = &service.settings;
    if let Some(ProviderChange::Remove(name)) = &params.provider
        && !settings.now().await.config().providers.contains_key(name)
    {
        let words = format!("the configuration sets up no provider {name:?}");
        return Err(Error::new(ErrorKind::NotFound, words).about(name).into());
    }
    if let Some(ModelChoice::Named(model)) = &params.model
        && !adds_its_provider(model, params.provider.as_ref())
    {
        choose_model(&settings.now().await, Some(model), None).await?;
    }
    settings.change(params).await.map_err(|e| {
        let kind = match e {
            ChangeError::Refused(_) | ChangeError::Write { .. } => ErrorKind::IllegalState,
            ChangeError::Busy(_) => ErrorKind::Overloaded,
            ChangeError::ShuttingDown => ErrorKind::ShuttingDown,
        };
        Error::new(kind, e.to_string())
    })?;
    Ok(in_force(settings).await)
}

fn adds_its_provider(model: &str, change: Option<&ProviderChange>) -> bool {
    let provider = model.split_once('/').map(|(provider, _)| provider);
    matches!(change, Some(ProviderChange::Set(entry)) if Some(&*entry.name) == provider)
}

async fn in_force(settings: &Settings) -> ConfigReply {
    let catalog = settings.now().await;
    let config = catalog.config();
    ConfigReply {
        model: config.model.default.clone().map_or(ModelChoice::Automatic, ModelChoice::Named),
        default: catalog.default_model().await,
        notifications: config.notify.enabled,
        memory: config.memory.enabled,
        file: settings.status(),
    }
}
