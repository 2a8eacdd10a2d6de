//! The interface `org.kde.StatusNotifierItem`.

use super::{
    Orders,
    icon::Pixmap,
    state::{Mood, Shown},
};
use crate::arguments::ShowRequest;
use abide_host::application as names;
use tokio::sync::watch;
use zbus::{Connection, ObjectPath, interface};

/// Where every tray looks for it.
pub(super) const PATH: &str = "/StatusNotifierItem";
const INTERFACE: &str = "org.kde.StatusNotifierItem";

/// The object on the bus.
pub(super) struct Item {
    shown: watch::Receiver<Shown>,
    orders: Orders,
}

impl Item {
    pub(super) const fn new(shown: watch::Receiver<Shown>, orders: Orders) -> Self {
        Self { shown, orders }
    }
}

#[interface(name = "org.kde.StatusNotifierItem", spawn = false, introspection_docs = false)]
impl Item {
    #[zbus(property)]
    fn category(&self) -> &'static str {
        "ApplicationStatus"
    }

    #[zbus(property)]
    fn id(&self) -> &'static str {
        names::ID
    }

    #[zbus(property)]
    fn title(&self) -> &'static str {
        "Abide"
    }

    /// A tray hides what is passive, and points out what needs attention.
    #[zbus(property)]
    fn status(&self) -> &'static str {
        match self.shown.borrow().state.mood() {
            Mood::Away => "Passive",
            Mood::Idle | Mood::Working => "Active",
            Mood::Waiting(_) => "NeedsAttention",
        }
    }

    #[zbus(property)]
    fn window_id(&self) -> i32 {
        0
    }

    /// Empty, so that the pictures are shown, which need no installation.
    #[zbus(property)]
    fn icon_name(&self) -> &'static str {
        ""
    }

    #[zbus(property)]
    fn icon_pixmap(&self) -> Vec<Pixmap> {
        self.shown.borrow().pixmaps.clone()
    }

    /// What a screen reader says of the picture.
    #[zbus(property)]
    fn icon_accessible_desc(&self) -> String {
        self.shown.borrow().state.words()
    }

    #[zbus(property)]
    fn attention_icon_name(&self) -> &'static str {
        ""
    }

    #[zbus(property)]
    fn attention_icon_pixmap(&self) -> Vec<Pixmap> {
        self.shown.borrow().pixmaps.clone()
    }

    #[zbus(property)]
    fn attention_accessible_desc(&self) -> String {
        self.shown.borrow().state.words()
    }

    #[zbus(property)]
    fn overlay_icon_name(&self) -> &'static str {
        ""
    }

    /// Icon, pictures, title, text.
    #[zbus(property)]
    fn tool_tip(&self) -> (String, Vec<Pixmap>, String, String) {
        (String::new(), Vec::new(), "Abide".to_owned(), self.shown.borrow().state.words())
    }

    /// A click opens the inbox; the menu has its own button.
    #[zbus(property)]
    fn item_is_menu(&self) -> bool {
        false
    }

    #[zbus(property)]
    fn menu(&self) -> ObjectPath<'static> {
        ObjectPath::from_static_str_unchecked(super::menu::PATH)
    }

    fn activate(&self, _x: i32, _y: i32) {
        self.orders.show(ShowRequest::Inbox);
    }

    fn secondary_activate(&self, _x: i32, _y: i32) {
        self.orders.show(ShowRequest::Inbox);
    }

    /// The tray shows the menu itself.
    fn context_menu(&self, _x: i32, _y: i32) {}

    fn scroll(&self, _delta: i32, _orientation: &str) {}

    #[zbus(name = "ProvideXdgActivationToken")]
    fn provide_xdg_activation_token(&self, token: String) {
        self.orders.allow(token);
    }
}

/// Signals that it has changed.
///
/// # Errors
/// The bus is gone.
pub(super) async fn tell(connection: &Connection) -> zbus::Result<()> {
    for signal in ["NewIcon", "NewAttentionIcon", "NewToolTip"] {
        connection.emit_signal(None::<&str>, PATH, INTERFACE, signal, &()).await?;
    }
    let item = connection.object_server().interface::<_, Item>(PATH).await?;
    let status = item.get().await.status();
    connection.emit_signal(None::<&str>, PATH, INTERFACE, "NewStatus", &status).await
}
