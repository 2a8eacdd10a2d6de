//! Models and their providers: what there is, and whether it answers.

use crate::service::Service;
use abide_protocol::method::daemon::{
    CheckFailure, CheckModelParams, CheckModelReply, CheckProviderParams, CheckProviderReply,
    ListModelsParams, ListModelsReply,
};
use tokio::time::Instant;

pub(super) async fn list(service: &Service, params: &ListModelsParams) -> ListModelsReply {
    service.settings.now().await.list(params).await
}

pub(super) async fn check(service: &Service, params: CheckModelParams) -> CheckModelReply {
    let began = Instant::now();
    let (model, failure) = service.settings.now().await.check(&params.model).await;
    CheckModelReply {
        model,
        took_ms: ms_since(began),
        failure: failure.map(|e| CheckFailure { kind: e.kind, message: e.message }),
    }
}

pub(super) async fn check_provider(service: &Service, params: CheckProviderParams) -> CheckProviderReply {
    let began = Instant::now();
    let checked = service.settings.now().await.check_provider(params).await;
    CheckProviderReply { took_ms: ms_since(began), ..checked }
}

fn ms_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
