//! Tests of the window without a display: which texts its states show, and which requests keys and clicks send.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod afresh;
mod attaching;
mod away;
mod beginning;
mod calls;
mod changes;
mod configuration;
mod copying;
mod deleting;
mod display;
mod drawn;
mod finding;
mod flashing;
mod fonts;
mod hands;
mod held;
mod installed;
mod keyboard;
mod list;
mod long;
mod moving;
mod narrow;
mod opening;
mod painting;
mod pausing;
mod person;
mod phases;
mod preset;
mod reading;
mod rejecting;
mod replying;
mod screens;
mod searching;
mod selecting;
mod settings;
mod setup;
mod small;
mod steps;
mod streaming;
mod sub_tasks;
mod typing;
mod undo;
mod updates;
mod wanted;
