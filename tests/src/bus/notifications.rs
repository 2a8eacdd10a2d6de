use crate::wait;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;
use zbus::{Connection, Variant, connection::Builder, interface, wire::OwnedVariant};

pub(super) const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// Those of a server with buttons.
pub const ABLE: &[&str] = &["body", "body-markup", "actions", "persistence"];
/// Those of a server with buttons and with a field for a reply.
pub const PLASMA: &[&str] = &["body", "body-markup", "actions", "persistence", "inline-reply"];

/// A notification as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    /// The server that shows it, in the order of their starts.
    pub server: usize,
    /// Of its server; it is the same again for one that takes another's place.
    pub id: u32,
    pub application: String,
    pub icon: String,
    pub desktop_entry: String,
    pub summary: String,
    pub body: String,
    /// Keys and labels in turn.
    pub actions: Vec<String>,
    pub expires: i32,
    /// The application or a person has closed it, or another one has taken its place.
    pub is_closed: bool,
}

impl Popup {
    /// The keys of its actions.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        self.actions.chunks(2).map(|action| action[0].as_str()).collect()
    }
}

/// What the servers of a bus were told.
#[derive(Default)]
pub(super) struct Told {
    popups: Mutex<Vec<Popup>>,
    violations: Mutex<Vec<String>>,
    changes: watch::Sender<()>,
    pub(super) hangs: watch::Sender<bool>,
}

impl Told {
    pub(super) fn popups(&self) -> Vec<Popup> {
        self.popups.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check(&self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(otherwise());
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<Popup>)) {
        change(&mut self.popups.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes.send_replace(());
    }

    pub(super) async fn wait(&self, what: &str, is_so: impl Fn(&[Popup]) -> bool) -> Vec<Popup> {
        let mut changes = self.changes.subscribe();
        let waited = wait::within_or(what, async || {
            changes.borrow_and_update();
            let popups = self.popups();
            is_so(&popups).then_some(popups)
        });
        match waited.await {
            Some(popups) => popups,
            None => panic!("waited in vain for: {what}; there are: {:#?}", self.popups()),
        }
    }

    async fn answers(&self) {
        let mut hangs = self.hangs.subscribe();
        let _ = hangs.wait_for(|hangs| !hangs).await;
    }
}

/// A notification server that checks what it is told.
pub(super) struct Server {
    told: Arc<Told>,
    place: usize,
    capabilities: &'static [&'static str],
    last_id: u32,
}

impl Server {
    pub(super) async fn start(
        address: &str,
        told: Arc<Told>,
        place: usize,
        capabilities: &'static [&'static str],
    ) -> zbus::Result<Connection> {
        let server = Self { told, place, capabilities, last_id: 0 };
        Builder::address(address).name(NAME).serve_at(PATH, server).build().await
    }

    fn has(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    fn check(&self, popup: &Popup, replaces: u32) {
        let Popup { id, summary, body, actions, expires, .. } = popup;
        let told = &self.told;
        told.check(replaces <= self.last_id, || {
            format!("{id} takes the place of {replaces}, which never was")
        });
        told.check(!summary.is_empty(), || format!("{id} has no summary"));
        let marks = body.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "");
        told.check(!marks.contains(['<', '>', '&']), || format!("{id} has markup of somebody's: {body}"));
        told.check(actions.len() % 2 == 0, || format!("{id} has an action without a label: {actions:?}"));
        told.check(actions.is_empty() || self.has("actions"), || format!("{id} has actions: {actions:?}"));
        let mut keys = popup.keys();
        let has_field = keys.contains(&"inline-reply");
        told.check(!has_field || self.has("inline-reply"), || format!("{id} has a field: {actions:?}"));
        keys.sort_unstable();
        keys.dedup();
        told.check(keys.len() == actions.len() / 2, || format!("{id} has a key twice: {actions:?}"));
        told.check(matches!(expires, -1 | 0), || format!("{id} expires after {expires} ms"));
    }
}

/// Sends a signal of the server.
pub(super) async fn signal(
    server: &Connection,
    name: &str,
    body: &(impl serde::Serialize + zbus::DynamicType + Sync),
) {
    server.emit_signal(None::<&str>, PATH, NAME, name, body).await.expect("the bus takes signals");
}

#[interface(name = "org.freedesktop.Notifications")]
impl Server {
    async fn get_capabilities(&self) -> Vec<String> {
        self.told.answers().await;
        self.capabilities.iter().map(|capability| (*capability).to_owned()).collect()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("abide-tests".to_owned(), "abide".to_owned(), "1".to_owned(), "1.2".to_owned())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification's")]
    async fn notify(
        &mut self,
        application: String,
        replaces: u32,
        icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedVariant>,
        expires: i32,
    ) -> u32 {
        self.told.answers().await;
        let id = if replaces == 0 { self.last_id + 1 } else { replaces };
        let desktop_entry = match hints.get("desktop-entry").map(|entry| &**entry) {
            Some(Variant::Str(entry)) => entry.to_string(),
            _ => String::new(),
        };
        let server = self.place;
        let popup = Popup {
            server,
            id,
            application,
            icon,
            desktop_entry,
            summary,
            body,
            actions,
            expires,
            is_closed: false,
        };
        self.check(&popup, replaces);
        self.last_id = self.last_id.max(id);
        self.told.change(|popups| {
            for before in popups.iter_mut().filter(|before| (before.server, before.id) == (server, id)) {
                before.is_closed = true;
            }
            popups.push(popup);
        });
        id
    }

    fn close_notification(&self, id: u32) {
        self.told.check(id <= self.last_id, || format!("{id} is closed, which never was"));
        self.told.change(|popups| {
            for popup in popups.iter_mut().filter(|popup| (popup.server, popup.id) == (self.place, id)) {
                popup.is_closed = true;
            }
        });
    }
}
