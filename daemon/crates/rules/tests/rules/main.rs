#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod corpus;
mod language;
mod leaving;
mod terminal;
mod verdicts;
mod witness;
