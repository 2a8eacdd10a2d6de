//! The daemon's own file, since the daemon with all that it depends on is too much for a fuzz target.

#[path = "../../../daemon/src/http/cursor.rs"]
#[allow(dead_code, reason = "only reading and writing is tried here")]
mod daemons;

use daemons::Cursor;

/// Reads the id by which a client of a stream goes on, and writes it as the stream would.
pub fn cursor(text: &str) {
    let Ok(cursor) = text.parse::<Cursor>() else { return };
    let id = cursor.to_string();
    assert_eq!(id.parse(), Ok(cursor), "what was read can be written");
    let is_of_an_id = |c: u8| c.is_ascii_alphanumeric() || b"~.-".contains(&c);
    assert!(id.bytes().all(is_of_an_id), "a line and a header have room for it");
}
