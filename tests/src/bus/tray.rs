use crate::wait;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use zbus::{Connection, OwnedVariant, Variant, connection::Builder, interface};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const WATCHER_PATH: &str = "/StatusNotifierWatcher";
const ITEM: &str = "org.kde.StatusNotifierItem";
const ITEM_PATH: &str = "/StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";
const MENU_PATH: &str = "/MenuBar";

/// A desktop's tray: the list of icons, and a host that shows them. It ends when it is dropped.
pub struct Tray {
    server: Connection,
    icons: Arc<Mutex<Vec<String>>>,
}

/// An icon in the tray, by its name on the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icon(String);

/// A picture: width, height, and four bytes a pixel: alpha, red, green, blue.
pub type Pixmap = (i32, i32, Vec<u8>);
/// Icon, pictures, title, text.
type ToolTip = (String, Vec<Pixmap>, String, String);

/// What an icon shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub status: String,
    pub title: String,
    pub words: String,
    pub pixmaps: Vec<Pixmap>,
}

/// An entry of an icon's menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: i32,
    /// Empty for a line between two groups.
    pub label: String,
}

impl Icon {
    /// Its name on the bus.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Tray {
    pub(super) async fn start(address: &str) -> zbus::Result<Self> {
        let icons = Arc::<Mutex<Vec<String>>>::default();
        let watcher = Watcher { icons: Arc::clone(&icons) };
        let builder = Builder::address(address).name(WATCHER);
        Ok(Self { server: builder.serve_at(WATCHER_PATH, watcher).build().await?, icons })
    }

    /// Waits until so many icons have registered; returns them.
    ///
    /// # Panics
    /// They do not in time.
    pub async fn icons(&self, count: usize) -> Vec<Icon> {
        wait::wait_seeing("icons in the tray", async || {
            let icons = self.icons.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if icons.len() == count {
                Ok(icons.into_iter().map(Icon).collect())
            } else {
                Err(format!("{icons:?}"))
            }
        })
        .await
    }

    /// What the icon shows; `None` if it is gone.
    ///
    /// # Panics
    /// It shows something that a tray does not understand.
    pub async fn look(&self, icon: &Icon) -> Option<Look> {
        let properties = "org.freedesktop.DBus.Properties";
        let reply = self
            .server
            .call_method(Some(icon.0.as_str()), ITEM_PATH, Some(properties), "GetAll", &ITEM)
            .await;
        let mut all: HashMap<String, OwnedVariant> = reply.ok()?.body().deserialize().expect("properties");
        let mut take = |name: &str| all.remove(name).unwrap_or_else(|| panic!("the icon has no {name}"));
        let text = |value: OwnedVariant| String::try_from(value).expect("a text");
        let pixmaps: Vec<Pixmap> = take("IconPixmap").try_into().expect("pictures");
        let (_, _, title, words): ToolTip = take("ToolTip").try_into().expect("a tool tip");
        assert_eq!(text(take("Id")), "dev.abide.Abide");
        assert_eq!(text(take("Category")), "ApplicationStatus");
        Some(Look { status: text(take("Status")), title, words, pixmaps })
    }

    /// Waits until the icon's look satisfies `is_so`.
    ///
    /// # Panics
    /// It does not in time.
    pub async fn wait_look(&self, icon: &Icon, what: &str, is_so: impl Fn(&Look) -> bool) -> Look {
        wait::wait_seeing(what, async || match self.look(icon).await {
            Some(look) if is_so(&look) => Ok(look),
            Some(look) => Err(format!("{}, {}", look.status, look.words)),
            None => Err("no icon".to_owned()),
        })
        .await
    }

    /// Waits until the icon is gone from the bus.
    ///
    /// # Panics
    /// It stays.
    pub async fn wait_gone(&self, icon: &Icon) {
        wait::wait_until("the icon to be gone", async || self.look(icon).await.is_none()).await;
    }

    /// Clicks on the icon, as a tray does: with a token for the window first.
    ///
    /// # Panics
    /// It does not answer.
    pub async fn click(&self, icon: &Icon) {
        self.call(icon, ITEM_PATH, ITEM, "ProvideXdgActivationToken", &"a token").await;
        self.call(icon, ITEM_PATH, ITEM, "Activate", &(10, 10)).await;
    }

    /// The entries of the icon's menu, from the top.
    ///
    /// # Panics
    /// The menu is none that a tray understands.
    pub async fn menu(&self, icon: &Icon) -> Vec<Entry> {
        let all = (0_i32, -1_i32, Vec::<String>::new());
        let reply = self.call(icon, MENU_PATH, MENU, "GetLayout", &all).await;
        type Layout = (i32, HashMap<String, OwnedVariant>, Vec<OwnedVariant>);
        let (_, (root, properties, entries)): (u32, Layout) = reply.body().deserialize().expect("a menu");
        assert_eq!(root, 0);
        assert!(properties.contains_key("children-display"), "{properties:?}");
        let entry = |entry: OwnedVariant| {
            let (id, mut properties, _): Layout = entry.try_into().expect("an entry");
            let label = properties.remove("label").map(|label| String::try_from(label).expect("a text"));
            assert!(label.is_some() || properties.contains_key("type"), "{properties:?}");
            Entry { id, label: label.unwrap_or_default() }
        };
        entries.into_iter().map(entry).collect()
    }

    /// Chooses an entry of the icon's menu.
    ///
    /// # Panics
    /// It does not answer.
    pub async fn choose(&self, icon: &Icon, id: i32) {
        let event = (id, "clicked", Variant::from(0_i32), 0_u32);
        self.call(icon, MENU_PATH, MENU, "Event", &event).await;
    }

    async fn call<B>(&self, icon: &Icon, path: &str, interface: &str, method: &str, body: &B) -> zbus::Message
    where
        B: serde::Serialize + zbus::wire::DynamicType,
    {
        let called =
            self.server.call_method(Some(icon.0.as_str()), path, Some(interface), method, body).await;
        called.unwrap_or_else(|error| panic!("the icon does not answer {method}: {error}"))
    }
}

struct Watcher {
    icons: Arc<Mutex<Vec<String>>>,
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: String) {
        let mut icons = self.icons.lock().unwrap_or_else(PoisonError::into_inner);
        if !icons.contains(&service) {
            icons.push(service);
        }
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}
