//! The HTTP side of the server. The response's body itself plays the reply, so it ends with the connection.

use super::{
    Fault, Outcome, anthropic,
    exchange::{Admitted, Exchange, Ticket},
    frames::{self, Frame, Odd},
    openai, responses,
};
use bytes::Bytes;
use hyper::{
    Request, Response,
    body::{Body, Frame as BodyFrame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};
use tokio::{net::TcpStream, sync::mpsc};

/// The longest request, in bytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    OpenAi,
    Responses,
    Anthropic,
}

impl Wire {
    fn error(self, code: u16, words: &str) -> String {
        match self {
            Self::OpenAi | Self::Responses => openai::error(code, words),
            Self::Anthropic => anthropic::error(code, words),
        }
    }

    const fn odd(self) -> &'static Odd {
        match self {
            Self::OpenAi => &openai::ODD,
            Self::Responses => &responses::ODD,
            Self::Anthropic => &anthropic::ODD,
        }
    }
}

/// Serves one connection to its end.
pub(super) async fn serve(stream: TokioIo<TcpStream>, exchange: Arc<Exchange>) {
    let service = service_fn(move |request| {
        let exchange = Arc::clone(&exchange);
        async move { answer(request, &exchange).await }
    });
    // Either the client or the script has closed the connection.
    drop(http1::Builder::new().serve_connection(stream, service).await);
}

async fn answer(request: Request<Incoming>, exchange: &Arc<Exchange>) -> io::Result<Response<Play>> {
    let path = request.uri().path().to_owned();
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect::<Vec<_>>();
    if !exchange.lets_in(&headers) {
        return respond(401, None, "application/json", openai::error(401, "no such key"));
    }
    let wire = match path.as_str() {
        "/v1/models" => {
            let model =
                json!({ "id": super::MODEL, "object": "model", "type": "model", "display_name": "Scripted" });
            return respond(
                200,
                None,
                "application/json",
                json!({ "object": "list", "data": [model] }).to_string(),
            );
        }
        "/v1/embeddings" => {
            let body = text_of(request.into_body()).await?;
            let (status, answer) = exchange.embeddings().answer(&body).await;
            return respond(status, None, "application/json", answer);
        }
        "/v1/chat/completions" => Wire::OpenAi,
        "/v1/responses" => Wire::Responses,
        "/v1/messages" => Wire::Anthropic,
        other => {
            return respond(
                404,
                None,
                "application/json",
                openai::error(404, &format!("there is no {other}")),
            );
        }
    };
    let body = text_of(request.into_body()).await?;
    let at = Instant::now();
    let view = match wire {
        Wire::OpenAi => openai::read(&body),
        Wire::Responses => responses::read(&body),
        Wire::Anthropic if !headers.iter().any(|(name, _)| name == "anthropic-version") => {
            Err("there is no header `anthropic-version`".to_owned())
        }
        Wire::Anthropic => anthropic::read(&body),
    };
    let admitted = exchange.admit(view, &body, headers, at, |turn, id| match wire {
        Wire::OpenAi => openai::parts(turn, id),
        Wire::Responses => responses::parts(turn, id),
        Wire::Anthropic => anthropic::parts(turn, id),
    });
    match admitted {
        Ok(admitted) => reply(wire, &admitted, body.contains("\"include_usage\":true"), exchange),
        Err(words) => respond(400, None, "application/json", wire.error(400, &words)),
    }
}

