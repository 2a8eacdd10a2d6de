//! Splits a stream into messages: lines until `hello` is answered, then lines or length-delimited frames.
//! Client and daemon use it.

use abide_protocol::{
    codec::Codec,
    hello::{MAX_FRAME, MAX_HELLO},
};
use bytes::{Bytes, BytesMut};
use std::io;
use tokio_util::codec::{Decoder, Encoder, LengthDelimitedCodec};

/// Splits a stream into messages; it never holds more than one message of the allowed length.
#[derive(Debug)]
pub struct Framing(Kind);

#[derive(Debug)]
enum Kind {
    Lines {
        max: usize,
        /// Bytes that were already searched for a newline.
        searched: usize,
    },
    Frames(LengthDelimitedCodec),
}

impl Framing {
    /// For `hello` and its reply.
    #[must_use]
    pub const fn hello() -> Self {
        Self(Kind::Lines { max: MAX_HELLO, searched: 0 })
    }

    /// For what follows `hello`.
    #[must_use]
    pub fn of(codec: Codec) -> Self {
        Self(match codec {
            Codec::Json => Kind::Lines { max: MAX_FRAME, searched: 0 },
            Codec::Binary => {
                Kind::Frames(LengthDelimitedCodec::builder().max_frame_length(MAX_FRAME).new_codec())
            }
        })
    }
}

impl Decoder for Framing {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        match &mut self.0 {
            Kind::Frames(frames) => frames.decode(buffer),
            Kind::Lines { max, searched } => {
                let from = (*searched).min(buffer.len());
                match buffer[from..].iter().position(|&b| b == b'\n').map(|at| from + at) {
                    Some(end) if end <= *max => {
                        *searched = 0;
                        let mut line = buffer.split_to(end + 1);
                        line.truncate(end);
                        Ok(Some(line))
                    }
                    None if buffer.len() <= *max => {
                        *searched = buffer.len();
                        Ok(None)
                    }
                    _ => Err(too_long(*max)),
                }
            }
        }
    }

    /// A last line may lack its newline; a last frame may not be cut.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        if let Some(message) = self.decode(buffer)? {
            return Ok(Some(message));
        }
        match &self.0 {
            _ if buffer.is_empty() => Ok(None),
            Kind::Lines { .. } => Ok(Some(buffer.split())),
            Kind::Frames(_) => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended inside a message"))
            }
        }
    }
}

impl Encoder<Vec<u8>> for Framing {
    type Error = io::Error;

    /// A line from [`Codec`]'s `encode_*` ends with a newline already.
    fn encode(&mut self, message: Vec<u8>, buffer: &mut BytesMut) -> io::Result<()> {
        match &mut self.0 {
            Kind::Frames(frames) => frames.encode(Bytes::from(message), buffer),
            Kind::Lines { .. } => {
                buffer.extend_from_slice(&message);
                Ok(())
            }
        }
    }
}

fn too_long(max: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a message is longer than {max} bytes"))
}

#[cfg(test)]
mod tests;
