use super::Notice;
#[cfg(target_os = "linux")]
use notify_rust::Timeout;

/// A place that shows notifications.
pub trait Desktop: Send {
    type Shown: Shown;

    /// # Errors
    /// It was not shown; the reason, for the log.
    fn show(&self, notice: &Notice) -> impl Future<Output = Result<Self::Shown, String>> + Send;
}

/// A notification on the screen.
pub trait Shown: Send + Sync {
    /// Closes the notification, if it is still shown.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// The system's notification server.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemDesktop;

#[cfg(target_os = "linux")]
fn notification(notice: &Notice) -> notify_rust::Notification {
    // Questions and approvals stay on the screen until they are settled. (Without raised urgency, which would break through "do not
    // disturb".)
    let timeout = if notice.what.is_open() { Timeout::Never } else { Timeout::Default };
    notify_rust::Notification::new()
        .appname("Abide")
        .icon("abide")
        .summary(&super::words::summary(notice))
        .body(&super::words::body(notice))
        .timeout(timeout)
        .hint(notify_rust::Hint::DesktopEntry("abide".to_owned()))
        .finalize()
}

#[cfg(target_os = "linux")]
impl Desktop for SystemDesktop {
    type Shown = notify_rust::NotificationHandle;

    async fn show(&self, notice: &Notice) -> Result<Self::Shown, String> {
        // Never the blocking `show`: it panics in a runtime.
        notification(notice).show_async().await.map_err(|e| e.to_string())
    }
}

#[cfg(target_os = "linux")]
impl SystemDesktop {
    /// The notification server's name and version.
    ///
    /// # Errors
    /// There is no server; the reason, in words.
    pub async fn server() -> Result<String, String> {
        const NAME: &str = "org.freedesktop.Notifications";
        let ask = async {
            let bus = zbus::Connection::session().await?;
            let path = "/org/freedesktop/Notifications";
            let reply = bus.call_method(Some(NAME), path, Some(NAME), "GetServerInformation", &()).await?;
            reply.body().deserialize::<(String, String, String, String)>()
        };
        let (name, _, version, _) = ask.await.map_err(|e: zbus::Error| e.to_string())?;
        Ok(format!("{name} {version}"))
    }
}

#[cfg(not(target_os = "linux"))]
impl SystemDesktop {
    /// # Errors
    /// Always, for now.
    pub async fn server() -> Result<String, String> {
        Err("desktop notifications are not supported on this system yet".to_owned())
    }
}

#[cfg(target_os = "linux")]
impl Shown for notify_rust::NotificationHandle {
    async fn close(self) {
        self.close_async().await;
    }
}

#[cfg(not(target_os = "linux"))]
impl Desktop for SystemDesktop {
    type Shown = std::convert::Infallible;

    async fn show(&self, _: &Notice) -> Result<Self::Shown, String> {
        Err("desktop notifications are not supported on this system yet".to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
impl Shown for std::convert::Infallible {
    async fn close(self) {
        match self {}
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
