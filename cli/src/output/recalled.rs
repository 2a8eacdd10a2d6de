//! What a task was given of other conversations.

use crate::output::{
    style::{FAINT, paint},
    text,
};
use abide_client::protocol::{memory::Snippet, record::Recalled};

/// The most characters of a snippet.
const LENGTH: usize = 120;

/// The number of snippets, and a line for each.
pub(crate) fn recalled(recalled: &Recalled) -> String {
    let mut lines = vec![text::one_line(&recalled.words())];
    lines.extend(recalled.snippets.iter().map(|snippet| format!("  {}", line(snippet))));
    lines.join("\n")
}

/// Where a snippet is from, why it was found, and what it says.
pub(crate) fn line(snippet: &Snippet) -> String {
    let from = format!("{}:{}", snippet.conversation_id.short(), snippet.seq.0);
    if snippet.text.is_empty() {
        return format!("{from} {}", paint(FAINT, "forgotten since"));
    }
    let title = text::one_line(&snippet.title);
    let about = format!("{}, \"{title}\", {}", snippet.source.words(), snippet.why());
    format!("{from} {} {}", paint(FAINT, &about), first(&text::one_line(&snippet.text)))
}

/// As much as a look at it needs.
fn first(text: &str) -> String {
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
