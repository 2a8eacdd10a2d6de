//! A private D-Bus session with a strict notification server, a desktop portal, and an application that plays
//! the window.

mod application;
mod applications;
mod dunst;
mod notifications;
mod portal;
mod tray;

pub use application::{Activation, Application};
pub use applications::Applications;
pub use dunst::Dunst;
pub use notifications::{ABLE, PLASMA, Popup};
pub use portal::{Portal, Scheme};
pub use tray::{Entry, Icon, Look, Pixmap, Tray};

use crate::{process, wait};
use abide_host::Home;
use notifications::{Server, Told};
use std::{
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::process::Child;
use zbus::Connection;

/// The bus; it ends when it is dropped.
pub struct Bus {
    address: String,
    told: Arc<Told>,
    /// The notification servers, each as long as it lives. Popups name them by their place here.
    servers: Mutex<Vec<Option<Connection>>>,
    _daemon: Child,
}

impl Bus {
    /// Starts it; `None` if there is no `dbus-daemon`. Its socket lies in `folder`, the user's services in
    /// its `share/dbus-1/services`. Its notification server shows buttons.
    ///
    /// # Panics
    /// There is one and it does not start.
    pub async fn start(folder: &Path) -> Option<Self> {
        let bus = Self::start_bare(folder).await?;
        bus.start_server(ABLE).await;
        Some(bus)
    }

    /// [`Self::start`], without a notification server.
    ///
    /// # Panics
    /// There is one and it does not start.
    pub async fn start_bare(folder: &Path) -> Option<Self> {
        let address = format!("unix:path={}", folder.join("bus").display());
        let log = process::Log::new();
        let daemon = process::program("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--address", &address])
            .env("XDG_DATA_HOME", folder.join("share"))
            .stdin(Stdio::null())
            .stderr(log.pipe())
            .spawn()
            .ok()?;
        wait::wait_seeing("the private bus", async || {
            let built = zbus::connection::Builder::address(address.as_str()).build().await;
            built.map(drop).map_err(|e| format!("{e}\n{}", log.text()))
        })
        .await;
        Some(Self { address, told: Arc::default(), servers: Mutex::default(), _daemon: daemon })
    }

    /// Starts another notification server, whose ids begin with 1. It takes the name from the one before,
    /// which goes on showing what it shows: as when two desktops share a session.
    ///
    /// # Panics
    /// It cannot have the name.
    pub async fn start_server(&self, capabilities: &'static [&'static str]) {
        let place = self.servers().len();
        let before = place.checked_sub(1).and_then(|place| self.servers()[place].clone());
        if let Some(before) = before {
            before.release_name(notifications::NAME).await.expect("it has the name");
        }
        let server = Server::start(&self.address, Arc::clone(&self.told), place, capabilities).await;
        self.servers().push(Some(server.expect("the name is free")));
    }

    /// Ends the newest notification server; nobody has its name then.
    pub async fn end_server(&self) {
        let ended = self.servers().last_mut().and_then(Option::take);
        if let Some(ended) = ended {
            let _ = ended.close().await;
        }
    }

    /// The notification servers take calls and answer nothing, or do again.
    pub fn hang(&self, does_hang: bool) {
        self.told.hangs.send_replace(does_hang);
    }

    fn server_of(&self, popup: &Popup) -> Connection {
        self.servers()[popup.server].clone().expect("its server lives")
    }

    fn servers(&self) -> std::sync::MutexGuard<'_, Vec<Option<Connection>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Presses an action of a notification, as a person does, and closes it, as servers do. It is signalled
    /// as it is, also if there is no such action, or no such notification any more.
    pub async fn press(&self, popup: &Popup, key: &str) {
        let server = self.server_of(popup);
        notifications::signal(&server, "ActionInvoked", &(popup.id, key)).await;
        self.dismiss(popup).await;
    }

    /// [`Self::press`], with a token that lets a window come to the front.
    pub async fn press_with_token(&self, popup: &Popup, key: &str, token: &str) {
        notifications::signal(&self.server_of(popup), "ActivationToken", &(popup.id, token)).await;
        self.press(popup, key).await;
    }

    /// Types a reply into a notification, as Plasma's are.
    pub async fn reply(&self, popup: &Popup, text: &str) {
        notifications::signal(&self.server_of(popup), "NotificationReplied", &(popup.id, text)).await;
        self.dismiss(popup).await;
    }

    /// A person closes a notification.
    pub async fn dismiss(&self, popup: &Popup) {
        self.told.change(|popups| {
            for shown in popups.iter_mut().filter(|p| (p.server, p.id) == (popup.server, popup.id)) {
                shown.is_closed = true;
            }
        });
        notifications::signal(&self.server_of(popup), "NotificationClosed", &(popup.id, 2_u32)).await;
    }

    /// The newest server sends this many actions of notifications that nobody has shown.
    ///
    /// # Panics
    /// There is no server.
    pub async fn flood(&self, actions: u32) {
        let server = self.servers().last().cloned().flatten().expect("there is a server");
        for n in 0..actions {
            notifications::signal(&server, "ActionInvoked", &(1_000_000 + n, "allow")).await;
        }
    }

    /// A desktop portal on the bus, which reports a dark or light system.
    ///
    /// # Panics
    /// There is one already.
    pub async fn portal(&self, scheme: Scheme) -> Portal {
        Portal::start(&self.address, scheme).await.expect("a portal can be on the bus")
    }

    /// An application that has the name of this home's window.
    ///
    /// # Panics
    /// There is one already.
    pub async fn application(&self, home: &Home) -> Application {
        Application::start(&self.address, home).await.expect("an application can be on the bus")
    }

    /// A desktop's tray on the bus, once no other one is there.
    ///
    /// # Panics
    /// There is one to the end.
    pub async fn tray(&self) -> Tray {
        wait::wait_seeing("the place of the tray", async || {
            Tray::start(&self.address).await.map_err(|error| error.to_string())
        })
        .await
    }

    /// A desktop's way to applications on the bus.
    ///
    /// # Panics
    /// The bus is gone.
    pub async fn applications(&self) -> Applications {
        Applications::new(&self.address).await.expect("the bus can be reached")
    }

    /// For `DBUS_SESSION_BUS_ADDRESS`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All notifications so far.
    #[must_use]
    pub fn popups(&self) -> Vec<Popup> {
        self.told.popups()
    }

    /// Waits until the notifications satisfy `is_so`.
    ///
    /// # Panics
    /// They do not in time.
    pub async fn wait(&self, what: &str, is_so: impl Fn(&[Popup]) -> bool) -> Vec<Popup> {
        self.told.wait(what, is_so).await
    }

    /// Waits for an open notification that satisfies `is_it`.
    ///
    /// # Panics
    /// None does in time.
    pub async fn popup(&self, what: &str, is_it: impl Fn(&Popup) -> bool) -> Popup {
        let find =
            |popups: &[Popup]| popups.iter().rev().find(|popup| !popup.is_closed && is_it(popup)).cloned();
        let popups = self.wait(what, |popups| find(popups).is_some()).await;
        find(&popups).expect("it was just there")
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let violations = self.told.violations();
        assert!(
            std::thread::panicking() || violations.is_empty(),
            "against the specification: {violations:#?}"
        );
    }
}
