//! What the targets share: properties that hold for any bytes.

mod meter;

pub use meter::measured;

use abide_model::{Api, ModelEvent, fuzzing::read};
use abide_protocol::{
    codec::{Codec, Outgoing, Received, RequestId},
    transcript::{Block, Reply},
};
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

/// Reads a message as a daemon and as a client would. What can be read can be written, in either codec, and is the same again.
pub fn both_ways(codec: Codec, bytes: &[u8]) {
    let bytes = if codec == Codec::Json { first_line(bytes) } else { bytes };
    let incoming = measured(|| codec.decode_incoming(bytes));
    match incoming.request {
        Ok(request) => {
            for codec in [Codec::Json, Codec::Binary] {
                let Ok(again) = codec.encode_request(7, &request) else { continue };
                let again = codec.decode_incoming(payload(codec, &again));
                assert_eq!((again.id, again.request), (Some(RequestId::Number(7)), Ok(request.clone())));
            }
        }
        Err(error) => {
            let id = incoming.id.unwrap_or(RequestId::Number(0));
            let told = Outgoing::Reply { id: id.clone(), reply: Err(error.clone()) };
            let told = codec.encode_outgoing(&told).expect("every error can be told");
            if codec == Codec::Json {
                assert_eq!(told.iter().position(|byte| *byte == b'\n'), Some(told.len() - 1), "one line");
            }
            let heard = codec.decode_received(payload(codec, &told)).expect("what was written can be read");
            if let RequestId::Number(id) = id {
                assert_eq!(heard, Received::Reply { id, body: Err(error) });
            }
        }
    }
    if let Ok(Received::Notification(notification)) = measured(|| codec.decode_received(bytes)) {
        for codec in [Codec::Json, Codec::Binary] {
            let Ok(again) = codec.encode_outgoing(&Outgoing::Notification(notification.clone())) else {
                continue;
            };
            let again = codec.decode_received(payload(codec, &again)).expect("what was written can be read");
            assert_eq!(again, Received::Notification(notification.clone()));
        }
    }
}

/// What reaches a decoder of lines.
pub fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Of what an encoder made, what a decoder takes.
fn payload(codec: Codec, bytes: &[u8]) -> &[u8] {
    match codec {
        Codec::Json => first_line(bytes),
        Codec::Binary => bytes,
    }
}

/// Reads a streamed answer. However it is cut into pieces on its way, it says the same, and what was shown of it is what it says.
pub fn answer(api: Api, body: &[u8]) {
    let whole = answered(api, body, body.len());
    let pieces = answered(api, body, 7);
    // An answer that breaks off breaks off somewhere: only whole ones can be compared.
    if let (Some(whole), Some(pieces)) = (&whole, &pieces) {
        assert_eq!(format!("{:?}", whole.blocks), format!("{:?}", pieces.blocks));
        assert_eq!((whole.stop_reason, whole.usage), (pieces.stop_reason, pieces.usage));
    }
}

fn answered(api: Api, body: &[u8], piece: usize) -> Option<Reply> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime =
        RUNTIME.get_or_init(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));
    let mut shown = String::new();
    let mut on_event = |event: ModelEvent| {
        if let ModelEvent::TextDelta(text) = event {
            shown.push_str(&text);
        }
    };
    let reply = measured(|| runtime.block_on(read(api, body, piece, &mut on_event))).ok()?;
    let text: String = reply
        .blocks
        .iter()
        .filter_map(|block| if let Block::Text(text) = block { Some(text.text.as_str()) } else { None })
        .collect();
    assert_eq!(shown, text, "what was shown is what it says");
    Some(reply)
}
