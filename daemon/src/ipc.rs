//! The local socket: checks peers, limits connections, and serves each of them.

mod connection;
mod headers;

pub(crate) use connection::{encode, incoming};

use crate::{instance, service::Service};
use abide_protocol::limits::MAX_CONNECTIONS;
use interprocess::local_socket::{tokio::Listener, traits::tokio::Listener as _};
use std::time::Duration;

/// The pause after a failed accept (for example, out of descriptors).
const ACCEPT_BACKOFF: Duration = Duration::from_millis(200);

/// Accepts connections until the daemon ends.
pub async fn serve(listener: Listener, service: Service) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = service.supervisor.ending() => return,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(e) => {
                tracing::warn!("a connection could not be accepted: {e}");
                tokio::time::sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        let Some(slot) = service.connections.take_slot(MAX_CONNECTIONS) else {
            tracing::warn!("there are {MAX_CONNECTIONS} connections; one more was closed");
            continue;
        };
        let tools = service.tools.clone();
        let allowed = instance::peer(&stream, |pid| tools.is_helper(pid)).map_err(|e| e.to_string());
        let connection = connection::serve(stream, allowed, service.clone());
        service.supervisor.spawn("connection", async move {
            connection.await;
            drop(slot);
        });
    }
}
