//! Assigns the stream's deltas to the calls of a reply. By the API a delta's `index` names its call, but some
//! servers leave it out or always send 0, or count deltas instead of calls. Then the id or, in a new call's
//! first delta, the name decides.

use crate::{
    assembly::{Assembly, Fault, Part},
    fields::Fields,
    replay,
};
use serde_json::value::RawValue;

/// The calls of which a delta has come, in that order.
#[derive(Default)]
pub(super) struct Calls(Vec<Slot>);

struct Slot {
    index: Option<u64>,
    id: String,
    part: Part,
}

impl Calls {
    /// Adds a delta to its call in `reply`, which it may begin.
    pub(super) fn delta(&mut self, reply: &mut Assembly<'_>, mut delta: Fields<'_>) -> Result<(), Fault> {
        let index = delta.take::<u64>("index").ok().flatten();
        let id = delta.take_raw("id").map(text).unwrap_or_default();
        delta.take_raw("type");
        let function = delta.take::<Fields<'_>>("function")?.unwrap_or_default();
        self.piece(reply, index, id, function, &delta)
    }

    /// Adds a delta of the API's old form, in which a reply has one call at most.
    pub(super) fn old_delta(&mut self, reply: &mut Assembly<'_>, function: Fields<'_>) -> Result<(), Fault> {
        self.piece(reply, Some(0), String::new(), function, &Fields::default())
    }

    fn piece(
        &mut self,
        reply: &mut Assembly<'_>,
        index: Option<u64>,
        id: String,
        mut function: Fields<'_>,
        rest: &Fields<'_>,
    ) -> Result<(), Fault> {
        let name = function.take_raw("name").map(text).unwrap_or_default();
        let arguments = function.take_raw("arguments").map(text).unwrap_or_default();

        let part = match self.find(reply, index, &id, &name, &arguments) {
            Some(part) => part,
            // A call's first delta has its name, and it may have been in an event that could not be read. If
            // all events were read, the call has no name, and the model gets an error as its result.
            None if name.is_empty() && reply.has_gap() => {
                return Err(Fault::Broken("a piece of a call whose beginning cannot be read".into()));
            }
            None => {
                let part = reply.add_call(id.clone(), name)?;
                self.0.push(Slot { index, id, part });
                part
            }
        };
        reply.keep(part, rest)?;
        reply.push(part, &arguments)
    }

    /// The call that this delta continues. `None`: the delta begins a new call.
    fn find(
        &self,
        reply: &Assembly<'_>,
        index: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Option<Part> {
        let slot = match index {
            Some(_) => match self.0.iter().rfind(|slot| slot.index == index) {
                Some(slot) => slot,
                None => return self.unfinished(reply, id, name),
            },
            None if !id.is_empty() => match self.0.iter().rfind(|slot| slot.id == id) {
                Some(slot) => return Some(slot.part),
                None => self.0.last()?,
            },
            None => self.0.last()?,
        };
        // A name begins a new call if the delta has no index; or if it has an index and another id; or if it
        // has an index, no id, and arguments although those of the call at that index are complete.
        let begins = !name.is_empty()
            && match (index, id) {
                (None, _) => true,
                (Some(_), "") => {
                    !arguments.is_empty() && replay::object(reply.arguments(slot.part)).is_some()
                }
                (Some(_), id) => slot.id != id,
            };
        (!begins).then_some(slot.part)
    }

    /// The last call, which a delta with another index continues if nothing in it begins a call, and if the
    /// last one lacks arguments.
    fn unfinished(&self, reply: &Assembly<'_>, id: &str, name: &str) -> Option<Part> {
        let last = self.0.last().filter(|_| id.is_empty() && name.is_empty() && !reply.has_gap())?;
        replay::object(reply.arguments(last.part)).is_none().then_some(last.part)
    }
}

/// A string's content; any other value (arguments as an object, a number as id) as JSON.
fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}
