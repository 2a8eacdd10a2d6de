//! Text from outside: decodes it, limits its length, makes it safe to show.

mod capture;
mod encoding;
mod escape;
mod utf8;

pub(crate) use capture::{Capture, clip};
pub(crate) use encoding::{Decoded, Encoding, decode};
pub(crate) use escape::{escape, one_line};
pub(crate) use utf8::Utf8;

/// The most characters of all texts of a result together.
pub(crate) const RESULT_CHARS: usize = 30_000;
