//! What a task was given of other conversations, and what could be.

use crate::output::{
    measure::counted,
    style::{FAINT, PLAIN, STRONG, paint},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    Seq,
    memory::{Note, Snippet, Source},
    method::memory::{MemoryReply, SearchMemoryReply},
    record::Recalled,
};

/// The most characters of a snippet.
const LENGTH: usize = 120;

/// The number of snippets, and a line for each.
pub(crate) fn recalled(recalled: &Recalled) -> String {
    let mut lines = vec![text::one_line(&recalled.words())];
    lines.extend(recalled.snippets.iter().map(|snippet| format!("  {}", line(snippet))));
    lines.join("\n")
}

/// A note, and how to erase it.
pub(crate) fn noted(seq: Seq, text: &str) -> String {
    format!("noted for later tasks: {} (abide memory forget {})", text::one_line(text), seq.0)
}

/// All notes, the newest first.
pub(crate) fn notes(notes: &[Note]) -> String {
    if notes.is_empty() {
        return "No notes (abide memory add).\n".to_owned();
    }
    let line = |note: &Note| {
        let number = paint(STRONG, &note.seq.0.to_string());
        let place = note.workspace.as_deref().unwrap_or("everywhere");
        let by = note.conversation_id.map(|id| format!(", by the agent of {}", id.short()));
        let about = format!("{}{}:", text::one_line(place), by.unwrap_or_default());
        format!("{number}  {} {}\n", paint(FAINT, &about), text::one_line(&note.text))
    };
    notes.iter().map(line).collect()
}

/// The results of a search, the best first.
pub(crate) fn found(reply: &SearchMemoryReply) -> String {
    let mut lines: String = reply.snippets.iter().map(|snippet| line(snippet) + "\n").collect();
    if lines.is_empty() {
        lines.push_str("Nothing is recalled.\n");
    }
    if let Some(problem) = reply.problem_words() {
        lines.push_str(&format!("{}\n", paint(FAINT, &text::one_line(&problem))));
    }
    lines
}

/// A snippet in a line: its number for `abide memory forget`, its source, the reasons it was found, its text.
fn line(snippet: &Snippet) -> String {
    let number = paint(STRONG, &snippet.seq.0.to_string());
    if snippet.text.is_empty() {
        return format!("{number}  {}", paint(FAINT, "forgotten since"));
    }
    let (source, id) = (snippet.source.words(), snippet.conversation_id.short());
    let place = match snippet.source {
        Source::Note if snippet.title.is_empty() => " of yours".to_owned(),
        _ => format!(" in {id} \"{}\"", text::one_line(&snippet.title)),
    };
    let about = format!("{source}{place}, {}:", snippet.why());
    format!("{number}  {} {}", paint(FAINT, &about), beginning(&text::one_line(&snippet.text)))
}

/// As much as a look at it needs.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The memory's state.
pub(crate) fn memory(reply: &MemoryReply) -> String {
    let MemoryReply { enabled, how, conversations, passages, .. } = reply;
    let recall =
        if *enabled { format!("on, by {}", how.words()) } else { "off (abide memory on)".to_owned() };
    let size = format!("{} of {}", counted(*passages, "passage"), counted(*conversations, "conversation"));
    let behind = reply.newest.0.saturating_sub(reply.indexed_to.0);
    let size = if behind > 0 { format!("{size}; newer records follow at the next recall") } else { size };
    let rows = [("recall", &recall), ("indexed", &size), ("meaning", &reply.meaning())]
        .map(|(name, words)| [cell(FAINT, name), cell(PLAIN, &text::one_line(words))]);
    table(["", ""], &rows, text::terminal_width())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::{
        ConversationId, Seq, Timestamp,
        memory::{Reason, RecallWay, Source},
    };

    #[test]
    fn a_recall_shows_each_source_and_why() {
        let snippet = |seq, text: &str| Snippet {
            conversation_id: ConversationId(uuid::Uuid::from_u128(0x1234_abcd)),
            title: "Por\u{1b}[1mts".to_owned(),
            seq: Seq(seq),
            at: Timestamp(0),
            source: Source::Agent,
            before: String::new(),
            text: text.to_owned(),
            why: vec![Reason::Words(2), Reason::Newest],
        };
        let snippets = vec![snippet(77, "It listens\non 8080."), snippet(78, "")];
        let record = Recalled { form: 1, how: RecallWay::Words, snippets, problem: None };
        let shown = anstream::adapter::strip_str(&recalled(&record)).to_string();
        insta::assert_snapshot!(shown, @r#"
        recalled 2 · words
          77  agent in 1234abcd "Por\x1b[1mts", words #2, last here: It listens on 8080.
          78  forgotten since
        "#);
        let problem = Some("the model is damaged".to_owned());
        let record = Recalled { problem: problem.clone(), ..record };
        let first = recalled(&record).lines().next().map(str::to_owned);
        assert_eq!(first.as_deref(), Some("recalled 2 · words (the model is damaged)"));
        let reply = SearchMemoryReply { how: RecallWay::Words, problem, snippets: Vec::new() };
        let shown = anstream::adapter::strip_str(&found(&reply)).to_string();
        assert_eq!(shown, "Nothing is recalled.\nby words only: the model is damaged\n");
    }
}
