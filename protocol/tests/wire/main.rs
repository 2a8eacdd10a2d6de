//! The wire as others see it: golden files in both codecs, and what happens to bytes that are not messages.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test's way to say no")]

mod exhaustive;
mod frames;
mod golden;
mod lines;
mod random;
mod reference;
mod samples;
