//! The keys of providers.

use super::RequestError;
use crate::service::Service;
use abide_protocol::{
    Error, ErrorKind,
    method::daemon::{SetKeyParams, SetKeyReply},
};

pub(super) async fn set(service: &Service, params: SetKeyParams) -> Result<SetKeyReply, RequestError> {
    let catalog = service.settings.now().await;
    let set = catalog.keys().set(&params.provider, params.key.as_deref()).await;
    let set = set.map_err(|e| Error::new(ErrorKind::InvalidParams, e.to_string()))?;
    Ok(SetKeyReply { stored_in: set.stored_in, had_key: set.had_key })
}
