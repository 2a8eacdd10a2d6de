//! The pure fold from what a [`crate::Live`] hands out to what a person sees. No I/O, no clock.
//!
//! * [`ConversationView`]: one conversation, with its timeline and live output
//! * [`OverviewView`]: conversations, tasks and inbox of the scope `overview`
//!
//! Invariants: a sequenced notification is folded once, whatever comes twice; live output is a matter of which bytes came, not of how
//! they were cut or in which order; what is recorded, withdrawn or of an older attempt never comes back as live output.

mod change;
mod conversation;
mod entry;
mod inbox;
mod output;
mod overview;
mod recent;
mod record;
mod stream;

pub use change::{Change, OverviewChange};
pub use conversation::{Connection, ConversationView};
pub use entry::Entry;
pub use inbox::Inbox;
pub use output::LiveItem;
pub use overview::OverviewView;
pub use stream::{MAX_STREAM, Stream};
