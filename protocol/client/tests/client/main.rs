//! The client against a daemon in memory that the test plays itself, and against real sockets and processes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's way to say no")]

mod calls;
mod fold;
mod hello;
mod live;
mod peer;
mod script;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod start;
mod things;
