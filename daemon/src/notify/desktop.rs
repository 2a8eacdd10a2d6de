//! The seam to the system's notification server.

#[cfg(target_os = "linux")]
mod bus;
#[cfg(not(target_os = "linux"))]
mod plain;

#[cfg(target_os = "linux")]
pub use bus::SystemDesktop;
#[cfg(not(target_os = "linux"))]
pub use plain::SystemDesktop;

use super::{Abilities, Popup};
use futures_util::future::BoxFuture;
use std::fmt::Debug;

/// A place where a notification server can be found.
pub trait Desktop: Send {
    type Screen: Screen;

    /// Finds the server, which is started if it can be, and listens to it.
    ///
    /// # Errors
    /// There is none; the reason, for the log.
    fn connect(&mut self) -> BoxFuture<'static, Result<Self::Screen, String>>;
}

/// A connection to one notification server. What it has shown stays when it is dropped, and nothing more is
/// heard of it.
///
/// The operations may take as long as the server likes.
pub trait Screen: Send + 'static {
    /// Names a notification, also after it was closed, and never another one, also not one of another server.
    type Handle: Clone + PartialEq + Debug + Send + Sync + 'static;

    fn server(&self) -> &Server;

    /// Shows a notification, in place of an earlier one if that is still there.
    ///
    /// # Errors
    /// It was not shown; the reason, for the log.
    fn show(
        &self,
        popup: &Popup,
        replaces: Option<&Self::Handle>,
    ) -> BoxFuture<'static, Result<Self::Handle, String>>;

    /// Closes a notification, if it is still shown. Does not wait for the server.
    fn close(&self, shown: &Self::Handle) -> BoxFuture<'static, ()>;

    /// The next thing that the server reports about a notification, maybe somebody else's. Safe to cancel.
    fn heard(&mut self) -> impl Future<Output = Heard<Self::Handle>> + Send;
}

/// A notification server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name and version.
    pub name: String,
    pub abilities: Abilities,
}

/// What a notification server reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard<H> {
    Pressed {
        shown: H,
        /// The action's key.
        key: String,
        /// Lets a window come to the front.
        token: Option<String>,
    },
    Replied {
        shown: H,
        text: String,
    },
    Closed(H),
    /// The server has ended, another one has taken its place, or the connection is cut.
    Lost,
}

impl<H> Heard<H> {
    /// The notification that it is about.
    #[must_use]
    pub const fn shown(&self) -> Option<&H> {
        match self {
            Self::Pressed { shown, .. } | Self::Replied { shown, .. } | Self::Closed(shown) => Some(shown),
            Self::Lost => None,
        }
    }
}
