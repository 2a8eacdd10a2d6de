//! The built-in `demo/demo`: no key, no network, and it says that it is a script. One question, one approval.

/// See [`crate::script`] for the format.
pub(crate) const SCRIPT: &str = include_str!("demo.json");
