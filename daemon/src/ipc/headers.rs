//! Refuses JSON-RPC libraries that frame messages with `Content-Length` headers, in a frame that they can
//! read.

use abide_host::framing::Framing;
use abide_protocol::{
    codec::{EncodeError, RequestId, json},
    hello::MAX_HELLO,
};
use futures_util::StreamExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::codec::FramedRead;

/// The most header lines of a message.
const MAX_HEADERS: usize = 8;

/// The refusal, framed, with the id of the request after the headers.
pub(super) async fn refusal<R>(
    first: &[u8],
    requests: &mut FramedRead<R, Framing>,
) -> Result<Vec<u8>, EncodeError>
where
    R: AsyncRead + Unpin,
{
    let body = body(first, requests).await.unwrap_or_default();
    // Without the id the library could not match the reply.
    let (id, _): (RequestId, _) = json::decode_hello(&body);
    let line = json::encode_hello_reply(&id, &Err(json::no_headers()))?;
    Ok([format!("Content-Length: {}\r\n\r\n", line.len()).as_bytes(), &line].concat())
}

async fn body<R>(first: &[u8], requests: &mut FramedRead<R, Framing>) -> Option<Vec<u8>>
where
    R: AsyncRead + Unpin,
{
    let mut length = length(first);
    for _ in 0..MAX_HEADERS {
        let header = requests.next().await?.ok()?;
        if header.trim_ascii().is_empty() {
            break;
        }
        length = length.or_else(|| self::length(&header));
    }
    let length = length.filter(|length| *length <= MAX_HELLO)?;
    let mut body = requests.read_buffer_mut().split().to_vec();
    let missing = length.saturating_sub(body.len());
    requests.get_mut().take(missing as u64).read_to_end(&mut body).await.ok()?;
    body.truncate(length);
    Some(body)
}

/// The body's length in bytes, if this is the header that has it.
fn length(header: &[u8]) -> Option<usize> {
    let (name, value) = std::str::from_utf8(header).ok()?.split_once(':')?;
    value.trim().parse().ok().filter(|_| name.eq_ignore_ascii_case("Content-Length"))
}
