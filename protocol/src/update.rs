//! How the daemon goes over to a program that has replaced its own on disk.

use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// How far that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum UpdateStage {
    /// The configuration leaves it to a person (`abide daemon update`).
    Ready,
    /// It is under way, or is tried again as soon as nothing would be cut off by it.
    Waiting,
    /// All tasks are at a boundary. The new program starts now, and clients connect to it again.
    HandingOver,
    /// The new program cannot take over; the daemon goes on with its own.
    Refused,
}

/// A program on disk that is not the one that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStatus {
    pub stage: UpdateStage,
    /// Its path.
    pub program: String,
    /// Its version; absent if it does not say.
    pub version: Option<String>,
    /// The work that would be cut off, one line each.
    pub waits_for: Vec<String>,
    /// Why it cannot take over, and what to do about it.
    pub refused: Option<String>,
}
