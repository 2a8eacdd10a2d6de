//! The reads, one file for each subject.

mod conversation;
mod file;
mod history;
mod history_snapshot;
mod inbox;
mod lookup;
mod meaning;
mod message;
mod recall;
mod record;
mod remembered;
mod rule;
mod search;
mod snapshot;
mod status;
mod task;
mod usage;

pub use conversation::ConversationQuery;
pub use lookup::{Addressee, Lookup, PendingRef};
pub use meaning::{Meaning, Passage, PassageId};
pub use message::TaskCalls;
pub use recall::{MemorySize, RecallQuery};
pub use search::SearchQuery;
pub use status::Counts;
pub use task::{TaskQuery, TreeOf};
pub use usage::UsageQuery;

pub(crate) use conversation::{conversation, touch_conversation};
pub(crate) use inbox::open_items;
pub(crate) use lookup::external_task;
pub(crate) use message::{last_message, messages_of_others, messages_up_to};
pub(crate) use record::{COLUMNS, changed_records, columns, each_hidden, each_record, record};
pub(crate) use rule::client_message;
pub(crate) use search::{Progress, each_message, search_progress, tokens};
pub(crate) use task::{TreePosition, place};

use crate::error::ReadError;
use uuid::Uuid;

/// The size of a page: the requested one, within bounds.
fn page_size(limit: u32) -> usize {
    limit.clamp(1, 1000) as usize
}

/// The position in a list at which a page ended: a time, and an id for entries of the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    at: i64,
    id: Uuid,
}

impl Cursor {
    /// The beginning of a list, which is sorted by the newest first.
    const NEWEST: Self = Self { at: i64::MAX, id: Uuid::max() };

    fn parse(text: Option<&str>) -> Result<Self, ReadError> {
        let Some(text) = text else { return Ok(Self::NEWEST) };
        let parse = || {
            let (at, id) = text.split_once('.')?;
            Some(Self { at: at.parse().ok()?, id: Uuid::parse_str(id).ok()? })
        };
        parse().ok_or_else(|| ReadError::Cursor(text.to_owned()))
    }

    fn to_text(self) -> String {
        format!("{}.{}", self.at, self.id.simple())
    }
}
