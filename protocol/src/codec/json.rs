//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one message a line, no batches.

use super::{DecodeError, EncodeError, Incoming, Outgoing, Received, ReplyBody, RequestId};
use crate::{
    error::{Error, ErrorKind},
    hello::{HelloParams, HelloReply},
    method::Request,
    notification::Notification,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct Notify<'a> {
    jsonrpc: &'static str,
    method: &'a str,
    params: &'a RawValue,
}

#[derive(Serialize)]
struct Success<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: &'a Error,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// Any message; its fields tell whether it is a request, a reply or a notification.
#[derive(Deserialize)]
struct AnyMessage<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Error>,
}

const VERSION: &str = "2.0";

fn line<T: Serialize>(message: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn raw_id(id: &RequestId) -> Result<Box<RawValue>, serde_json::Error> {
    match id {
        RequestId::Number(n) => RawValue::from_string(n.to_string()),
        RequestId::Other(text) => RawValue::from_string(text.clone()),
    }
}

pub(super) fn encode_request(id: u64, request: &Request) -> Result<Vec<u8>, EncodeError> {
    line(&Call { jsonrpc: VERSION, id, method: request.name(), params: request.to_json()? })
}

pub(super) fn encode_outgoing(outgoing: &Outgoing) -> Result<Vec<u8>, EncodeError> {
    match outgoing {
        Outgoing::Reply { id, reply: Ok(reply), warnings } => {
            line(&Success { jsonrpc: VERSION, id: &raw_id(id)?, result: reply.to_json()?, warnings })
        }
        Outgoing::Reply { id, reply: Err(error), warnings } => {
            line(&Failure { jsonrpc: VERSION, id: &raw_id(id)?, error, warnings })
        }
        Outgoing::Error(error) => {
            line(&Failure { jsonrpc: VERSION, id: RawValue::NULL, error, warnings: &[] })
        }
        Outgoing::Notification(n) => {
            line(&Notify { jsonrpc: VERSION, method: n.name(), params: &n.to_json()? })
        }
    }
}

/// The client's first line.
///
/// # Errors
/// Too large, or not representable.
pub fn encode_hello(params: &HelloParams) -> Result<Vec<u8>, EncodeError> {
    line(&Call { jsonrpc: VERSION, id: 0, method: "hello", params })
}

/// The daemon's first line.
///
/// # Errors
/// Not representable.
pub fn encode_hello_reply(id: &RequestId, reply: &Result<HelloReply, Error>) -> Result<Vec<u8>, EncodeError> {
    match reply {
        Ok(reply) => line(&Success { jsonrpc: VERSION, id: &raw_id(id)?, result: reply, warnings: &[] }),
        Err(error) => line(&Failure { jsonrpc: VERSION, id: &raw_id(id)?, error, warnings: &[] }),
    }
}

/// Reads a client's first line, which must be a `hello`.
pub fn decode_hello(bytes: &[u8]) -> (RequestId, Result<HelloParams, Error>) {
    let line = match read_line(bytes) {
        Ok(line) => line,
        Err(error) => return (RequestId::Other("null".to_owned()), Err(error)),
    };
    let id = line.id.map_or_else(|| RequestId::Other("null".to_owned()), request_id);
    if line.method.as_deref() != Some("hello") {
        let text = "the first line of a connection must be a `hello` request";
        return (id, Err(Error::new(ErrorKind::InvalidRequest, text)));
    }
    let params = line.params.map_or("{}", RawValue::get);
    let params = serde_json::from_str(params).map_err(|e| {
        Error::new(ErrorKind::InvalidParams, format!("the parameters of `hello` are wrong: {e}"))
    });
    (id, params)
}

/// Reads the daemon's first line.
///
/// # Errors
/// Not an answer to `hello`; the inner error is the daemon's refusal.
pub fn decode_hello_reply(bytes: &[u8]) -> Result<Result<HelloReply, Error>, DecodeError> {
    let line: AnyMessage<'_> = serde_json::from_slice(bytes)?;
    match (line.result, line.error) {
        (_, Some(error)) => Ok(Err(error)),
        (result, None) => Ok(Ok(serde_json::from_str(result.map_or("null", RawValue::get))?)),
    }
}

/// The line is a header of the Language Server Protocol, which many JSON-RPC libraries frame messages by.
#[must_use]
pub fn is_header(line: &[u8]) -> bool {
    let begins =
        |name: &str| line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()));
    begins("Content-Length:") || begins("Content-Type:")
}

