//! Makes the icon known to the desktop's tray.

use crate::bus::owned;
use futures_util::StreamExt as _;
use std::{pin::pin, time::Duration};
use tokio::time::timeout;
use zbus::Connection;

/// The desktop's list of icons; desktops without a tray have none.
pub(super) const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const PATH: &str = "/StatusNotifierWatcher";
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Registers the icon, whose name on the bus this is, with the list, and with each that replaces it. Returns
/// when the bus is gone.
pub(super) async fn keep(connection: &Connection, name: &str) {
    let mut lists = pin!(owned(connection.clone(), WATCHER));
    while let Some(is_there) = lists.next().await {
        if !is_there {
            continue;
        }
        let register =
            connection.call_method(Some(WATCHER), PATH, Some(WATCHER), "RegisterStatusNotifierItem", &name);
        match timeout(PATIENCE, register).await {
            Ok(Ok(_)) => tracing::debug!("the tray has the icon"),
            Ok(Err(error)) => tracing::warn!(%error, "the tray refuses the icon"),
            Err(_) => tracing::warn!("the tray does not answer"),
        }
    }
}
