//! The engine, proved without anything outside it: a history, a clock that stands still until told, and
//! people and a world played by the tests. Every append of every test goes through `audit`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that fails says where, and how to see it again"
)]

mod appends;
mod audit;
mod calls;
mod children;
mod command;
mod compaction;
mod control;
mod crash;
mod driver;
mod files;
mod floors;
mod forest;
mod imported;
mod incomplete;
mod intervene;
mod leaving;
mod limits;
mod line;
mod mint;
mod modes;
mod older;
mod panel;
mod people;
mod plan;
mod prompt;
mod reading;
mod recalled;
mod retries;
mod setup;
mod sim;
mod snapshot;
mod tree;
mod world;
