//! Text from outside: decoded, cut to size, made fit to be shown.

mod capture;
mod escape;
mod utf8;

pub(crate) use capture::{Capture, clip};
pub(crate) use escape::{escape, one_line};
pub(crate) use utf8::Utf8;

/// A result's texts are no longer than this together, in characters.
pub(crate) const RESULT_CHARS: usize = 30_000;
