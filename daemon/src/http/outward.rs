//! What leaves the machine, as it leaves it.

use crate::events::Parcel;
use abide_protocol::{
    codec::Outgoing,
    event::EventKind,
    method::Reply,
    record::{Record, RecordBody},
    transcript::Block,
};
use std::sync::Arc;

/// A parcel as the message that is sent; `None`: the connection is to be closed.
pub(super) fn outgoing(parcel: Parcel) -> Option<Outgoing> {
    let parcel = match parcel {
        Parcel::Record { subscription, record } => {
            let body = outward(&record.body);
            Parcel::Record { subscription, record: Arc::new(Record { body, ..(*record).clone() }) }
        }
        other => other,
    };
    let mut outgoing = parcel.into_outgoing()?;
    if let Outgoing::Reply { reply: Ok(Reply::GetTask(task)), .. } = &mut outgoing {
        for event in task.history.iter_mut().flat_map(|history| &mut history.events) {
            if let EventKind::ModelTraced(traced) = &mut event.kind {
                traced.traces.iter_mut().for_each(|trace| trace.raw.clear());
            }
        }
    }
    Some(outgoing)
}

/// A record's body as it leaves the machine: without the environment of tools, and without what is a
/// provider's own.
pub(super) fn outward(body: &RecordBody) -> RecordBody {
    let mut body = body.clone();
    match &mut body {
        RecordBody::TaskStarted(started) => {
            started.environment.clear();
            // What only its model reads, and is most of the record.
            started.system_prompt.clear();
            started.child_system_prompt = None;
            started.tools.clear();
            started.prompts.clear();
        }
        RecordBody::CallAssessed(assessed) => {
            if let Some(direct) = &mut assessed.direct {
                direct.environment.clear();
            }
        }
        RecordBody::Reply(reply) => {
            for block in &mut reply.reply.blocks {
                match block {
                    Block::Text(text) | Block::Reasoning(text) => text.opaque = None,
                    Block::Call(call) => call.opaque = None,
                }
            }
            reply.calls.iter_mut().for_each(|call| call.opaque = None);
        }
        RecordBody::ModelTraced(traced) => traced.traces.iter_mut().for_each(|trace| trace.raw.clear()),
        _ => {}
    }
    body
}
