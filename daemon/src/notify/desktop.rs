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
use std::fmt::Debug;

/// A place that shows notifications.
pub trait Desktop: Send {
    /// Names a notification, also after it was closed, and never another one.
    type Handle: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// What the server can do, and its name. It is looked for first.
    ///
    /// # Errors
    /// There is none; the reason, for the log.
    fn server(&mut self) -> impl Future<Output = Result<Server, String>> + Send;

    /// Shows a notification, in place of an earlier one if that is still there.
    ///
    /// # Errors
    /// It was not shown; the reason, for the log.
    fn show(
        &mut self,
        popup: &Popup,
        replaces: Option<&Self::Handle>,
    ) -> impl Future<Output = Result<Self::Handle, String>> + Send;

    /// Closes a notification, if it is still shown. Does not wait for the server.
    fn close(&mut self, shown: &Self::Handle) -> impl Future<Output = ()> + Send;

    /// The next thing that the server reports about a notification. Safe to cancel. Never returns while none was shown.
    fn heard(&mut self) -> impl Future<Output = Heard<Self::Handle>> + Send;

    /// Gives up the connection to the server: nothing is shown, or it does not answer.
    fn rest(&mut self);
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
    /// The connection is cut: nothing that was shown will be heard of any more.
    Lost,
}
