//! Notifications without actions, for systems other than Linux. Nobody has run it yet.

use super::{Desktop, Heard, Screen, Server};
use crate::notify::{Abilities, Popup};
use futures_util::{
    FutureExt as _,
    future::{self, BoxFuture},
};

/// The system's notification server.
#[derive(Debug, Default)]
pub struct SystemDesktop;

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
    type Screen = Plain;

    fn connect(&mut self) -> BoxFuture<'static, Result<Plain, String>> {
        let server = Server { name: String::new(), abilities: Abilities::default() };
        future::ready(Ok(Plain { server })).boxed()
    }
}

/// The system's notification server, of which nothing is heard.
#[derive(Debug)]
pub struct Plain {
    server: Server,
}

/// A notification that nothing is heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle;

impl Screen for Plain {
    type Handle = Handle;

    fn server(&self) -> &Server {
        &self.server
    }

    fn show(&self, popup: &Popup, _: Option<&Handle>) -> BoxFuture<'static, Result<Handle, String>> {
        let mut notification = notify_rust::Notification::new();
        notification.appname("Abide").summary(&popup.summary).body(&popup.body);
        async move {
            // It may block.
            let shown = tokio::task::spawn_blocking(move || notification.show().map(drop)).await;
            shown.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
            Ok(Handle)
        }
        .boxed()
    }

    fn close(&self, _: &Handle) -> BoxFuture<'static, ()> {
        future::ready(()).boxed()
    }

    async fn heard(&mut self) -> Heard<Handle> {
        future::pending().await
    }
}
