//! How far a client of a stream has come: the id of the last event that it has.

use abide_protocol::{RecordId, Seq};
use std::{fmt, str::FromStr};

/// `SEQ`, or `SEQ~ITEM.ATTEMPT.BYTES` if the client has a part of what the next records hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The client has all of every record up to here.
    pub(super) seq: Seq,
    pub(super) part: Option<Part>,
}

/// What a client has of a reply that is not recorded, or of a record that gives several events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The record's id, which its live output has, too.
    pub(super) item: RecordId,
    pub(super) attempt: u32,
    /// Bytes of the text.
    pub(super) bytes: usize,
    /// Events besides the text: `.EVENTS` after the bytes, unless it and what follows are 0.
    pub(super) events: usize,
    /// Bytes of the reasoning, of a stream that tells it: `.REASONING` after the events, unless it is 0.
    pub(super) reasoning: usize,
}

impl Part {
    /// Nothing of it.
    pub(super) const fn none(item: RecordId, attempt: u32) -> Self {
        Self { item, attempt, bytes: 0, events: 0, reasoning: 0 }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seq.0)?;
        let Some(Part { item, attempt, bytes, events, reasoning }) = self.part else { return Ok(()) };
        write!(f, "~{item}.{attempt}.{bytes}")?;
        match (events, reasoning) {
            (0, 0) => Ok(()),
            (_, 0) => write!(f, ".{events}"),
            _ => write!(f, ".{events}.{reasoning}"),
        }
    }
}

/// No event has such an id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (seq, part) = text.split_once('~').map_or((text, None), |(seq, part)| (seq, Some(part)));
        let part = part.map(|part| {
            let mut parts = part.split('.');
            let item = parts.next()?.parse().ok()?;
            let (attempt, bytes) = (number(parts.next()?)?, number(parts.next()?)?);
            let (events, reasoning) =
                (parts.next().map_or(Some(0), number)?, parts.next().map_or(Some(0), number)?);
            parts.next().is_none().then_some(Part { item, attempt, bytes, events, reasoning })
        });
        let part = match part {
            None => None,
            Some(part) => Some(part.ok_or(NoCursor)?),
        };
        Ok(Self { seq: Seq(number(seq).ok_or(NoCursor)?), part })
    }
}

/// Digits alone.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = "0190a1b2-0000-7000-8000-00000000000a";

    #[test]
    fn what_was_written_is_read_again() {
        let part = |part: &str| format!("17~{ITEM}.{part}");
        for text in ["0", "17", &part("1.0"), &part("2.4096.3"), &part("2.0.0.7"), &part("2.9.1.7")] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_no_event_has_is_refused() {
        let forged = [
            "",
            " 1",
            "1 ",
            "+1",
            "-1",
            "x",
            "1.5",
            "18446744073709551616",
            "1~",
            "~",
            "1~1.1.1",
            &format!("1~{ITEM}"),
            &format!("1~{ITEM}.1"),
            &format!("1~{ITEM}.1."),
            &format!("1~{ITEM}.-1.1"),
            &format!("1~{ITEM}.1.1."),
            &format!("1~{ITEM}.1.1.1.1.1"),
            &format!("1~{ITEM}.4294967296.1"),
            &format!("~{ITEM}.1.1"),
            &format!("1~{ITEM}.1.99999999999999999999999"),
        ];
        for text in forged {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text:?}");
        }
    }
}
