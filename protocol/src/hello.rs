//! The first line of every connection, always JSON, so that no codec can break it.

use serde::{Deserialize, Serialize};

/// The protocol version: raised for breaking changes only; growth is a capability.
pub const PROTOCOL: u32 = 1;
/// JSON-RPC 2.0, a line each.
pub const JSON: &str = "json";
/// Length-delimited bincode. The number is that of the types: any change of a wire type raises it.
pub const BINCODE: &str = "bincode-1";
/// The longest first line, in bytes.
pub const MAX_HELLO: usize = 64 * 1024;
/// The longest line or frame after it, in bytes.
pub const MAX_FRAME: usize = 8 * 1024 * 1024;

/// The parameters of `hello`, a client's first request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloParams {
    pub protocol: ProtocolRange,
    /// The codecs that the client knows, best first. Absent or empty: JSON.
    #[serde(default)]
    pub codecs: Vec<String>,
    #[serde(default)]
    pub client: PeerInfo,
}

/// Inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolRange {
    pub min: u32,
    pub max: u32,
}

/// Name and version of the program at one end of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PeerInfo {
    pub name: String,
    pub version: String,
}

/// The daemon's reply to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloReply {
    pub protocol: u32,
    /// The codec of all that follows, in both directions.
    pub codec: String,
    pub daemon: PeerInfo,
    pub capabilities: Vec<String>,
}
