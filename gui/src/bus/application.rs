//! The interface `org.freedesktop.Application`, as the window has it, and calls of it.

use crate::arguments::ShowRequest;
use abide_host::application as names;
use std::{collections::HashMap, env};
use tokio::sync::watch;
use zbus::{Connection, OwnedVariant, Variant, fdo, interface};

const INTERFACE: &str = "org.freedesktop.Application";
/// The entry of a call's platform data with the token that allows to raise a window, and its older form.
const TOKEN: [&str; 2] = ["activation-token", "desktop-startup-id"];
/// The variables in which a launcher passes them on.
pub(crate) const VARIABLES: [&str; 2] = ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"];

/// The object on the bus.
pub(super) struct Application {
    /// Keeps the newest request: a flood of calls needs no memory.
    wanted: watch::Sender<Option<ShowRequest>>,
}

impl Application {
    pub(super) const fn new(wanted: watch::Sender<Option<ShowRequest>>) -> Self {
        Self { wanted }
    }

    fn want(&self, wanted: ShowRequest) {
        self.wanted.send_replace(Some(wanted));
    }
}

/// Platform data is accepted and not used: no window of winit takes an activation token while it is open.
#[interface(name = "org.freedesktop.Application", spawn = false, introspection_docs = false)]
impl Application {
    fn activate(&self, _platform_data: HashMap<String, OwnedVariant>) {
        self.want(ShowRequest::Window);
    }

    fn open(&self, _uris: Vec<String>, _platform_data: HashMap<String, OwnedVariant>) -> fdo::Result<()> {
        let words = "Abide opens no files by their address: drop a file on its window instead";
        Err(fdo::Error::NotSupported(words.to_owned()))
    }

    #[expect(clippy::needless_pass_by_value, reason = "the macro's")]
    fn activate_action(
        &self,
        name: String,
        parameter: Vec<OwnedVariant>,
        _platform_data: HashMap<String, OwnedVariant>,
    ) -> fdo::Result<()> {
        self.want(action(&name, parameter).map_err(fdo::Error::InvalidArgs)?);
        Ok(())
    }
}

/// What an action wants.
fn action(name: &str, parameter: Vec<OwnedVariant>) -> Result<ShowRequest, String> {
    match name {
        names::INBOX => Ok(ShowRequest::Inbox),
        names::SHOW => {
            let id = parameter.into_iter().next().and_then(|id| String::try_from(id).ok());
            let id = id.ok_or("the action `show` needs a conversation's id, a string")?;
            ShowRequest::conversation(&id).map_err(|error| error.to_string())
        }
        other => {
            let other: String = other.chars().take(64).collect();
            Err(format!(
                "there is no action {other:?}; there are `show` (with a conversation's id) and `inbox`"
            ))
        }
    }
}

/// The activation token that a launcher gave to this process.
pub(super) fn token() -> Option<String> {
    VARIABLES.iter().find_map(|name| env::var(name).ok()).filter(|token| !token.is_empty())
}

/// Asks the window with this name to show something; the bus starts it if it can.
///
/// # Errors
/// No window has it, or it refuses.
pub(crate) async fn ask(
    connection: &Connection,
    name: &str,
    wanted: &ShowRequest,
    token: Option<String>,
) -> zbus::Result<()> {
    let data: HashMap<&str, Variant<'_>> =
        token.iter().flat_map(|token| TOKEN.map(|key| (key, Variant::from(token.as_str())))).collect();
    let call = async |action: &str, parameter: Vec<Variant<'_>>| {
        let body = (action, parameter, &data);
        connection.call_method(Some(name), names::PATH, Some(INTERFACE), "ActivateAction", &body).await
    };
    match wanted {
        ShowRequest::Window => {
            connection.call_method(Some(name), names::PATH, Some(INTERFACE), "Activate", &(&data,)).await?
        }
        ShowRequest::Inbox => call(names::INBOX, Vec::new()).await?,
        ShowRequest::Conversation(id) => call(names::SHOW, vec![Variant::from(id.as_str())]).await?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> OwnedVariant {
        Variant::from(text).try_into().unwrap()
    }

    #[test]
    fn an_action_is_understood_or_refused_in_words() {
        assert_eq!(action("inbox", Vec::new()), Ok(ShowRequest::Inbox));
        let shown = action("show", vec![text("3f9a1c20")]);
        assert_eq!(shown, Ok(ShowRequest::Conversation("3f9a1c20".to_owned())));
        for (name, parameter, words) in [
            ("show", vec![], "needs a conversation's id"),
            ("show", vec![Variant::from(7_u32).try_into().unwrap()], "needs a conversation's id"),
            ("show", vec![text("../etc")], "no conversation's id"),
            ("quit", vec![], "there is no action \"quit\""),
        ] {
            let refused = action(name, parameter).unwrap_err();
            assert!(refused.contains(words), "{name}: {refused}");
        }
    }
}
