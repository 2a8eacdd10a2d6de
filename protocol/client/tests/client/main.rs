//! The client against a daemon that the test plays in memory, and against real sockets and processes.

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
