//! What is answered instead of what was asked for. All errors have one shape.

use super::answer::{Body, json};
use abide_protocol::{Error, ErrorKind};
use abide_store::ReadError;
use hyper::{
    Response, StatusCode,
    header::{ALLOW, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde_json::json;

/// An error with its status.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) error: Error,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (status, header) = match error.kind() {
            ErrorKind::Parse
            | ErrorKind::InvalidRequest
            | ErrorKind::InvalidParams
            | ErrorKind::Ambiguous
            | ErrorKind::Unsupported => (StatusCode::BAD_REQUEST, None),
            ErrorKind::Forbidden => (StatusCode::FORBIDDEN, None),
            ErrorKind::MethodNotFound | ErrorKind::NotFound => (StatusCode::NOT_FOUND, None),
            ErrorKind::Conflict | ErrorKind::TaskRunning | ErrorKind::IllegalState => {
                (StatusCode::CONFLICT, None)
            }
            ErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, None),
            ErrorKind::ModelUnavailable | ErrorKind::SandboxRequired => {
                (StatusCode::UNPROCESSABLE_ENTITY, None)
            }
            ErrorKind::Internal | ErrorKind::Storage => (StatusCode::INTERNAL_SERVER_ERROR, None),
            ErrorKind::Overloaded | ErrorKind::ShuttingDown => {
                let soon = (RETRY_AFTER, HeaderValue::from_static("2"));
                (StatusCode::SERVICE_UNAVAILABLE, Some(Box::new(soon)))
            }
            ErrorKind::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, None),
        };
        Self { status, error, header }
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        tracing::error!("{error}");
        Self::new(ErrorKind::Storage, format!("{error}; `abide doctor` can tell more"))
    }
}

impl Refusal {
    pub(super) fn new(kind: ErrorKind, words: impl Into<String>) -> Self {
        Error::new(kind, words).into()
    }

    /// There is no token, or a void one.
    pub(super) fn unauthorized(words: &str) -> Self {
        let header = Some(Box::new((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))));
        Self { status: StatusCode::UNAUTHORIZED, header, ..Self::new(ErrorKind::Forbidden, words) }
    }

    pub(super) fn too_many_guesses() -> Self {
        let words = "too many wrong tokens were tried in the last minute; try again later";
        let header = Some(Box::new((RETRY_AFTER, HeaderValue::from_static("60"))));
        Self { status: StatusCode::TOO_MANY_REQUESTS, header, ..Self::new(ErrorKind::Overloaded, words) }
    }

    /// `allowed` are the methods that the path has.
    pub(super) fn wrong_method(allowed: &str) -> Self {
        let words = format!("this path is for {allowed}");
        let header = HeaderValue::from_str(allowed).ok().map(|methods| Box::new((ALLOW, methods)));
        Self { status: StatusCode::METHOD_NOT_ALLOWED, header, ..Self::new(ErrorKind::MethodNotFound, words) }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let Self { status, error: Error { code, message, data }, header } = self;
        let mut response = json(status, &json!({ "error": message, "code": code, "data": data }));
        if let Some(header) = header {
            let (name, value) = *header;
            response.headers_mut().insert(name, value);
        }
        response
    }
}
