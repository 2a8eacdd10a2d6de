use super::RequestError;
use crate::{
    config::Change,
    launch::choose_model,
    service::Service,
    settings::{ChangeError, Settings},
};
use abide_protocol::{
    Error, ErrorKind,
    method::config::{ConfigReply, ModelChoice, UpdateConfigParams},
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
    if let Some(ModelChoice::Named(model)) = &params.model {
        choose_model(&settings.now().await, Some(model), None).await?;
    }
    let UpdateConfigParams { model, notifications } = params;
    settings.change(Change { model, notifications }).await.map_err(|e| {
        let kind = match e {
            ChangeError::Refused(_) | ChangeError::Write { .. } => ErrorKind::IllegalState,
            ChangeError::Busy(_) => ErrorKind::Overloaded,
            ChangeError::ShuttingDown => ErrorKind::ShuttingDown,
        };
        Error::new(kind, e.to_string())
    })?;
    Ok(in_force(settings).await)
}

async fn in_force(settings: &Settings) -> ConfigReply {
    let catalog = settings.now().await;
    let config = catalog.config();
    ConfigReply {
        model: config.model.default.clone().map_or(ModelChoice::Automatic, ModelChoice::Named),
        default: catalog.default_model().await,
        notifications: config.notify.enabled,
        file: settings.status(),
    }
}
