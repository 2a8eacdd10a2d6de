//! Serializes the common part of a task's requests only once, however long the conversation grows.

use crate::request::ModelRequest;
use abide_protocol::{shape::OutputSchema, transcript::ToolSpec};
use serde::Serialize;
use std::{
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
};

/// The capacity reserved for what follows the beginning, in bytes.
const END: usize = 16 * 1024;

/// The serialized beginning that the requests of a task share. Clones share it too.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<Beginning>>);

/// What the beginning was serialized from, besides entries.
#[derive(PartialEq, Eq)]
struct Head {
    model: String,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    max_output_tokens: Option<u32>,
    schema: Option<OutputSchema>,
    /// The edition of the transcript.
    edition: u64,
}

impl Head {
    fn of(model: &str, request: &ModelRequest, schema: Option<&OutputSchema>) -> Self {
        Self {
            model: model.to_owned(),
            system: request.system.clone(),
            tools: request.tools.clone(),
            max_output_tokens: request.max_output_tokens,
            schema: schema.cloned(),
            edition: request.transcript.edition(),
        }
    }
}

#[derive(Default)]
struct Beginning {
    head: Option<Head>,
    /// The first entry that the beginning does not contain.
    next: usize,
    /// The body up to the first message that may still change.
    body: Vec<u8>,
}

/// The messages of the entries from an index on.
pub(crate) struct Messages<M> {
    pub(crate) all: Vec<Indexed<M>>,
    /// How many of them later entries cannot change.
    pub(crate) settled: usize,
}

/// A message with the index of its first entry.
pub(crate) struct Indexed<M> {
    pub(crate) since: usize,
    pub(crate) message: M,
}

impl Written {
    /// The body of a request. `head` writes it up to its list of messages, from the request, the model's name
    /// and `schema`, that of the reply; `from` returns the messages of the entries from an index on; `tail`,
    /// an object, has the fields that follow the list.
    pub(crate) fn body<M: Serialize>(
        model: &str,
        request: &ModelRequest,
        schema: Option<&OutputSchema>,
        head: impl FnOnce() -> serde_json::Result<Vec<u8>>,
        from: impl FnOnce(usize) -> Messages<M>,
        tail: &impl Serialize,
    ) -> serde_json::Result<Vec<u8>> {
        let mut kept = request.written.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that nothing is kept after an error.
        let mut beginning = mem::take(&mut *kept);
        let made_of = Some(Head::of(model, request, schema));
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
        close(&mut body, tail)?;
        // The HTTP client keeps the body until the model answers.
        body.shrink_to_fit();
        *kept = beginning;
        Ok(body)
    }
}

fn write<M: Serialize>(to: &mut Vec<u8>, messages: &[Indexed<M>]) -> serde_json::Result<()> {
    for said in messages {
        if to.last() != Some(&b'[') {
            to.push(b',');
        }
        serde_json::to_writer(&mut *to, &said.message)?;
    }
    Ok(())
}

/// Ends the list and adds the fields of `tail`.
fn close(body: &mut Vec<u8>, tail: &impl Serialize) -> serde_json::Result<()> {
    body.push(b']');
    let tail = serde_json::to_vec(tail)?;
    let fields = tail.strip_prefix(b"{").unwrap_or(b"}");
    if fields != b"}" {
        body.push(b',');
    }
    body.extend_from_slice(fields);
    Ok(())
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}
