//! Brings the window to a place in it.

use super::WindowPage;
use abide_host::{
    Home,
    program::{self, WindowError},
};
use std::{ffi::OsStr, time::Duration};

/// How long a window's program may take to end with an error that is noticed.
const SOON: Duration = Duration::from_secs(3);
/// What lets a window come to the front, on Wayland and on X11.
const VARIABLES: [&str; 2] = ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"];

/// Why the window was not opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("its program abide-gui is not installed; install it, or use the command line: {command}")]
    NotInstalled { command: String },
    #[error("{0}")]
    Start(WindowError),
    #[error("its program ended at once ({0}); `abide gui` on a terminal says why")]
    Ended(std::process::ExitStatus),
    #[cfg(target_os = "linux")]
    #[error("the running window does not answer ({0})")]
    Silent(String),
}

/// Asks the running window, or the one that the desktop starts; else starts its program.
pub(super) async fn open(home: &Home, place: WindowPage, token: Option<&str>) -> Result<(), OpenError> {
    #[cfg(target_os = "linux")]
    if session::activate(home, place, token).await? {
        return Ok(());
    }
    let id = match place {
        WindowPage::Conversation(id) => Some((id.to_string(), format!("abide show {}", id.short()))),
        WindowPage::Inbox => None,
    };
    let (arguments, command) = match &id {
        Some((id, show)) => (vec!["--conversation", id], show.as_str()),
        None => (vec!["--inbox"], "abide inbox"),
    };
    let variables = token.into_iter().flat_map(|token| VARIABLES.map(|name| (name, OsStr::new(token))));
    let started = program::open_window(home, &arguments, variables).map_err(|error| match error {
        WindowError::NotFound => OpenError::NotInstalled { command: command.to_owned() },
        error @ WindowError::Spawn { .. } => OpenError::Start(error),
    })?;
    match tokio::time::timeout(SOON, started.end()).await {
        Ok(Some(status)) if !status.success() => Err(OpenError::Ended(status)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// <https://specifications.freedesktop.org/desktop-entry-spec/latest/dbus.html>
#[cfg(target_os = "linux")]
mod session {
    use super::{OpenError, WindowPage};
    use abide_host::{
        Home,
        application::{INBOX, PATH, SHOW, bus_name},
    };
    use std::{collections::HashMap, time::Duration};
    use zbus::{Connection, Variant, fdo};

    const APPLICATION: &str = "org.freedesktop.Application";
    /// How long a window may take to come. A bus starts a program within 25 s, or gives up.
    const WINDOW_TIME: Duration = Duration::from_secs(30);

    /// `false`: there is no window, and none that the bus can start.
    pub(super) async fn activate(
        home: &Home,
        place: WindowPage,
        token: Option<&str>,
    ) -> Result<bool, OpenError> {
        let called = tokio::time::timeout(WINDOW_TIME, call(home, place, token)).await;
        match called {
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) if is_absence(&error) => Ok(false),
            Ok(Err(error)) => Err(OpenError::Silent(error.to_string())),
            Err(_) => Err(OpenError::Silent(format!("for {} s", WINDOW_TIME.as_secs()))),
        }
    }

    async fn call(home: &Home, place: WindowPage, token: Option<&str>) -> zbus::Result<()> {
        let (action, parameters) = match place {
            WindowPage::Conversation(id) => (SHOW, vec![Variant::from(id.to_string())]),
            WindowPage::Inbox => (INBOX, Vec::new()),
        };
        let given = |token| [("activation-token", token), ("desktop-startup-id", token)];
        let platform: HashMap<&str, Variant<'_>> =
            token.into_iter().flat_map(given).map(|(key, token)| (key, Variant::from(token))).collect();
        let bus = Connection::session().await?;
        let body = (action, parameters, platform);
        let name = bus_name(home);
        bus.call_method(Some(name.as_str()), PATH, Some(APPLICATION), "ActivateAction", &body).await.map(drop)
    }

    /// There is no such program on the bus, or it could not be started.
    fn is_absence(error: &zbus::Error) -> bool {
        match error {
            zbus::Error::FDO(error) => matches!(
                **error,
                fdo::Error::ServiceUnknown(_)
                    | fdo::Error::NameHasNoOwner(_)
                    | fdo::Error::SpawnExecFailed(_)
                    | fdo::Error::SpawnForkFailed(_)
                    | fdo::Error::SpawnChildExited(_)
                    | fdo::Error::SpawnChildSignaled(_)
                    | fdo::Error::SpawnFailed(_)
            ),
            zbus::Error::InputOutput(_) | zbus::Error::Address(_) => true,
            _ => false,
        }
    }
}
