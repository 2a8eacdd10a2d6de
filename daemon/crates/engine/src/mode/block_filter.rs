//! Hides the control block of a reply while the reply is streamed.

/// At the start of a line, what a block begins with.
const FENCE: &str = "```json";

/// Lets the text before a control block through. What may be the start of a block is held back until it is
/// clear. The reply's record has the whole text that people see, so nothing that is hidden too early is lost.
#[derive(Debug, Default)]
pub struct BlockFilter {
    /// Whether there may be a block at all.
    is_needed: bool,
    /// The start of the newest line, as long as it may be that of a block.
    line_start: String,
    place: Place,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    LineStart,
    InLine,
    /// In or behind the block.
    Hidden,
}

impl BlockFilter {
    pub(crate) fn new(is_needed: bool) -> Self {
        Self { is_needed, ..Self::default() }
    }

    /// The part of the text that may be shown now, after this piece has come.
    pub fn push(&mut self, piece: &str) -> String {
        if !self.is_needed {
            return piece.to_owned();
        }
        let mut shown = String::new();
        for c in piece.chars() {
            match self.place {
                Place::Hidden => break,
                Place::InLine => shown.push(c),
                Place::LineStart => {
                    self.line_start.push(c);
                    let line = self.line_start.trim_start();
                    if line.starts_with('{') || line == FENCE {
                        self.place = Place::Hidden;
                    } else if !FENCE.starts_with(line) {
                        shown.push_str(&self.line_start);
                        self.line_start.clear();
                        self.place = Place::InLine;
                    }
                }
            }
            if c == '\n' && self.place == Place::InLine {
                self.place = Place::LineStart;
            }
        }
        shown
    }
}
