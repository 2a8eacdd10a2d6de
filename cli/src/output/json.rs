//! For programs: a document, or a line for each thing told.

use crate::error::CommandError;
use abide_client::protocol::notification::{Notification, Snapshot};
use serde::Serialize;
use std::io::Write as _;

/// Why nothing is told for now, or any more.
#[derive(Serialize)]
pub(crate) struct Reason<'a> {
    pub(crate) reason: &'a str,
}

/// One document, for people's eyes too.
pub(crate) fn document(value: &impl Serialize) -> Result<(), CommandError> {
    write(serde_json::to_string_pretty(value)?)
}

/// One line, as the socket's JSON codec has it: `{"method":…,"params":…}`.
pub(crate) fn line(method: &str, params: &impl Serialize) -> Result<(), CommandError> {
    write(told(method, params)?)
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
    }
}

fn told(method: &str, params: &impl Serialize) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Line<'a, P> {
        method: &'a str,
        params: &'a P,
    }
    serde_json::to_string(&Line { method, params })
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
            super::told("daemonUpdate", &serde_json::json!({"storageFull": false})).unwrap(),
            r#"{"method":"daemonUpdate","params":{"storageFull":false}}"#
        );
    }
}
