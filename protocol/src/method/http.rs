//! The HTTP interface: where it listens, and the tokens of its clients.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::VariantNames;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServeHttpParams {
    /// As `http://localhost:5000`; all of them, or none if one cannot be listened on.
    pub urls: Vec<String>,
    /// Addresses that other machines reach are allowed. There is no TLS: what is said there can be read and
    /// changed on the way.
    pub plain: bool,
    /// It goes on when this connection ends.
    pub detach: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServeHttpReply {
    /// What was opened, with the ports that the system has chosen for port 0.
    pub urls: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StopHttpParams {
    /// No meaning; a struct without fields is not allowed on the wire.
    pub verbose: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopHttpReply {
    /// Where it listened until now.
    pub urls: Vec<String>,
}

/// Whether and where the HTTP interface listens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpStatus {
    pub urls: Vec<String>,
    /// Those of them that other machines reach, without TLS.
    pub plain: Vec<String>,
    /// What does not work, and why: an address that it should listen on, the file of tokens.
    pub failed: Option<String>,
}

/// What a token's bearer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum TokenAccess {
    /// Methods that only read.
    Read,
    /// Those that start, steer and answer tasks, too.
    Act,
}

/// A token, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// The name of the device that has it; records name it as the one who answered.
    pub name: String,
    pub access: TokenAccess,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddTokenParams {
    /// Unused; at most 64 bytes, no control characters.
    pub name: String,
    pub access: TokenAccess,
}

/// The only time that a token's text is shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddTokenReply {
    pub token: String,
    pub info: TokenInfo,
}

impl fmt::Debug for AddTokenReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddTokenReply").field("info", &self.info).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTokensParams {
    /// No meaning; a struct without fields is not allowed on the wire.
    pub verbose: bool,
}

/// By name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTokensReply {
    pub tokens: Vec<TokenInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RevokeTokenParams {
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RevokeTokenReply {
    /// What it was.
    pub info: TokenInfo,
}
