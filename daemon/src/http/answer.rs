//! One request: who asks, whether that is allowed, and the answer.

use super::{
    agent, page,
    refusal::Refusal,
    route::{self, Endpoint},
    session, socket, source,
    tokens::{Device, Faulty},
};
use crate::service::{Caller, Line, Service};
use abide_protocol::{
    Error, ErrorKind,
    method::{Reply, Request as Asked},
    record::Via,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    http::request::Parts,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{sync::oneshot, time::Instant};

/// The longest body of a request, in bytes.
pub(super) const MAX_BODY: usize = 2 * 1024 * 1024;
/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// What is read of a body that is too long, before that is answered: a client that still writes would not
/// read the answer.
const MAX_DISCARDED: usize = 64 * 1024 * 1024;

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A device that asks for something, on a line of its own.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) service: Service,
    pub(super) line: Arc<Line>,
    pub(super) device: Device,
}

/// Answers a request; an error is an answer too.
pub(super) async fn answer(
    service: Service,
    local: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (mut head, body) = request.into_parts();
    socket::authorize(&mut head);
    let (answered, is_known) = match enter(&service, local, &head).await {
        Ok(Entrant::Device(device)) => (answer_device(service, device, &head, body).await, true),
        Ok(Entrant::Anybody(endpoint)) => (Ok(answer_anybody(endpoint, &head.headers)), false),
        Err(refusal) => (Err(refusal), false),
    };
    let mut response = answered.unwrap_or_else(Refusal::into_response);
    if !is_known {
        // Who has no token keeps no place among the connections.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Who asks.
enum Entrant {
    /// It asks for what is open without a token.
    Anybody(Endpoint),
    Device(Device),
}

async fn enter(service: &Service, local: SocketAddr, head: &Parts) -> Result<Entrant, Refusal> {
    let hosts = service.settings.recent().await.config().http.hosts.clone();
    source::check(&head.uri, &head.headers, local, &hosts)?;
    match route::find(head.method.as_str(), head.uri.path()) {
        Ok((route, _)) if route.access.is_none() => Ok(Entrant::Anybody(route.endpoint)),
        // Before anything is said about what there is.
        _ => device(service, &head.headers).map(Entrant::Device),
    }
}

fn answer_anybody(endpoint: Endpoint, headers: &HeaderMap) -> Response<Body> {
    match endpoint {
        Endpoint::Home if page::is_wanted(headers) => page::page(),
        Endpoint::PageStyle => page::style(),
        Endpoint::PageScript => page::script(),
        Endpoint::Home => json(StatusCode::OK, &json!({ "name": "abide", "status": "ok" })),
        _ => json(StatusCode::OK, &json!({ "status": "ok" })),
    }
}

async fn answer_device(
    service: Service,
    device: Device,
    head: &Parts,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let (route, named) = route::find(head.method.as_str(), head.uri.path())?;
    if route.access > Some(device.may) {
        let words = format!("the token {:?} may only read", device.name);
        return Err(Refusal::new(ErrorKind::Forbidden, words));
    }
    let body = if head.method == "POST" { read(body).await? } else { Bytes::new() };
    // A body may take its time.
    if device.revoked.is_cancelled() {
        return Err(void());
    }
    let asker = Asker::on_line(service, device);
    match route.endpoint {
        Endpoint::AgentStream
        | Endpoint::AgentTree
        | Endpoint::GetAgent
        | Endpoint::Intervene
        | Endpoint::AnswerAgent => agent::answer(asker, route.endpoint, &named, head, &body).await,
        Endpoint::Socket => socket::open(asker, head).await,
        endpoint => session::answer(asker, endpoint, &named, head, &body).await,
    }
}

/// The bearer of the request's token.
fn device(service: &Service, headers: &HeaderMap) -> Result<Device, Refusal> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(given), None) = (given.next(), given.next()) else {
        return Err(Refusal::unauthorized(
            "this needs a token: `Authorization: Bearer TOKEN`; `abide token add NAME` makes one",
        ));
    };
    let token = given.to_str().ok().and_then(|given| given.split_once(' '));
    let token =
        token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    let http = &service.http;
    let bearer = token.map(|token| http.inner.tokens.bearer(token)).transpose();
    let bearer = bearer.map_err(|Faulty| {
        let words = "the tokens cannot be read; `abide doctor` on the daemon's machine says why";
        Refusal::new(ErrorKind::Storage, words)
    })?;
    if let Some(device) = bearer.flatten() {
        return Ok(device);
    }
    if !http.may_guess(Instant::now()) {
        return Err(Refusal::too_many_guesses());
    }
    Err(void())
}

fn void() -> Refusal {
    Refusal::unauthorized("this token is not known, or was revoked; `abide token add NAME` makes one")
}

/// The whole body, if it is not too long.
async fn read(mut body: Incoming) -> Result<Bytes, Refusal> {
    let mut whole = Vec::new();
    let mut length = 0;
    let reading = async {
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|e| Refusal::new(ErrorKind::InvalidRequest, format!("the body: {e}")))?;
            let Ok(data) = frame.into_data() else { continue };
            length += data.len();
            if length <= MAX_BODY {
                whole.extend_from_slice(&data);
            } else if length > MAX_DISCARDED {
                break;
            }
        }
        Ok::<_, Refusal>(())
    };
    let in_time = tokio::time::timeout(BODY_TIME, reading).await;
    in_time.map_err(|_| Refusal::new(ErrorKind::InvalidRequest, "the body did not come in time"))??;
    if length > MAX_BODY {
        let words = format!("the body is over the limit of {MAX_BODY} bytes");
        return Err(Refusal::new(ErrorKind::TooLarge, words));
    }
    Ok(whole.into())
}

impl Asker {
    /// On a line of its own.
    pub(super) fn on_line(service: Service, device: Device) -> Self {
        let caller = Caller { via: Via::Http, name: device.name.clone(), may: device.may };
        Self { line: Line::open(service.clone(), caller), service, device }
    }

    /// Asks the service. What was asked for is done also if the client goes away meanwhile.
    pub(super) async fn ask(&self, request: Asked) -> Result<Reply, Error> {
        let (answer, answered) = oneshot::channel();
        let line = self.line.clone();
        self.service.supervisor.spawn("http request", async move {
            line.request(request, |reply| drop(answer.send(reply))).await;
        });
        let ends = || Error::new(ErrorKind::ShuttingDown, "the daemon is shutting down");
        answered.await.unwrap_or_else(|_| Err(ends()))
    }
}

/// The names and values of a query.
pub(super) fn query(uri: &Uri) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Reads a JSON body; an empty one is an empty object.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|e| match e.classify() {
        serde_json::error::Category::Data => Refusal::new(ErrorKind::InvalidParams, format!("the body: {e}")),
        _ => Refusal::new(ErrorKind::Parse, format!("the body is not JSON: {e}")),
    })
}

/// A whole answer in JSON.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let (status, text) = match serde_json::to_vec(value) {
        Ok(text) => (status, text),
        Err(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, br#"{"error":"the answer cannot be written"}"#.to_vec())
        }
    };
    response(status, "application/json", Full::new(Bytes::from(text)).boxed_unsync())
}

/// An answer that nobody keeps, and that a browser does not take for something else.
pub(super) fn response(status: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
