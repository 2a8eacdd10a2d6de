//! What a request's body has in common with the next one's is written once, however long a conversation grows.

use crate::request::ModelRequest;
use abide_protocol::transcript::ToolSpec;
use serde::Serialize;
use std::{
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
};

/// Room for what is written after the beginning, in bytes.
const END: usize = 16 * 1024;

/// The beginning that the requests of a task have in common, in its provider's words. Clones are the same.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<Beginning>>);

/// What the beginning is made of besides entries.
#[derive(PartialEq, Eq)]
struct Head {
    model: String,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    max_output_tokens: Option<u32>,
    /// Of the transcript whose entries follow.
    edition: u64,
}

impl Head {
    fn of(model: &str, request: &ModelRequest) -> Self {
        Self {
            model: model.to_owned(),
            system: request.system.clone(),
            tools: request.tools.clone(),
            max_output_tokens: request.max_output_tokens,
            edition: request.transcript.edition(),
        }
    }
}

#[derive(Default)]
struct Beginning {
    head: Option<Head>,
    /// The first entry that is not in it.
    next: usize,
    /// The body up to the first message that may still change.
    body: Vec<u8>,
}

/// What is said from some entry on.
pub(crate) struct Messages<M> {
    pub(crate) all: Vec<Said<M>>,
    /// So many of them stay as they are, whatever comes after them.
    pub(crate) settled: usize,
}

/// A message, and the first entry that is in it.
pub(crate) struct Said<M> {
    pub(crate) since: usize,
    pub(crate) message: M,
}

impl Written {
    /// The body of a request that begins with `head` (up to its list of messages, which is its last field), which is made of the
    /// request and the model's name. `from` says what is said from an entry on.
    pub(crate) fn body<M: Serialize>(
        model: &str,
        request: &ModelRequest,
        head: impl FnOnce() -> serde_json::Result<Vec<u8>>,
        from: impl FnOnce(usize) -> Messages<M>,
    ) -> serde_json::Result<Vec<u8>> {
        let mut kept = request.written.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that nothing is kept if something cannot be written.
        let mut beginning = mem::take(&mut *kept);
        let made_of = Some(Head::of(model, request));
        if beginning.head != made_of {
            beginning = Beginning { head: made_of, next: 0, body: head()? };
        }
        let Messages { all, settled } = from(beginning.next);
        let (settled, open) = all.split_at(settled);
        write(&mut beginning.body, settled)?;
        if let Some(first) = open.first() {
            beginning.next = first.since;
        }
        let mut body = Vec::with_capacity(beginning.body.len() + END);
        body.extend_from_slice(&beginning.body);
        write(&mut body, open)?;
        body.extend_from_slice(b"]}");
        *kept = beginning;
        Ok(body)
    }
}

fn write<M: Serialize>(to: &mut Vec<u8>, messages: &[Said<M>]) -> serde_json::Result<()> {
    for said in messages {
        if to.last() != Some(&b'[') {
            to.push(b',');
        }
        serde_json::to_writer(&mut *to, &said.message)?;
    }
    Ok(())
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}
