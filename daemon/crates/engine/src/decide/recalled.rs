//! What a task is given of other conversations: as much as fits, the best first.

use crate::state::recalled::{FORM, entry_of, text};
use abide_protocol::{
    memory::{RecallWay, Snippet, Source},
    record::Recalled,
};

/// The most that recalled snippets may take of a task's context, in bytes: about 1,200 tokens.
const BUDGET: usize = 4_800;
/// The most that notes may take of it.
const OF_NOTES: usize = 2_400;

/// The record of what was found for a task. `None`: nothing was found, and nothing went wrong.
#[must_use]
pub fn recalled(how: RecallWay, found: Vec<Snippet>, problem: Option<String>) -> Option<Recalled> {
    let (mut left, mut of_notes) = (BUDGET.saturating_sub(text(&[]).len()), OF_NOTES);
    let mut snippets = Vec::new();
    for snippet in found {
        let length = entry_of(1, &snippet).len();
        let is_note = snippet.source == Source::Note;
        // A shorter one behind it may still fit.
        if length <= left && (!is_note || length <= of_notes) {
            left -= length;
            of_notes -= if is_note { length } else { 0 };
            snippets.push(snippet);
        }
    }
    let is_empty = snippets.is_empty() && problem.is_none();
    (!is_empty).then_some(Recalled { form: FORM, how, snippets, problem })
}
