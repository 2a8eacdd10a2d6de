//! Notifications without actions, for systems other than Linux. Nobody has run it yet.

use super::{Desktop, Heard, Server};
use crate::notify::{Abilities, Popup};

/// The system's notification server.
#[derive(Debug, Default)]
pub struct SystemDesktop;

/// A notification that nothing is heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle;

impl SystemDesktop {
    /// The notification server.
    ///
    /// # Errors
    /// None.
    pub async fn describe() -> Result<String, String> {
        Ok("the system's, without buttons".to_owned())
    }
}

impl Desktop for SystemDesktop {
    type Handle = Handle;

    async fn server(&mut self) -> Result<Server, String> {
        Ok(Server { name: String::new(), abilities: Abilities::default() })
    }

    async fn show(&mut self, popup: &Popup, _: Option<&Handle>) -> Result<Handle, String> {
        let mut notification = notify_rust::Notification::new();
        notification.appname("Abide").summary(&popup.summary).body(&popup.body);
        // It may block.
        let shown = tokio::task::spawn_blocking(move || notification.show().map(drop)).await;
        shown.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        Ok(Handle)
    }

    async fn close(&mut self, _: &Handle) {}

    async fn heard(&mut self) -> Heard<Handle> {
        std::future::pending().await
    }

    fn rest(&mut self) {}
}
