//! The pure fold from a [`crate::Live`]'s updates to what a person sees. No I/O, no clock.
//!
//! * [`ConversationView`]: one conversation, with its timeline and live output
//! * [`OverviewView`]: conversations, tasks and inbox of the scope `overview`
//!
//! Invariants: a sequenced notification is folded once, even if it comes twice; live output depends on the
//! bytes that came, not on how they were split or in which order; output that is recorded, withdrawn or of an
//! older attempt never comes back as live output.

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
