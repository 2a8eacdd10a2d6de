//! Splits a text into blocks, line by line, while it streams.
//!
//! Only the ends of blocks are recognized. A wrong guess costs a blank line or a style, never a character:
//! each block is parsed by itself later.

/// A part of the text that can be rendered by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// A paragraph, a list item with its content, a quote, a table, a rule.
    Source(String),
    Heading(String),
    /// The info string of a fenced code block.
    Label(String),
    /// A line of a fenced code block, without its newline.
    Code(String),
    /// A blank line between blocks.
    Gap,
}

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The last line, as long as it has no newline.
    partial: String,
    open: Open,
}

/// The block that the next line may continue.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Paragraph(String),
    Quote(String),
    Item(Item),
    Code(Fence),
}

#[derive(Debug)]
struct Item {
    source: String,
    /// Code within the item.
    fence: Option<Fence>,
    /// Blank lines follow it: only an indented line continues it.
    has_gap: bool,
}

/// The fence that opened a code block, and will close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Blocks {
    /// Adds a piece; returns the blocks that it completes.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut rest = piece;
        while let Some((line, after)) = rest.split_once('\n') {
            let mut whole = std::mem::take(&mut self.partial);
            whole.push_str(line);
            self.line(whole.trim_end_matches('\r'), &mut blocks);
            rest = after;
        }
        self.partial.push_str(rest);
        blocks
    }

    /// Ends the text; returns the open block.
    pub(super) fn finish(&mut self) -> Vec<Block> {
        let blocks = self.interrupt();
        self.open = Open::Nothing;
        blocks
    }

    /// Ends the open block, except that code goes on as code.
    pub(super) fn interrupt(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(&line, &mut blocks);
        }
        if !matches!(self.open, Open::Code(_)) {
            self.close(&mut blocks);
        }
        blocks
    }

    /// The block that is being written, so far.
    pub(super) fn open(&self) -> Option<Block> {
        let with_partial = |source: &str| Some(Block::Source(format!("{source}{}", self.partial)));
        match &self.open {
            Open::Code(_) => (!self.partial.is_empty()).then(|| Block::Code(self.partial.clone())),
            Open::Nothing if self.partial.trim().is_empty() => None,
            Open::Nothing if is_heading(&self.partial) => Some(Block::Heading(self.partial.clone())),
            Open::Nothing => with_partial(""),
            Open::Paragraph(source) | Open::Quote(source) => with_partial(source),
            Open::Item(item) => with_partial(&item.source),
        }
    }

    fn close(&mut self, blocks: &mut Vec<Block>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing | Open::Code(_) => {}
            Open::Paragraph(source) | Open::Quote(source) => blocks.push(Block::Source(source)),
            Open::Item(item) => {
                blocks.push(Block::Source(item.source));
                if item.has_gap {
                    blocks.push(Block::Gap);
                }
            }
        }
    }

    fn line(&mut self, line: &str, blocks: &mut Vec<Block>) {
        match &mut self.open {
            Open::Code(fence) => {
                if fence.is_closed_by(line) {
                    self.open = Open::Nothing;
                } else {
                    blocks.push(Block::Code(fence.inner(line).to_owned()));
                }
                return;
            }
            Open::Item(item) if item.takes(line) => return item.add(line),
            _ => {}
        }
        if line.trim().is_empty() {
            self.close(blocks);
            return blocks.push(Block::Gap);
        }
        if let Some(fence) = Fence::of(line) {
            self.close(blocks);
            blocks.push(Block::Label(fence.info(line).to_owned()));
            self.open = Open::Code(fence);
            return;
        }
        if is_heading(line) {
            self.close(blocks);
            return blocks.push(Block::Heading(line.to_owned()));
        }
        match &mut self.open {
            // Dashes below a paragraph make it a heading.
            Open::Paragraph(source) if !begins_item(line) && !line.trim_start().starts_with('>') => {
                add_line(source, line);
                if is_underline(line) {
                    self.close(blocks);
                }
            }
            Open::Quote(source) if !begins_item(line) && !is_rule(line) => add_line(source, line),
            _ => {
                self.close(blocks);
                self.begin(line, blocks);
            }
        }
    }

    fn begin(&mut self, line: &str, blocks: &mut Vec<Block>) {
        let mut source = String::new();
        add_line(&mut source, line);
        if is_rule(line) {
            blocks.push(Block::Source(source));
        } else if begins_item(line) {
            self.open = Open::Item(Item { source, fence: None, has_gap: false });
        } else if line.trim_start().starts_with('>') {
            self.open = Open::Quote(source);
        } else {
            self.open = Open::Paragraph(source);
        }
    }
}

impl Item {
    /// Whether the line belongs to this item.
    fn takes(&self, line: &str) -> bool {
        let is_within = indent(line) >= 2;
        if self.fence.is_some() || line.trim().is_empty() || is_within {
            return true;
        }
        // Without a blank line before it, plain text continues the item's.
        !self.has_gap
            && !begins_item(line)
            && !is_heading(line)
            && !is_rule(line)
            && Fence::of(line).is_none()
            && !line.starts_with('>')
    }

    fn add(&mut self, line: &str) {
        match self.fence {
            Some(fence) if fence.is_closed_by(line) => self.fence = None,
            Some(_) => {}
            None => self.fence = Fence::within(line),
        }
        if self.fence.is_none() && line.trim().is_empty() {
            self.has_gap = true;
            return;
        }
        if std::mem::take(&mut self.has_gap) {
            self.source.push('\n');
        }
        add_line(&mut self.source, line);
    }
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        Self::within(line).filter(|fence| fence.indent <= 3)
    }

    /// At any indentation.
    fn within(line: &str) -> Option<Self> {
        let rest = line.trim_start();
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = rest.chars().take_while(|c| *c == mark).count();
        let info = &rest[length..];
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| Self { mark, length, indent: indent(line) })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    fn info(self, line: &str) -> &str {
        line.trim().trim_start_matches(self.mark).trim()
    }

    /// A line of the code, without the fence's indentation.
    fn inner(self, line: &str) -> &str {
        let shared = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        &line[shared..]
    }
}

fn add_line(source: &mut String, line: &str) {
    source.push_str(line);
    source.push('\n');
}

/// Columns before the first character; a tab counts as four.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start();
    let marks = rest.bytes().take_while(|b| *b == b'#').count();
    (1..=6).contains(&marks) && indent(line) <= 3 && (rest.len() == marks || rest[marks..].starts_with(' '))
}

/// `- `, `* `, `+ `, `1. ` or `1) `, indented no further than a list may be.
fn begins_item(line: &str) -> bool {
    let rest = line.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = if (1..=9).contains(&digits) {
        rest[digits..].strip_prefix(['.', ')'])
    } else {
        rest.strip_prefix(['-', '*', '+'])
    };
    indent(line) <= 3 && !is_rule(line) && after.is_some_and(|a| a.is_empty() || a.starts_with([' ', '\t']))
}

/// `---`, `***`, `_ _ _`.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let Some(mark) = marks.next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    indent(line) <= 3 && marks.clone().count() >= 2 && marks.all(|c| c == mark)
}

/// Whether the line makes the paragraph before it a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'))
}
