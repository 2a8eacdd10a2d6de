//! What a text means, as a vector: texts about the same things have vectors in about the same direction.
//!
//! The model is all-MiniLM-L6-v2, whose weights a person installs ([`install()`]). It knows English. Everything
//! here runs in the calling thread: a text of 80 tokens takes some 40 ms.

mod embedder;
mod install;
mod model;
mod tokenizer;
mod vector;
mod weights;

#[cfg(test)]
mod published;

pub use embedder::{Embedder, IDLE};
pub use install::{InstallError, install};
pub use model::Model;
pub use vector::{Vector, in_bytes};
pub use weights::OpenError;

/// The length of a vector.
pub const DIMENSION: usize = 384;

/// Names the model and its program: vectors of another name cannot be compared with these.
pub const ID: &str = "all-MiniLM-L6-v2/builtin/1";
