//! A private D-Bus session with a notification server that records all notifications.

mod portal;

pub use portal::{Portal, Scheme};

use crate::{process, wait};
use std::{
    collections::HashMap,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{process::Child, sync::watch};
use zbus::{Connection, connection::Builder, interface, wire::OwnedVariant};

/// The bus; it ends when it is dropped.
pub struct Bus {
    address: String,
    told: Arc<Told>,
    _server: Connection,
    _daemon: Child,
}

/// A notification as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    pub id: u32,
    pub application: String,
    pub summary: String,
    pub body: String,
    pub actions: Vec<String>,
    /// The application has closed it.
    pub is_closed: bool,
}

#[derive(Default)]
struct Told {
    popups: Mutex<Vec<Popup>>,
    changes: watch::Sender<()>,
}

impl Told {
    fn change(&self, change: impl FnOnce(&mut Vec<Popup>)) {
        change(&mut self.popups.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes.send_replace(());
    }
}

impl Bus {
    /// Starts it; `None` if there is no `dbus-daemon`. Its socket lies in `folder`.
    ///
    /// # Panics
    /// There is one and it does not start.
    pub async fn start(folder: &Path) -> Option<Self> {
        let address = format!("unix:path={}", folder.join("bus").display());
        let log = process::Log::new();
        let daemon = process::program("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--nosyslog", "--address", &address])
            .stdin(Stdio::null())
            .stderr(log.pipe())
            .spawn()
            .ok()?;
        let told = Arc::new(Told::default());
        let server = wait::wait_seeing("the private bus", async || {
            let server = Server { told: Arc::clone(&told) };
            let builder = Builder::address(address.as_str()).name("org.freedesktop.Notifications");
            let built = builder.serve_at("/org/freedesktop/Notifications", server).build().await;
            built.map_err(|e| format!("{e}\n{}", log.text()))
        })
        .await;
        Some(Self { address, told, _server: server, _daemon: daemon })
    }

    /// A desktop portal on the bus, which reports a dark or light system.
    ///
    /// # Panics
    /// There is one already.
    pub async fn portal(&self, scheme: Scheme) -> Portal {
        Portal::start(&self.address, scheme).await.expect("a portal can be on the bus")
    }

    /// For `DBUS_SESSION_BUS_ADDRESS`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All notifications so far.
    #[must_use]
    pub fn popups(&self) -> Vec<Popup> {
        self.told.popups.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the notifications satisfy `is_so`.
    ///
    /// # Panics
    /// They do not in time.
    pub async fn wait(&self, what: &str, is_so: impl Fn(&[Popup]) -> bool) -> Vec<Popup> {
        let mut changes = self.told.changes.subscribe();
        wait::within(what, async {
            loop {
                changes.borrow_and_update();
                let popups = self.popups();
                if is_so(&popups) {
                    return popups;
                }
                changes.changed().await.expect("the server is held by the test");
            }
        })
        .await
    }
}

struct Server {
    told: Arc<Told>,
}

#[interface(name = "org.freedesktop.Notifications")]
impl Server {
    fn get_capabilities(&self) -> Vec<String> {
        ["body", "actions", "persistence"].map(str::to_owned).to_vec()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("abide-tests".to_owned(), "abide".to_owned(), "1".to_owned(), "1.2".to_owned())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification's")]
    fn notify(
        &self,
        application: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedVariant>,
        _timeout: i32,
    ) -> u32 {
        let mut id = 0;
        self.told.change(|popups| {
            id = u32::try_from(popups.len() + 1).unwrap_or(u32::MAX);
            popups.push(Popup { id, application, summary, body, actions, is_closed: false });
        });
        id
    }

    fn close_notification(&self, id: u32) {
        self.told.change(|popups| {
            for popup in popups.iter_mut().filter(|p| p.id == id) {
                popup.is_closed = true;
            }
        });
    }
}
