//! What tasks can do in a folder.

use super::RequestError;
use crate::service::Service;
use abide_protocol::{
    Error, ErrorKind,
    method::workspace::{GetWorkspaceParams, WorkspaceReply},
};
use std::env;

pub(super) async fn get(
    service: &Service,
    params: GetWorkspaceParams,
) -> Result<WorkspaceReply, RequestError> {
    let catalog = service.settings.now().await;
    let tools = service.tools.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let GetWorkspaceParams { workspace, path } = params;
        let path = path.or_else(|| env::var("PATH").ok());
        tools.look_at(&workspace, &catalog.config().sandbox_settings(tools.home()), path.as_deref())
    });
    let looked = looked.await.map_err(|error| {
        tracing::error!("looking at a workspace failed: {error}");
        Error::new(ErrorKind::Internal, "looking at the workspace failed; this is a fault in Abide")
    })?;
    Ok(looked.map_err(|unusable| Error::new(ErrorKind::InvalidParams, unusable.to_string()))?)
}
