//! The text of Markdown without its marks.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);
const METADATA: Options =
    Options::ENABLE_YAML_STYLE_METADATA_BLOCKS.union(Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS);

/// The text of a document, its blocks as paragraphs.
#[must_use]
pub fn text(markdown: &str) -> String {
    let mut words = Words::default();
    for event in Parser::new_ext(markdown, OPTIONS) {
        words.take(&event);
    }
    words.text.truncate(words.text.trim_end().len());
    words.text
}

/// The text of one of its blocks, counted from 0.
#[must_use]
pub fn block(markdown: &str, block: usize) -> Option<String> {
    ranges(markdown).nth(block).and_then(|range| markdown.get(range)).map(text)
}

/// The texts of all of its blocks.
#[must_use]
pub fn blocks(markdown: &str) -> Vec<String> {
    ranges(markdown).map(|range| markdown.get(range).map(text).unwrap_or_default()).collect()
}

/// Where the blocks are that iced's parser makes of it: what describes the document is none, and an image in
/// a paragraph ends one.
fn ranges(markdown: &str) -> impl Iterator<Item = Range<usize>> {
    let (mut depth, mut outer, mut from, mut has_words) = (0_usize, 0_usize, 0, false);
    Parser::new_ext(markdown, OPTIONS.union(METADATA)).into_offset_iter().filter_map(move |(event, range)| {
        if depth == 0 {
            (from, has_words) = (range.start, false);
        }
        let is_end = match event {
            Event::Start(tag) => {
                depth += 1;
                outer += usize::from(matches!(tag, Tag::List(_) | Tag::BlockQuote(_) | Tag::Table(_)));
                false
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                let is_outer = matches!(tag, TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Table);
                outer = outer.saturating_sub(usize::from(is_outer));
                match tag {
                    TagEnd::Image => outer == 0,
                    TagEnd::Paragraph => depth == 0 && has_words,
                    TagEnd::MetadataBlock(_) => false,
                    _ => depth == 0,
                }
            }
            Event::Rule => depth == 0,
            _ => {
                has_words = true;
                false
            }
        };
        is_end.then(|| {
            has_words = false;
            std::mem::replace(&mut from, range.end)..range.end
        })
    })
}

#[derive(Default)]
struct Words {
    text: String,
    /// The next number of each surrounding list, if it has numbers.
    lists: Vec<Option<u64>>,
}

impl Words {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(words) | Event::Code(words) | Event::Html(words) | Event::InlineHtml(words) => {
                self.text.push_str(words);
            }
            Event::SoftBreak | Event::HardBreak => self.text.push('\n'),
            Event::TaskListMarker(is_done) => self.text.push_str(if *is_done { "✓ " } else { "□ " }),
            Event::Start(Tag::List(first)) => {
                if self.lists.is_empty() {
                    self.blocks(2);
                }
                self.lists.push(*first);
            }
            Event::Start(Tag::Item) => {
                if !self.text.is_empty() && !self.text.ends_with('\n') {
                    self.text.push('\n');
                }
                let mark = match self.lists.last_mut() {
                    Some(Some(n)) => {
                        *n += 1;
                        format!("{}. ", *n - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.text.push_str(&mark);
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
            }
            Event::Start(Tag::Paragraph) => self.block(),
            Event::Start(Tag::Heading { .. } | Tag::Table(_)) => self.blocks(2),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => {
                self.blocks(2);
            }
            Event::End(TagEnd::TableCell) => self.text.push('\t'),
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                self.text.truncate(self.text.trim_end_matches('\t').len());
                self.text.push('\n');
            }
            Event::Rule => self.blocks(2),
            _ => {}
        }
    }

    /// Begins a paragraph; the first one of an item is on the line of its mark.
    fn block(&mut self) {
        let is_after_mark = !self.lists.is_empty() && self.text.ends_with(' ');
        if !is_after_mark {
            self.blocks(2);
        }
    }

    /// Sets how many line breaks precede the next text.
    fn blocks(&mut self, breaks: usize) {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        if !self.text.is_empty() {
            self.text.push_str(&"\n".repeat(breaks));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_stand_without_their_marks() {
        let document = "# Why\n\nIt is **late**, see `clock.rs`:\n\n- one\n- [two](https://x.y)\n\n1. first\n2. then\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nend";
        assert_eq!(
            text(document),
            "Why\n\nIt is late, see clock.rs:\n\n• one\n• two\n\n1. first\n2. then\n\nlet a = 1;\n\nlet b = 2;\n\nend"
        );
    }

    #[test]
    fn each_block_has_its_words() {
        let document = "# Why\n\nIt is *late*.\n\n- one\n  - two\n- three\n\n---\n\n```\na\n\nb\n```\n\n> said\n>\n> twice\n\nend";
        let blocks: Vec<String> = (0..).map_while(|n| block(document, n)).collect();
        let expected = ["Why", "It is late.", "• one\n• two\n• three", "", "a\n\nb", "said\n\ntwice", "end"];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_table_is_copied_as_cells() {
        assert_eq!(text("| a | b |\n|---|---|\n| 1 | 2 |"), "a\tb\n1\t2");
    }
}
