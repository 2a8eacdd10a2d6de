//! How a daemon was started, and whether one is started at login.

use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// How the daemon that answers was started, and whether one is started at login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartStatus {
    pub by: StartedBy,
    pub at_login: AtLogin,
}

/// Who started the daemon, as far as it can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum StartedBy {
    /// A client that needed it.
    Client,
    /// A person, in a terminal.
    Terminal,
    /// The desktop, at login, by its autostart entry.
    Autostart,
    /// systemd, or another program that passes a listening socket as systemd does.
    Systemd(SystemdStart),
    /// Another program, without a terminal.
    Program,
}

/// A start by systemd.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemdStart {
    /// Absent: another program passed the socket.
    pub unit: Option<String>,
    /// Whether the listening socket was passed to it, so that clients need not wait for a daemon to start
    /// one.
    pub socket: bool,
}

/// What starts a daemon of this home at login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AtLogin {
    /// Abide cannot find out on this system.
    Unknown,
    /// Nothing: the first client starts it.
    Nothing,
    /// The systemd unit at this path is enabled.
    Systemd(String),
    /// The desktop starts it by the entry at this path.
    Autostart(String),
}
