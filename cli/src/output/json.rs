//! Output for programs: one document, or one line for each notification.

use crate::error::CommandError;
use abide_client::protocol::notification::{Notification, Snapshot};
use serde::Serialize;
use std::io::Write as _;

/// Why notifications have stopped, for now or for good.
#[derive(Serialize)]
pub(crate) struct Reason<'a> {
    pub(crate) reason: &'a str,
}

/// Prints a document, indented so that people can read it too.
pub(crate) fn document(value: &impl Serialize) -> Result<(), CommandError> {
    write(serde_json::to_string_pretty(value)?)
}

/// Prints one line as the socket's JSON codec does: `{"method":…,"params":…}`.
pub(crate) fn line(method: &str, params: &impl Serialize) -> Result<(), CommandError> {
    write(rendered(method, params)?)
}

pub(crate) fn snapshot(snapshot: &Snapshot) -> Result<(), CommandError> {
    line("snapshot", snapshot)
}

pub(crate) fn notification(notification: &Notification) -> Result<(), CommandError> {
    let name = notification.name();
    match notification {
        Notification::TaskMessage(n) => line(name, n),
        Notification::TaskEvent(n) => line(name, n),
        Notification::TaskUpdate(n) => line(name, n),
        Notification::InboxUpdate(n) => line(name, n),
        Notification::ConversationUpdate(n) => line(name, n),
        Notification::TaskDelta(n) => line(name, n),
        Notification::Lagged(n) => line(name, n),
        Notification::DaemonUpdate(n) => line(name, n),
        Notification::MemoryForgotten(n) => line(name, n),
    }
}

fn rendered(method: &str, params: &impl Serialize) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct CallLine<'a, P> {
        method: &'a str,
        params: &'a P,
    }
    serde_json::to_string(&CallLine { method, params })
}

fn write(mut text: String) -> Result<(), CommandError> {
    text.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_is_the_notification_as_the_wire_has_it() {
        assert_eq!(
            super::rendered("daemonUpdate", &serde_json::json!({"storageFull": false})).unwrap(),
            r#"{"method":"daemonUpdate","params":{"storageFull":false}}"#
        );
    }
}
