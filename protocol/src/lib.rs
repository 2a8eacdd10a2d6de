//! The words and the wire of Abide: types and pure encoding, no I/O, no clock, no logic.
//!
//! * data: [`conversation`], [`task`], [`message`], [`event`], [`agent_update`], [`inbox`], [`transcript`],
//!   [`shape`], [`record`]
//! * what models mean that spell it otherwise: [`spelling`]
//! * requests: [`method`] (one table), [`error`]
//! * notifications: [`notification`]
//! * what tasks recall: [`memory`]
//! * [`limits`], [`environment`]
//! * encoding: [`hello`], then [`codec`]
//!
//! Rules that keep both codecs honest (`tests/wire` enforces them): plain structs and externally tagged
//! enums, variants are only ever appended, no `flatten`, `tag`, `untagged` or `skip_serializing_if`, no
//! recursive and no zero-sized types. JSON of unknown shape travels as [`JsonText`]. Any change of a wire
//! type raises [`hello::BINCODE`]'s schema number.

pub mod agent_update;
pub mod checkpoint;
pub mod codec;
pub mod comment;
pub mod conversation;
pub mod environment;
pub mod error;
pub mod event;
pub mod hello;
mod ids;
pub mod inbox;
pub mod invisible;
mod json_text;
pub mod key;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod message;
pub mod method;
pub mod notification;
pub mod provider;
pub mod record;
pub mod sandbox;
pub mod shape;
pub mod spelling;
pub mod start;
pub mod task;
mod time;
pub mod transcript;
pub mod update;

pub use error::{Candidate, Error, ErrorKind, MAX_CANDIDATES};
pub use ids::{
    ApprovalId, CallId, ConversationId, ParseIdError, QuestionId, RecordId, Seq, SubscriptionId, TaskId,
};
pub use json_text::JsonText;
pub use time::Timestamp;
