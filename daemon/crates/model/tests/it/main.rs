//! The model crate against a real HTTP server that can stream badly.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "these are tests; clippy knows only their functions as such"
)]

mod anthropic;
mod ask;
mod embed;
mod errors;
mod failures;
mod golden;
mod limits;
mod listing;
mod openai;
mod overflow;
mod prefix;
mod responses;
mod script;
mod server;
mod shape;
mod spoken;
mod streams;
mod traces;
mod transport;
mod window;
