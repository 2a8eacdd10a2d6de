//! How messages become bytes: JSON-RPC 2.0 lines for scripts, bincode frames for our own clients.
//!
//! Both sides of both codecs are here, so that a test can compare them.

pub mod binary;
pub mod json;

use crate::{error::Error, method::Reply, method::Request, notification::Notification};

/// A message that cannot be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("a message of {0} bytes is over the limit of {max}", max = crate::hello::MAX_FRAME)]
    TooLarge(usize),
    #[error("cannot encode as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot encode as bincode: {0}")]
    Binary(#[from] bincode::error::EncodeError),
}

/// Bytes that are not a message.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("not valid: {0}")]
    Json(#[from] serde_json::Error),
    #[error("not a valid frame: {0}")]
    Binary(#[from] bincode::error::DecodeError),
    #[error("{0} bytes are left over")]
    Trailing(usize),
}

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Repeated in the reply. Absent in JSON for a notification, which is carried out and gets no reply.
    pub id: Option<RequestId>,
    /// The decoded request, or the error to reply with.
    pub request: Result<Request, Error>,
    /// What it has that is ignored, in words for the reply. Only in JSON.
    pub warnings: Vec<String>,
}

/// A request's id, the client's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestId {
    Number(u64),
    /// Any other JSON-RPC id, as JSON.
    Other(String),
}

/// What the daemon sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    Reply {
        id: RequestId,
        reply: Result<Reply, Error>,
        /// See [`Incoming::warnings`].
        warnings: Vec<String>,
    },
    /// An error without a request: the message's id could not be decoded.
    Error(Error),
    Notification(Notification),
}

/// What a client receives. A reply's body stays encoded until the caller, who knows its type, decodes it.
#[expect(clippy::large_enum_variant, reason = "one lives at a time, and most are notifications")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    Reply {
        id: u64,
        body: Result<ReplyBody, Error>,
    },
    Notification(Notification),
    /// A message of a kind that this client does not know.
    Unknown,
    /// An error that belongs to no request.
    Error(Error),
}

/// An undecoded reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBody {
    Json(String),
    Binary(Vec<u8>),
}

impl ReplyBody {
    pub(crate) fn decode<T: serde::de::DeserializeOwned>(&self) -> Result<T, DecodeError> {
        match self {
            Self::Json(text) => Ok(serde_json::from_str(text)?),
            Self::Binary(bytes) => binary::decode(bytes),
        }
    }
}

/// The codec of a connection after `hello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Lines: what `encode_*` makes ends with a newline, what `decode_*` takes has none.
    Json,
    /// The payload of a length-delimited frame (u32 big-endian length, not counting itself).
    Binary,
}

impl Codec {
    /// The codec of that name on the wire.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            crate::hello::JSON => Some(Self::Json),
            crate::hello::BINCODE => Some(Self::Binary),
            _ => None,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => crate::hello::JSON,
            Self::Binary => crate::hello::BINCODE,
        }
    }

    /// # Errors
    /// Too large, or not representable.
    pub fn encode_request(self, id: u64, request: &Request) -> Result<Vec<u8>, EncodeError> {
        limited(match self {
            Self::Json => json::encode_request(id, request)?,
            Self::Binary => binary::encode_request(id, request)?,
        })
    }

    /// # Errors
    /// Too large, or not representable.
    pub fn encode_outgoing(self, outgoing: &Outgoing) -> Result<Vec<u8>, EncodeError> {
        limited(match self {
            Self::Json => json::encode_outgoing(outgoing)?,
            Self::Binary => binary::encode_outgoing(outgoing)?,
        })
    }

    /// Never fails as a whole: a message that is not understood becomes an error for the reply.
    #[must_use]
    pub fn decode_incoming(self, bytes: &[u8]) -> Incoming {
        match self {
            Self::Json => json::decode_incoming(bytes),
            Self::Binary => binary::decode_incoming(bytes),
        }
    }

    /// # Errors
    /// The bytes are not a message.
    pub fn decode_received(self, bytes: &[u8]) -> Result<Received, DecodeError> {
        match self {
            Self::Json => json::decode_received(bytes),
            Self::Binary => binary::decode_received(bytes),
        }
    }
}

fn limited(bytes: Vec<u8>) -> Result<Vec<u8>, EncodeError> {
    if bytes.len() > crate::hello::MAX_FRAME { Err(EncodeError::TooLarge(bytes.len())) } else { Ok(bytes) }
}
