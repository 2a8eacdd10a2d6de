use super::RequestError;
use crate::{
    clock,
    service::{Drained, Service},
    supervisor::Ending,
};
use abide_host::login;
use abide_protocol::{
    Error, ErrorKind,
    method::daemon::{
        SandboxStatus, ShutdownParams, ShutdownReply, StatusReply, UpdateDaemonParams, UpdateDaemonReply,
    },
    start::StartStatus,
};
use std::time::Duration;
use tokio::sync::watch;

/// The drain deadline if the request names none, in ms.
const DRAIN: u64 = 5_000;
/// The longest drain deadline, in ms.
const MAX_DRAIN: u64 = 600_000;

/// Asks the daemon to end, and waits until it has drained: only then is it known what was cut off.
pub(in crate::service) async fn shut_down(
    service: &Service,
    params: &ShutdownParams,
    drained: &mut watch::Receiver<Option<Drained>>,
) -> Result<ShutdownReply, RequestError> {
    let drain = Duration::from_millis(params.deadline_ms.unwrap_or(DRAIN).min(MAX_DRAIN));
    service.ending.send_replace(Some(Ending::Asked { drain }));
    match drained.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(account)) => Ok(account.clone()?),
        Ok(None) | Err(_) => Err(Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down").into()),
    }
}

pub(super) async fn status(service: &Service) -> Result<StatusReply, RequestError> {
    let counts = service.store.counts().await?;
    let catalog = service.settings.now().await;
    Ok(StatusReply {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_at: service.started_at,
        uptime_ms: clock::now().since(service.started_at),
        memory_bytes: resident_bytes().unwrap_or(0),
        connections: u32::try_from(service.connections.count()).unwrap_or(u32::MAX),
        sessions: u32::try_from(service.sessions.len()).unwrap_or(u32::MAX),
        tasks: counts.tasks,
        inbox: counts.inbox,
        daemon: service.hub.daemon_state(),
        data_dir: service.home.data_dir.display().to_string(),
        socket: service.socket.display().to_string(),
        keys: catalog.keys().names(),
        config: service.settings.status(),
        sandbox: sandbox(service).await,
        update: service.updates.status(),
        start: StartStatus { by: service.started_by.clone(), at_login: login::at_login(&service.home) },
        http: service.http.status(),
    })
}

pub(super) async fn update(
    service: &Service,
    params: UpdateDaemonParams,
) -> Result<UpdateDaemonReply, RequestError> {
    let ends = || Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down");
    let update = service.updates.now(params.patience_ms.map(Duration::from_millis)).await.ok_or_else(ends)?;
    Ok(UpdateDaemonReply { version: env!("CARGO_PKG_VERSION").to_owned(), update })
}

/// The sandbox of this machine, found out now if no task needed it before.
pub(super) async fn sandbox(service: &Service) -> SandboxStatus {
    let tools = service.tools.clone();
    let require = service.settings.recent().await.config().sandbox_settings(tools.home()).require;
    let found = tokio::task::spawn_blocking(move || {
        let (level, why_not) = tools.sandbox();
        (level, why_not.to_vec())
    });
    let (level, why_not) = found.await.unwrap_or_default();
    SandboxStatus { level, why_not, require }
}

/// `/proc/self/statm` counts pages (proc(5)).
#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}
