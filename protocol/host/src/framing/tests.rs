use super::Framing;
use abide_protocol::{
    codec::Codec,
    hello::{MAX_FRAME, MAX_HELLO},
};
use bytes::BytesMut;
use std::io;
use tokio_util::codec::{Decoder as _, Encoder as _};

/// The messages decoded from pieces of this size.
fn decode(mut framing: Framing, bytes: &[u8], size: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut buffer = BytesMut::new();
    let mut messages = Vec::new();
    for piece in bytes.chunks(size) {
        buffer.extend_from_slice(piece);
        while let Some(message) = framing.decode(&mut buffer)? {
            messages.push(message.to_vec());
        }
    }
    while let Some(message) = framing.decode_eof(&mut buffer)? {
        messages.push(message.to_vec());
    }
    Ok(messages)
}

#[test]
fn messages_are_decoded_from_pieces_of_any_size() {
    let sent: [&[u8]; 3] = [b"{}", b"", b"[1,2,3]"];
    for codec in [Codec::Json, Codec::Binary] {
        let mut bytes = BytesMut::new();
        for message in sent {
            let mut message = message.to_vec();
            if codec == Codec::Json {
                message.push(b'\n');
            }
            Framing::of(codec).encode(message, &mut bytes).unwrap();
        }
        for size in 1..=bytes.len() {
            assert_eq!(decode(Framing::of(codec), &bytes, size).unwrap(), sent, "{codec:?} by {size}");
        }
    }
}

#[test]
fn a_message_that_is_too_long_is_refused_before_it_is_buffered() {
    let line = |length| [vec![b'x'; length], vec![b'\n']].concat();
    assert_eq!(decode(Framing::hello(), &line(MAX_HELLO), 1000).unwrap().len(), 1);
    assert!(decode(Framing::hello(), &line(MAX_HELLO + 1), 1000).is_err());
    // The line has no newline yet.
    assert!(decode(Framing::hello(), &vec![b'x'; MAX_HELLO + 1], 1000).is_err());
    let lie = u32::try_from(MAX_FRAME + 1).unwrap().to_be_bytes();
    assert!(decode(Framing::of(Codec::Binary), &lie, 4).is_err());
}

#[test]
fn the_end_may_lack_a_newline_but_not_half_a_frame() {
    assert_eq!(decode(Framing::of(Codec::Json), b"{}\n{}", 5).unwrap(), [b"{}", b"{}"]);
    assert!(decode(Framing::of(Codec::Binary), &[0, 0, 0, 9, 1], 5).is_err());
    assert!(decode(Framing::of(Codec::Binary), &[0, 0], 2).is_err());
}
