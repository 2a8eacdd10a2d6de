//! Limits on what a client may send, and on what may wait in its queue.

use crate::hello::MAX_FRAME;

/// The longest prompt, in bytes: `message` of `startTask`, together with its `messages`.
pub const MAX_PROMPT: usize = 1024 * 1024;
/// The most `messages` of `startTask`.
pub const MAX_IMPORTED: usize = 1000;
/// The longest answer to a question, and the longest note to a decision, in bytes.
pub const MAX_RESPONSE: usize = 256 * 1024;
/// The longest `clientMessageId`, in bytes.
pub const MAX_CLIENT_MESSAGE_ID: usize = 200;
/// The longest `taskId` of `startTask` that is no `UUIDv7`, in bytes.
pub const MAX_EXTERNAL_ID: usize = 200;
/// The longest note, in characters.
pub const MAX_NOTE: usize = 500;
/// The most `files` of `startTask`.
pub const MAX_FILES: usize = 200;
/// How deeply JSON of the client's own may be nested: `metadata` of `startTask`, arguments and results in its
/// `messages`.
pub const MAX_JSON_DEPTH: usize = 100;
/// How long a client may take to say hello, in ms.
pub const HELLO_TIME_MS: u64 = 5_000;
/// Requests of one connection under way at a time; one more is `overloaded`.
pub const MAX_REQUESTS: usize = 16;
/// The same including urgent requests: stop, pause or resume a task, answer, decide, delete a conversation,
/// shut the daemon down.
pub const MAX_URGENT_REQUESTS: usize = 64;
/// Subscriptions of one connection.
pub const MAX_SUBSCRIPTIONS: usize = 64;
/// Records that may wait for one connection; one more is `lagged`, and the connection is closed.
pub const MAX_QUEUED_RECORDS: usize = 4096;
/// The same in bytes, approximately.
pub const MAX_QUEUED_BYTES: usize = 8 * 1024 * 1024;
/// Connections at a time; one more is closed without a reply.
pub const MAX_CONNECTIONS: usize = 2048;

const _: () =
    assert!(6 * MAX_PROMPT < MAX_FRAME, "a prompt fits into a message, also with every byte escaped");
/// The length that a client's name is cut to in records, in bytes.
pub const MAX_CLIENT_NAME: usize = 64;
/// The longest title that a person gives, in bytes.
pub const MAX_TITLE: usize = 500;
