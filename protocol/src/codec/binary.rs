//! bincode 2.0.1, legacy configuration (little-endian, fixed-width integers), inside an envelope that lets a
//! peer skip what it does not know. Decoding has a byte limit: without one, a nine-byte input can abort the
//! process.

use super::{DecodeError, EncodeError, Incoming, Outgoing, Received, ReplyBody, RequestId};
use crate::{
    error::{Error, ErrorKind},
    hello::MAX_FRAME,
    method::Request,
    notification::Notification,
};
use bincode::{
    config::{Configuration, Fixint, Limit, LittleEndian},
    enc::write::SizeWriter,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

const CONFIG: Configuration<LittleEndian, Fixint, Limit<MAX_FRAME>> =
    bincode::config::legacy().with_limit::<MAX_FRAME>();

/// The body is the reply to the request with this id.
const REPLY: u32 = 1;
/// The body is an [`Error`].
const ERROR: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Envelope {
    /// The request's id; 0 for a notification.
    id: u64,
    /// The number of the method or notification, which tells the body's type.
    kind: u32,
    flags: u32,
    body: Vec<u8>,
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, EncodeError> {
    Ok(bincode::serde::encode_to_vec(value, CONFIG)?)
}

/// The size of a value in binary form, in bytes.
///
/// # Errors
/// Not representable.
pub fn encoded_len<T: Serialize>(value: &T) -> Result<usize, EncodeError> {
    let mut counted = SizeWriter::default();
    bincode::serde::encode_into_writer(value, &mut counted, CONFIG)?;
    Ok(counted.bytes_written)
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let (value, used) = bincode::serde::decode_from_slice(bytes, CONFIG)?;
    if used == bytes.len() { Ok(value) } else { Err(DecodeError::Trailing(bytes.len() - used)) }
}

pub(super) fn encode_request(id: u64, request: &Request) -> Result<Vec<u8>, EncodeError> {
    encode(&Envelope { id, kind: request.kind(), flags: 0, body: request.to_binary()? })
}

pub(super) fn encode_outgoing(outgoing: &Outgoing) -> Result<Vec<u8>, EncodeError> {
    let envelope = match outgoing {
        Outgoing::Reply { id, reply: Ok(reply), .. } => {
            Envelope { id: number(id), kind: reply.kind(), flags: REPLY, body: reply.to_binary()? }
        }
        Outgoing::Reply { id, reply: Err(error), .. } => {
            Envelope { id: number(id), kind: 0, flags: REPLY | ERROR, body: encode(error)? }
        }
        Outgoing::Error(error) => Envelope { id: 0, kind: 0, flags: ERROR, body: encode(error)? },
        Outgoing::Notification(n) => Envelope { id: 0, kind: n.kind(), flags: 0, body: n.to_binary()? },
    };
    encode(&envelope)
}

fn number(id: &RequestId) -> u64 {
    match id {
        RequestId::Number(n) => *n,
        RequestId::Other(_) => 0,
    }
}

pub(super) fn decode_incoming(bytes: &[u8]) -> Incoming {
    let envelope: Envelope = match decode(bytes) {
        Ok(envelope) => envelope,
        Err(e) => {
            return Incoming {
                id: None,
                request: Err(Error::new(ErrorKind::Parse, format!("the frame is {e}"))),
                warnings: Vec::new(),
            };
        }
    };
    let request = match Request::from_binary(envelope.kind, &envelope.body) {
        Ok(Some(request)) => Ok(request),
        Ok(None) => Err(Error::new(
            ErrorKind::MethodNotFound,
            format!("there is no method of kind {}", envelope.kind),
        )),
        Err(e) => {
            Err(Error::new(ErrorKind::InvalidParams, format!("the body of kind {} is {e}", envelope.kind)))
        }
    };
    Incoming { id: Some(RequestId::Number(envelope.id)), request, warnings: Vec::new() }
}

pub(super) fn decode_received(bytes: &[u8]) -> Result<Received, DecodeError> {
    let Envelope { id, kind, flags, body } = decode(bytes)?;
    Ok(match (flags & REPLY != 0, flags & ERROR != 0) {
        (true, true) => Received::Reply { id, body: Err(decode(&body)?) },
        (true, false) => Received::Reply { id, body: Ok(ReplyBody::Binary(body)) },
        (false, true) => Received::Error(decode(&body)?),
        (false, false) => {
            Notification::from_binary(kind, &body)?.map_or(Received::Unknown, Received::Notification)
        }
    })
}