/// The error for a client whose library sends such headers.
#[must_use]
pub fn no_headers() -> Error {
    let words = "messages are newline-delimited JSON here, one message a line, without `Content-Length` headers; set the JSON-RPC \
        library to lines (protocol/README.md says how)";
    Error::new(ErrorKind::Parse, words)
}

fn read_line(bytes: &[u8]) -> Result<AnyMessage<'_>, Error> {
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Error::new(
            ErrorKind::InvalidRequest,
            "batches are not supported: send one request a line",
        ));
    }
    serde_json::from_slice(bytes).map_err(|e| {
        if is_header(bytes) {
            no_headers()
        } else if e.is_data() {
            Error::new(ErrorKind::InvalidRequest, format!("not a JSON-RPC 2.0 request: {e}"))
        } else {
            Error::new(ErrorKind::Parse, format!("the line is not JSON: {e}"))
        }
    })
}

fn request_id(raw: &RawValue) -> RequestId {
    raw.get().parse().map_or_else(|_| RequestId::Other(raw.get().to_owned()), RequestId::Number)
}

/// How many unknown fields are named, and how much of each, in characters.
const NAMED: usize = 8;
const NAME: usize = 100;

/// Reads parameters; `unknown` gets the names of fields that they do not have, with dots between those of
/// fields within fields.
pub(crate) fn decode_params<T: DeserializeOwned>(
    params: &str,
    unknown: &mut Vec<String>,
) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_str(params);
    let decoded = serde_ignored::deserialize(&mut json, |path| {
        if unknown.len() < NAMED {
            // A question mark stands for a value that may be absent.
            unknown.push(path.to_string().replace("?.", "").chars().take(NAME).collect());
        }
    })?;
    json.end()?;
    Ok(decoded)
}

pub(super) fn decode_incoming(bytes: &[u8]) -> Incoming {
    let no_request = |id: Option<RequestId>, error| Incoming {
        id: id.or_else(|| Some(RequestId::Other("null".to_owned()))),
        request: Err(error),
        warnings: Vec::new(),
    };
    let line = match read_line(bytes) {
        Ok(line) => line,
        Err(error) => return no_request(None, error),
    };
    let id = line.id.map(request_id);
    let Some(method) = line.method else {
        return no_request(id, Error::new(ErrorKind::InvalidRequest, "the request names no `method`"));
    };
    let params = line.params.map_or("{}", RawValue::get);
    let mut unknown = Vec::new();
    let request = match Request::from_json(&method, params, &mut unknown) {
        Ok(Some(request)) => Ok(request),
        Ok(None) => Err(Error::new(ErrorKind::MethodNotFound, format!("there is no method `{method}`"))),
        Err(e) => {
            Err(Error::new(ErrorKind::InvalidParams, format!("the parameters of `{method}` are wrong: {e}")))
        }
    };
    let warning = |name| format!("`{method}` has no parameter `{name}`; it is ignored");
    Incoming { id, request, warnings: unknown.into_iter().map(warning).collect() }
}

pub(super) fn decode_received(bytes: &[u8]) -> Result<Received, DecodeError> {
    let line: AnyMessage<'_> = serde_json::from_slice(bytes)?;
    if let Some(method) = line.method {
        let params = line.params.map_or("null", RawValue::get);
        return Ok(
            Notification::from_json(&method, params)?.map_or(Received::Unknown, Received::Notification)
        );
    }
    let id = line.id.and_then(|raw| raw.get().parse().ok());
    Ok(match (id, line.error) {
        (Some(id), Some(error)) => Received::Reply { id, body: Err(error) },
        (Some(id), None) => {
            let result = line.result.map_or("null", RawValue::get).to_owned();
            Received::Reply { id, body: Ok(ReplyBody::Json(result)) }
        }
        (None, Some(error)) => Received::Error(error),
        (None, None) => Received::Unknown,
    })
}
