use crate::meter::measured;
use abide_protocol::codec::{Codec, Outgoing, Received, RequestId};

/// A frame, as each side reads it.
pub fn frame(bytes: &[u8]) {
    both_ways(Codec::Binary, bytes);
}

/// A line of JSON, as each side reads it.
pub fn line(bytes: &[u8]) {
    both_ways(Codec::Json, first_line(bytes));
}

/// Reads a message as a daemon and as a client would. What can be read can be written, in either codec, and is the same again.
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
pub(crate) fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Of what an encoder made, what a decoder takes.
fn payload(codec: Codec, bytes: &[u8]) -> &[u8] {
    match codec {
        Codec::Json => first_line(bytes),
        Codec::Binary => bytes,
    }
}
