//! The wire format: golden files in both codecs, and how bytes that are not messages are refused.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test's way to say no")]

mod agent_updates;
mod exhaustive;
mod frames;
mod golden;
mod lines;
mod random;
mod reference;
mod samples;
