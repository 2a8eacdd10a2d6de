//! Assigns the stream's deltas to the calls of a reply. By the API a delta's `index` names its call, but some servers leave it out or
//! always send 0. Then the id or, in a new call's first delta, the name decides.

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
        let mut function = delta.take::<Fields<'_>>("function")?.unwrap_or_default();
        let name = function.take_raw("name").map(text).unwrap_or_default();
        let arguments = function.take_raw("arguments").map(text).unwrap_or_default();

        let part = match self.find(reply, index, &id, &name, &arguments) {
            Some(part) => part,
            // A call's first delta has its name, and it may have been in an event that could not be read. If all events were read, the
            // call has no name, and the model gets an error as its result.
            None if name.is_empty() && reply.has_gap() => {
                return Err(Fault::Broken("a piece of a call whose beginning cannot be read".into()));
            }
            None => {
                let part = reply.add_call(id.clone(), name)?;
                self.0.push(Slot { index, id, part });
                part
            }
        };
        reply.keep(part, &delta)?;
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
            Some(_) => self.0.iter().rfind(|slot| slot.index == index)?,
            None if !id.is_empty() => match self.0.iter().rfind(|slot| slot.id == id) {
                Some(slot) => return Some(slot.part),
                None => self.0.last()?,
            },
            None => self.0.last()?,
        };
        // A name begins a new call if the delta has no index; or if it has an index and another id; or if it has an index, no id, and
        // arguments although those of the call at that index are complete.
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
}

/// A string's content; any other value (arguments as an object, a number as id) as JSON.
fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}
