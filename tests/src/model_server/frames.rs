//! A reply as bytes on the wire, and points at which it waits.

use super::{Gate, script::Fault};
use bytes::Bytes;

/// One HTTP chunk, or a wait.
#[derive(Debug, Clone)]
pub(super) enum Frame {
    Bytes(Bytes),
    Gate(Gate),
    /// The connection is closed here.
    Cut,
}

impl Frame {
    pub(super) fn event(text: String) -> Self {
        Self::Bytes(Bytes::from(text))
    }
}

/// Events of an API that are not part of a reply.
pub(super) struct Odd {
    /// It says that the provider is overloaded.
    pub(super) reported: &'static str,
    /// It ends the reply for the same reason, where the API has such an event.
    pub(super) failed: &'static str,
}

/// Applies a fault to the frames of a complete reply.
pub(super) fn spoil(frames: Vec<Frame>, fault: &Fault, odd: &Odd) -> Vec<Frame> {
    match fault {
        Fault::Cut { after } => {
            let mut cut = first_bytes(frames, *after);
            cut.push(Frame::Cut);
            cut
        }
        Fault::Stall { after, gate } => {
            let mut cut = first_bytes(frames, *after);
            cut.extend([Frame::Gate(gate.clone()), Frame::Cut]);
            cut
        }
        Fault::Reported { after_events } => insert(frames, *after_events, odd.reported),
        Fault::Failed { after_events } => insert(frames, *after_events, odd.failed),
        Fault::Status { .. } | Fault::Close => frames,
    }
}

fn first_bytes(frames: Vec<Frame>, mut left: usize) -> Vec<Frame> {
    let mut kept = Vec::new();
    for frame in frames {
        match frame {
            Frame::Bytes(bytes) if bytes.len() > left => {
                kept.push(Frame::Bytes(bytes.slice(..left)));
                return kept;
            }
            Frame::Bytes(bytes) => {
                left -= bytes.len();
                kept.push(Frame::Bytes(bytes));
            }
            other => kept.push(other),
        }
    }
    kept
}

fn insert(mut frames: Vec<Frame>, after_events: usize, event: &str) -> Vec<Frame> {
    let mut events = 0;
    let at = frames.iter().position(|frame| {
        let is_here = events == after_events;
        events += usize::from(matches!(frame, Frame::Bytes(_)));
        is_here
    });
    frames.insert(at.unwrap_or(frames.len()), Frame::event(event.to_owned()));
    frames
}

/// Splits arguments into pieces of a few characters, as models send them.
pub(super) fn pieces_of(arguments: &str) -> Vec<String> {
    let characters: Vec<char> = arguments.chars().collect();
    characters.chunks(9).map(|c| c.iter().collect()).collect()
}