fn reply(
    wire: Wire,
    admitted: &Admitted,
    wants_usage: bool,
    exchange: &Arc<Exchange>,
) -> io::Result<Response<Play>> {
    let Admitted { turn, id, attempt, ticket } = admitted;
    let fault = turn.faults.get(*attempt);
    let whole = || match wire {
        Wire::OpenAi => openai::frames(turn, id, wants_usage),
        Wire::Responses => responses::frames(turn, id),
        Wire::Anthropic => anthropic::frames(turn, id),
    };
    let frames = match fault {
        None => whole(),
        Some(fault) => {
            match fault {
                Fault::Status { code, retry_after } => {
                    exchange.ended(ticket, Outcome::Failed);
                    let words = format!("the script wants status {code}");
                    return respond(*code, *retry_after, "application/json", wire.error(*code, &words));
                }
                Fault::Close => {
                    exchange.ended(ticket, Outcome::Failed);
                    return Err(io::Error::other("the script wants no answer"));
                }
                _ => {}
            }
            frames::spoil(whole(), fault, wire.odd())
        }
    };
    let delivery = Delivery {
        exchange: Arc::clone(exchange),
        ticket: ticket.clone(),
        is_spoiled: fault.is_some(),
        outcome: Outcome::Abandoned,
    };
    stream(Play::of(frames, delivery))
}

fn stream(body: Play) -> io::Result<Response<Play>> {
    Response::builder().header("content-type", "text/event-stream").body(body).map_err(io::Error::other)
}

fn respond(code: u16, retry_after: Option<u32>, kind: &str, body: String) -> io::Result<Response<Play>> {
    let mut response = Response::builder().status(code).header("content-type", kind);
    if let Some(secs) = retry_after {
        response = response.header("retry-after", secs);
    }
    response.body(Play::all_at_once(body)).map_err(io::Error::other)
}

async fn text_of(mut body: Incoming) -> io::Result<String> {
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(io::Error::other)?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        if bytes.len() > MAX_BODY {
            return Err(io::Error::other("the request is too long"));
        }
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// A response's body: plays frames as fast as the client reads them.
pub(super) struct Play {
    player: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    chunks: mpsc::Receiver<io::Result<Bytes>>,
}

impl Play {
    fn of(frames: Vec<Frame>, delivery: Delivery) -> Self {
        let (sender, chunks) = mpsc::channel(1);
        Self { player: Some(Box::pin(play(frames, sender, delivery))), chunks }
    }

    fn all_at_once(text: String) -> Self {
        let (sender, chunks) = mpsc::channel(1);
        drop(sender.try_send(Ok(Bytes::from(text))));
        Self { player: None, chunks }
    }
}

impl Body for Play {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<BodyFrame<Bytes>>>> {
        if let Some(player) = &mut self.player
            && player.as_mut().poll(cx).is_ready()
        {
            self.player = None;
        }
        self.chunks.poll_recv(cx).map(|chunk| chunk.map(|c| c.map(BodyFrame::data)))
    }
}

async fn play(frames: Vec<Frame>, chunks: mpsc::Sender<io::Result<Bytes>>, mut delivery: Delivery) {
    // After the last gate nothing delays the reply, so it counts as given before its end is sent: the client
    // may send the next request before this side notices that it has finished.
    let mut gates = frames.iter().filter(|f| matches!(f, Frame::Gate(_))).count();
    for frame in frames {
        if gates == 0 {
            delivery.will_finish();
        }
        let sent = match frame {
            Frame::Bytes(bytes) => chunks.send(Ok(bytes)).await,
            Frame::Cut => {
                // Before a cut, what was sent must have left: the body's reader takes it and then waits.
                drop(chunks.reserve().await);
                tokio::task::yield_now().await;
                chunks.send(Err(io::Error::other("the script cuts here"))).await
            }
            Frame::Gate(gate) => {
                gate.pass().await;
                gates -= 1;
                Ok(())
            }
        };
        if sent.is_err() {
            return;
        }
    }
    // The body takes the last chunk before it asks for another one.
    if chunks.reserve().await.is_ok() {
        delivery.outcome = if delivery.is_spoiled { Outcome::Failed } else { Outcome::Answered };
    }
}

/// Records how a reply ended, also if it is dropped because the client has gone.
struct Delivery {
    exchange: Arc<Exchange>,
    ticket: Ticket,
    /// By a fault: something of the reply is missing.
    is_spoiled: bool,
    outcome: Outcome,
}

impl Delivery {
    fn will_finish(&self) {
        if !self.is_spoiled {
            self.exchange.sent_whole(&self.ticket);
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.exchange.ended(&self.ticket, self.outcome);
    }
}
