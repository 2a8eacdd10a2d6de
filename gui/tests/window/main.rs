//! The window without a window: named states, what can be found in them, what a click asks for.

mod long;
mod preset;
mod screens;
mod updates;
