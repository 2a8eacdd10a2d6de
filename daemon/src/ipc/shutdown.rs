//! A shutdown is answered when nothing runs any more: only then it is known what was cut off.

use super::connection::Connection;
use crate::daemon::Ending;
use abide_protocol::{
    Error, ErrorKind,
    codec::RequestId,
    method::{Reply, daemon::ShutdownParams},
};
use std::{sync::Arc, time::Duration};

/// How long a shutdown waits for a boundary, if nobody says, in ms.
const DRAIN: u64 = 5_000;
/// The longest anybody may ask for, in ms.
const MAX_DRAIN: u64 = 600_000;

/// Asks the daemon to end, and answers just before it does.
pub(super) async fn shutdown(
    connection: Arc<Connection>,
    request: Option<RequestId>,
    params: ShutdownParams,
) {
    // The daemon waits until nobody listens here any more before it closes connections.
    let mut drained = connection.service.drained.subscribe();
    let drain = Duration::from_millis(params.deadline_ms.unwrap_or(DRAIN).min(MAX_DRAIN));
    connection.service.ending.send_replace(Some(Ending::Asked { drain }));
    let reply = match drained.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(account)) => account.clone().map(Reply::Shutdown),
        Ok(None) | Err(_) => Err(Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down")),
    };
    connection.answer(request, reply);
    drop(drained);
}
