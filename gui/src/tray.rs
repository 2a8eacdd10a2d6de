//! The icon in the tray (StatusNotifierItem), in a small process of its own: it says what works and what
//! waits for the person also while no window is open. The window starts it where the desktop has a tray; it
//! ends with the session, or when the person wishes.
//!
//! * `state`: what it shows, from the daemon's overview
//! * `icon`: its pictures
//! * `item`, `menu`: its two interfaces on the session bus
//! * `host`: makes it known to the desktop's tray, also to one that starts later
//! * `keeper`: starts and ends this process, for the window

mod host;
mod icon;
mod item;
pub mod keeper;
mod menu;
mod orders;
mod state;

use crate::{
    arguments::ShowRequest,
    bus::{self, application},
    daemon::Daemon,
};
use abide_client::view::OverviewView;
use abide_host::{Home, application as names, program::open_window};
use futures_util::StreamExt as _;
use item::Item;
use menu::Menu;
use orders::{Orders, Wishes};
use state::{Shown, TrayState};
use std::{ffi::OsStr, io, pin::pin, time::Duration};
use tokio::{runtime, sync::watch, time::timeout};
use zbus::{Connection, connection::Builder};

/// How long the window may take to answer, before another one is started. The bus may have to start it, for
/// which dbus-daemon allows 25 s: if another one were started meanwhile, an older wish could be shown after a
/// newer one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no icon.
#[derive(Debug, thiserror::Error)]
pub enum TrayError {
    #[error("an icon in the tray needs the session bus: {0}")]
    Bus(#[from] zbus::Error),
    #[error("the icon in the tray cannot start: {0}")]
    Runtime(#[from] io::Error),
}

/// Shows the icon until the session ends or the person wants it no more. Returns at once if it is shown
/// already.
///
/// # Errors
/// There is no session bus.
pub fn run(home: &Home) -> Result<(), TrayError> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(show(home))
}

/// The icon's name on the session bus.
fn bus_name(home: &Home) -> String {
    format!("{}.Tray", names::bus_name(home))
}

async fn show(home: &Home) -> Result<(), TrayError> {
    let (shown, seen) = watch::channel(Shown::default());
    let (orders, mut wishes) = orders::orders();
    let connection = Builder::session()
        .serve_at(item::PATH, Item::new(seen.clone(), orders.clone()))
        .serve_at(menu::PATH, Menu::new(seen, orders))
        .build()
        .await?;
    let name = bus_name(home);
    if !bus::take(&connection, &name).await {
        return Ok(());
    }
    let mut quit = wishes.quit.clone();
    tokio::select! {
        () = follow(home, &shown, &connection) => tracing::warn!("the daemon is of another version; the icon ends"),
        () = host::keep(&connection, &name) => {}
        () = open(home, &mut wishes, &connection) => {}
        () = connection.closed() => {}
        _ = quit.wait_for(|quit| *quit) => {}
    }
    Ok(())
}

/// Shows the daemon's state; does not start a daemon.
async fn follow(home: &Home, shown: &watch::Sender<Shown>, connection: &Connection) {
    let mut overview = OverviewView::default();
    let mut updates = pin!(Daemon::new(home.clone()).watched());
    while let Some(updates) = updates.next().await {
        for update in updates {
            overview.apply(update);
        }
        let state = TrayState::of(&overview);
        if shown.send_if_modified(|shown| shown.change(state)) {
            let revision = shown.borrow().revision;
            // Whoever shows the icon reads it again.
            let told = async {
                item::tell(connection).await?;
                menu::tell(connection, revision).await
            };
            if let Err(error) = told.await {
                tracing::debug!(%error, "cannot tell the tray that the icon has changed");
            }
        }
    }
}

/// Brings the window to what the person has chosen, or starts it.
async fn open(home: &Home, wishes: &mut Wishes, connection: &Connection) {
    let name = names::bus_name(home);
    while let Some((wanted, token)) = wishes.next().await {
        let asked = application::ask(connection, &name, &wanted, token.clone());
        match timeout(PATIENCE, asked).await {
            Ok(Ok(())) => {}
            no_window => {
                tracing::debug!(?no_window, "no window runs, and the bus starts none");
                start(home, &wanted, token.as_deref());
            }
        }
    }
}

fn start(home: &Home, wanted: &ShowRequest, token: Option<&str>) {
    let arguments = match wanted {
        ShowRequest::Window => vec![],
        ShowRequest::Inbox => vec!["--inbox"],
        ShowRequest::Conversation(id) => vec!["--conversation", id.as_str()],
    };
    let variables =
        token.into_iter().flat_map(|token| application::VARIABLES.map(|name| (name, OsStr::new(token))));
    if let Err(error) = open_window(home, &arguments, variables) {
        tracing::warn!("the window cannot be opened: {error}");
    }
}
