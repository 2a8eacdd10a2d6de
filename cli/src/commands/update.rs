//! `abide daemon update`: lets the installed program take over from the one that runs.

use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, status},
};
use abide_client::protocol::{
    method::{
        Status, UpdateDaemon,
        daemon::{StatusParams, StatusReply, UpdateDaemonParams, UpdateDaemonReply},
    },
    update::{UpdateStage, UpdateStatus},
};
use abide_host::home;

pub(crate) async fn update(patience_secs: u64, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::running().await?;
    let params = UpdateDaemonParams { patience_ms: Some(patience_secs.saturating_mul(1000)) };
    let before = daemon.version().to_owned();
    let reply = match daemon.call::<UpdateDaemon>(params).await {
        // It was going over already.
        Err(error) if error.is_end_of_daemon() => None,
        settled => Some(settled?).filter(|reply| !is_handing_over(reply)),
    };
    let settled = if let Some(reply) = reply {
        reply
    } else {
        daemon.until_replaced().await.map_err(|error| match home::is_held(daemon.home()) {
            true => error,
            false => error.hinted("it ended before it went over; the next start runs the installed program"),
        })?;
        // Not a request to update: if the new program could not be executed, it would be tried again.
        let StatusReply { version, update, .. } = daemon.call::<Status>(StatusParams::default()).await?;
        if !json && update.is_none() {
            screen::note(&format!("the daemon went over from version {before} to {version}"))?;
        }
        UpdateDaemonReply { version, update }
    };
    if json {
        json::document(&settled)?;
    } else {
        screen::print(&status::updated(&settled))?;
    }
    let is_done = settled.update.is_none();
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

fn is_handing_over(reply: &UpdateDaemonReply) -> bool {
    matches!(reply.update, Some(UpdateStatus { stage: UpdateStage::HandingOver, .. }))
}
