//! The window without a window: named states, what can be found in them, what a click asks for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hands;
mod long;
mod painting;
mod person;
mod preset;
mod screens;
mod updates;
