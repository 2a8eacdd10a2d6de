//! Whether the system is dark or light, and its changes, from the desktop portal.

#[cfg(target_os = "linux")]
use futures_util::StreamExt as _;
use futures_util::{Stream, stream};
use iced::Subscription;

/// Emits `true` for dark each time the system reports its scheme; nothing without a portal.
pub fn changes() -> Subscription<bool> {
    Subscription::run(watch)
}

#[cfg(target_os = "linux")]
fn watch() -> impl Stream<Item = bool> {
    stream::once(portal::open()).filter_map(async |opened| opened.ok()).flatten()
}

#[cfg(not(target_os = "linux"))]
fn watch() -> impl Stream<Item = bool> {
    stream::empty()
}

#[cfg(target_os = "linux")]
mod portal {
    use futures_util::{Stream, StreamExt as _, stream};
    use std::{future, pin::Pin};
    use zbus::{Connection, MatchRule, MessageStream, OwnedVariant, Variant, message::Type};

    const DESTINATION: &str = "org.freedesktop.portal.Desktop";
    const PATH: &str = "/org/freedesktop/portal/desktop";
    const SETTINGS: &str = "org.freedesktop.portal.Settings";
    const NAMESPACE: &str = "org.freedesktop.appearance";
    const KEY: &str = "color-scheme";

    /// The current scheme, then each new one.
    pub(super) async fn open() -> zbus::Result<Pin<Box<dyn Stream<Item = bool> + Send>>> {
        let bus = Connection::session().await?;
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(SETTINGS)
            .member("SettingChanged")
            .path(PATH)
            .build()?;
        let changed = MessageStream::for_match_rule(rule, &bus, None).await?;
        let reply =
            bus.call_method(Some(DESTINATION), PATH, Some(SETTINGS), "Read", &(NAMESPACE, KEY)).await?;
        let now: OwnedVariant = reply.body().deserialize()?;
        let first = stream::iter(is_dark(&now));
        let later = changed.filter_map(|signal| {
            let body = signal.ok().map(|signal| signal.body());
            let change: Option<(&str, &str, Variant<'_>)> =
                body.as_ref().and_then(|body| body.deserialize().ok());
            let scheme = change.filter(|(namespace, key, _)| (*namespace, *key) == (NAMESPACE, KEY));
            future::ready(scheme.and_then(|(_, _, value)| is_dark(&value)))
        });
        Ok(Box::pin(first.chain(later)))
    }

    /// 1 is dark, 2 light, 0 no preference. `Read` wraps the value in one more variant than its signature
    /// says.
    fn is_dark(value: &Variant<'_>) -> Option<bool> {
        match value {
            Variant::Variant(inner) => is_dark(inner),
            Variant::U32(1) => Some(true),
            Variant::U32(_) => Some(false),
            _ => None,
        }
    }
}
