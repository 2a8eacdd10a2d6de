//! The window's side: where the desktop has a tray, the window starts the icon's process; it ends that
//! process when the person does not want the icon.

use super::{bus_name, host, menu};
use crate::bus::{Bus, has_owner, owned};
use abide_host::{Home, program::open_window};
use futures_util::{Stream, StreamExt as _};

/// Emits each time the desktop has a tray: at once if it has one now.
pub fn trays(bus: &Bus) -> impl Stream<Item = ()> + use<> {
    owned(bus.connection().clone(), host::WATCHER).filter_map(async |is_there| is_there.then_some(()))
}

/// Starts the icon's process, unless it runs.
pub async fn start(bus: Bus, home: Home) {
    if !has_owner(bus.connection(), &bus_name(&home)).await.unwrap_or(false)
        && let Err(error) = open_window(&home, &["--tray"], [])
    {
        tracing::warn!("the icon in the tray cannot be shown: {error}");
    }
}

/// Ends the icon's process, if it runs.
pub async fn end(bus: Bus, home: Home) {
    let name = bus_name(&home);
    if has_owner(bus.connection(), &name).await.unwrap_or(false)
        && let Err(error) = menu::press_quit(bus.connection(), &name).await
    {
        tracing::warn!(%error, "the icon in the tray does not go");
    }
}
