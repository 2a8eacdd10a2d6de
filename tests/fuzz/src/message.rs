use crate::meter::measured;
use abide_protocol::codec::{Codec, Outgoing, Received, RequestId};

/// Decodes a frame as each side does.
pub fn frame(bytes: &[u8]) {
    both_ways(Codec::Binary, bytes);
}

/// Decodes a line of JSON as each side does.
pub fn line(bytes: &[u8]) {
    both_ways(Codec::Json, first_line(bytes));
}

/// Decodes a message as daemon and as client. What can be decoded can be encoded in that codec, and is equal
/// after another round.
fn both_ways(codec: Codec, bytes: &[u8]) {
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
            let told =
                Outgoing::Reply { id: id.clone(), reply: Err(error.clone()), warnings: incoming.warnings };
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

/// The first line, which is what a decoder of lines gets.
pub(crate) fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// The part of an encoded message that the decoder takes.
fn payload(codec: Codec, bytes: &[u8]) -> &[u8] {
    match codec {
        Codec::Json => first_line(bytes),
        Codec::Binary => bytes,
    }
}
