use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use zbus::{Connection, OwnedVariant, Variant, fdo, interface};

const PATH: &str = "/org/freedesktop/portal/desktop";
const NAMESPACE: &str = "org.freedesktop.appearance";
const KEY: &str = "color-scheme";

/// A desktop portal with one setting; it ends when it is dropped.
pub struct Portal {
    server: Connection,
    scheme: Arc<AtomicU32>,
}

/// The colour scheme that the system prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Dark = 1,
    Light = 2,
}

impl Portal {
    pub(super) async fn start(address: &str, scheme: Scheme) -> zbus::Result<Self> {
        let scheme = Arc::new(AtomicU32::new(scheme as u32));
        let settings = Settings { scheme: Arc::clone(&scheme) };
        let builder = zbus::connection::Builder::address(address).name("org.freedesktop.portal.Desktop");
        let server = builder.serve_at(PATH, settings).build().await?;
        Ok(Self { server, scheme })
    }

    /// Changes the colour scheme and signals it.
    ///
    /// # Panics
    /// The bus is gone.
    pub async fn change(&self, scheme: Scheme) {
        self.scheme.store(scheme as u32, Ordering::Relaxed);
        let change = (NAMESPACE, KEY, Variant::U32(scheme as u32));
        self.server
            .emit_signal(None::<&str>, PATH, "org.freedesktop.portal.Settings", "SettingChanged", &change)
            .await
            .expect("the bus takes signals");
    }
}

struct Settings {
    scheme: Arc<AtomicU32>,
}

#[interface(name = "org.freedesktop.portal.Settings")]
impl Settings {
    /// A real portal wraps the value twice here.
    fn read(&self, namespace: &str, key: &str) -> fdo::Result<OwnedVariant> {
        if (namespace, key) != (NAMESPACE, KEY) {
            return Err(fdo::Error::Failed(format!("there is no {namespace} {key}")));
        }
        let value = Variant::Variant(Box::new(Variant::U32(self.scheme.load(Ordering::Relaxed))));
        OwnedVariant::try_from(value).map_err(|e| fdo::Error::Failed(e.to_string()))
    }
}
