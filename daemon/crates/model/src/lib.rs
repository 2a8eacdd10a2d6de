//! Models: sends a request built from a transcript, streams live events, and returns one finished reply.
//!
//! No other crate knows a model's HTTP API. Invariants:
//!
//! * [`Models::complete`] is one attempt. It never retries, and dropping it cancels the request on the wire.
//!   (What a provider refuses with a 400 it has not worked on: a schema for the reply, reasoning that it does
//!   not give or cannot read any more. The request is sent without that.)
//! * The same entries always become the same bytes, and a longer transcript begins with the bytes of the
//!   shorter one, so that providers can cache the prefix.
//! * A provider's own JSON (`opaque`) goes back verbatim, and only to the api and model that it came from.
//! * What a server leaves in a reply's text is read in one place for all APIs (`spoken`): reasoning, and
//!   calls written as text.
//! * Keys travel in headers of the configured address and nowhere else: no redirects, no key in an error,
//!   event or `Debug`.
//! * What a provider sends is untrusted: events, replies, error bodies and lists are limited before they are
//!   kept.

mod anthropic;
mod api;
mod assembly;
mod config;
mod counts;
mod demo;
mod error;
mod fields;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod listing;
mod local;
mod models;
mod near;
mod openai;
mod overflow;
mod patience;
mod price;
mod quote;
mod reading;
mod replay;
mod request;
mod responses;
mod script;
mod server;
mod shape;
mod spoken;
mod sse;
mod stop;
mod surrogates;
mod wire;
mod written;

pub use api::{Api, ServerLocation, UnknownApi};
pub use config::{Keys, ProviderConfig, Secret};
pub use error::ModelError;
pub use local::{LocalPorts, find_local, find_local_on};
pub use models::{Models, Window};
pub use price::{Price, Prices};
pub use request::{MAX_RAW, ModelEvent, ModelRequest};
pub use written::Written;
