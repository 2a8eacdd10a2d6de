//! Renders the agent's Markdown on a terminal while it streams.
//!
//! * [`blocks`] splits the stream into blocks; each line of a code block is a block of its own
//! * [`render`] turns a complete block into lines, parsed by `pulldown-cmark`
//! * [`wrap`] breaks lines between words, [`table`] lays out tables
//!
//! Invariants: a block is rendered once, when it is complete, so that lines on the screen never change; every
//! character of the text is shown, except for marks of style; lines of code are not changed.

mod blocks;
mod render;
mod table;
mod wrap;

use blocks::{Block, Blocks};
use render::Room;
pub(crate) use wrap::{plain, styled};

/// The width that is comfortable to read.
const COMFORTABLE: usize = 100;
/// A block that is being written is shown without style beyond this size, in bytes.
const MAX_OPEN: usize = 8 * 1024;

/// A text that is rendered as it comes.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    blocks: Blocks,
    /// The kind of the last block; `None` before the first.
    last: Option<Kind>,
    /// The text has a blank line here.
    is_gap: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prose,
    Heading,
    /// The label of the code that follows.
    Label,
    Code,
}

/// A whole text.
pub(crate) fn whole(text: &str, width: usize) -> String {
    let mut markdown = Markdown::default();
    let mut out = markdown.push(text, width);
    out.push_str(&markdown.finish(width));
    out
}

impl Markdown {
    /// Adds a piece of the text; returns the lines that it completes, for a terminal of `width` columns.
    pub(crate) fn push(&mut self, piece: &str, width: usize) -> String {
        let blocks = self.blocks.push(piece);
        self.render(&blocks, width)
    }

    /// Ends the text; returns the open block's lines.
    pub(crate) fn finish(&mut self, width: usize) -> String {
        let blocks = self.blocks.finish();
        let rendered = self.render(&blocks, width);
        *self = Self::default();
        rendered
    }

    /// Something else will be printed before the text goes on; returns the open block's lines.
    pub(crate) fn interrupt(&mut self, width: usize) -> String {
        let blocks = self.blocks.interrupt();
        let rendered = self.render(&blocks, width);
        self.last = None;
        rendered
    }

    /// The lines of the open block so far; none is wider than `width`.
    pub(crate) fn open(&self, width: usize) -> Vec<String> {
        let open = self.blocks.open();
        let mut lines = match &open {
            None => return Vec::new(),
            Some(Block::Source(source)) if source.len() > MAX_OPEN => {
                let from = source.ceil_char_boundary(source.len() - MAX_OPEN);
                wrap::plain(&source[from..], width)
            }
            Some(Block::Code(line)) => {
                let from = line.ceil_char_boundary(line.len().saturating_sub(MAX_OPEN));
                wrap::code(&line[from..], width)
            }
            Some(block) => rendered(block, Room::limited(width)),
        };
        if open.is_some_and(|block| self.is_apart(kind(&block))) {
            lines.insert(0, String::new());
        }
        lines
    }

    fn render(&mut self, blocks: &[Block], width: usize) -> String {
        let mut out = String::new();
        for block in blocks {
            if *block == Block::Gap {
                self.is_gap = true;
                continue;
            }
            let kind = kind(block);
            let lines = rendered(block, Room::of(width));
            if lines.is_empty() {
                // Code without a label is separated from preceding code, too.
                self.is_gap |= kind == Kind::Label;
                continue;
            }
            if self.is_apart(kind) {
                out.push('\n');
            }
            for line in lines {
                out.push_str(&line);
                out.push('\n');
            }
            self.last = Some(kind);
            self.is_gap = false;
        }
        out
    }

    /// Whether a blank line comes before a block of this kind.
    fn is_apart(&self, kind: Kind) -> bool {
        match self.last {
            None => false,
            Some(Kind::Label) if kind == Kind::Code => false,
            Some(Kind::Code) if kind == Kind::Code => self.is_gap,
            Some(last) => self.is_gap || last != Kind::Prose || kind != Kind::Prose,
        }
    }
}

fn kind(block: &Block) -> Kind {
    match block {
        Block::Code(_) => Kind::Code,
        Block::Label(_) => Kind::Label,
        Block::Heading(_) => Kind::Heading,
        Block::Source(_) | Block::Gap => Kind::Prose,
    }
}

fn rendered(block: &Block, room: Room) -> Vec<String> {
    match block {
        Block::Gap => Vec::new(),
        Block::Label(info) if info.is_empty() => Vec::new(),
        Block::Label(info) => vec![render::label(info, usize::MAX)],
        Block::Code(line) if room.is_limited() => wrap::code(line, room.columns()),
        Block::Code(line) => vec![render::code_line(line)],
        Block::Heading(source) | Block::Source(source) => render::source(source, room),
    }
}

#[cfg(test)]
mod tests;
