//! Properties of every decoder, for any bytes. The smoke test tries some inputs in every test run; the fuzz
//! targets in `targets/` run for as long as wanted: `tests/fuzz/run`.

#![expect(clippy::expect_used, clippy::panic, reason = "a property fails by panicking with words")]

mod answer;
mod arguments;
pub mod corpus;
mod cursor;
mod hello;
mod message;
mod meter;
mod record;
mod rules;

pub use answer::{sse_anthropic, sse_openai, sse_responses};
pub use arguments::{Place, arguments};
pub use cursor::cursor;
pub use hello::hello;
pub use message::{frame, line};
pub use record::stored_record;
pub use rules::rules;
