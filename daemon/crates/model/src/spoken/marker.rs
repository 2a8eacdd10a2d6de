//! Where the markup of calls begins in a text.

/// Tags that people write too, when they write about calls. Live output shows them within a line.
const AT_LINE_START: &[&str] = &[
    "<tool_call>",
    "<tool_calls>",
    "<toolcall>",
    "<TOOLCALL>",
    "<function_call>",
    "<function_calls>",
    "<functioncall>",
    "<function=",
    "<function name=",
    "<invoke name=",
    concat!("<antml", ":function_calls>"),
    concat!("<antml", ":invoke name="),
    "<minimax:tool_call>",
    "<seed:tool_call>",
    "functools[",
];

/// Tokens that begin calls anywhere: nobody writes them by hand.
const ANYWHERE: &[&str] = &[
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool_calls_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<｜DSML｜",
    "<|DSML|",
    "<|channel|>commentary to=",
    "<|channel|>analysis to=",
    "<|start|>assistant<|channel|>commentary to=",
    "<|start|>assistant to=",
    "<|tool_call|>",
    "<|tool_call_start|>",
    "<|START_ACTION|>",
    "<|action_start|>",
    "[TOOL_REQUEST]",
];

/// What the text from here on is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Marker,
    /// As far as the text goes it may become one.
    Perhaps,
    No,
}

/// Whether a marker begins here.
pub(super) fn at(text: &str, is_line_start: bool) -> Match {
    let mut markers = ANYWHERE.iter().chain(if is_line_start { AT_LINE_START } else { &[] });
    let mut perhaps = false;
    let is_marker = markers.any(|marker| {
        perhaps |= marker.starts_with(text);
        text.starts_with(marker)
    });
    match (is_marker, perhaps) {
        (true, _) => Match::Marker,
        (false, true) => Match::Perhaps,
        (false, false) => Match::No,
    }
}

/// So many markers of a text are looked at.
const MOST: usize = 16;

/// The length of what a line of a code fence begins with.
const FENCE: usize = 3;

/// Follows a text and knows where in it code is, which is quoted and not meant.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeTracker {
    in_fence: bool,
    in_code: bool,
    /// The first characters of the line that are not blank.
    line: String,
}

impl CodeTracker {
    pub(super) fn is_code(&self) -> bool {
        self.in_fence || self.in_code
    }

    pub(super) fn is_line_start(&self) -> bool {
        self.line.is_empty()
    }

    pub(super) fn pass(&mut self, c: char) {
        if c == '\n' {
            if matches!(self.line.as_str(), "```" | "~~~") {
                self.in_fence = !self.in_fence;
            }
            // Code within a line ends with it at the latest.
            self.in_code = false;
            self.line.clear();
            return;
        }
        if self.line.len() < FENCE && (!self.line.is_empty() || !c.is_whitespace()) {
            self.line.push(c);
        }
        if c == '`' && !self.in_fence {
            self.in_code = !self.in_code;
        }
    }
}

/// A marker in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    /// It is more than mentioned: it begins a line, or what it marks follows it at once.
    pub(super) is_meant: bool,
}

/// The markers that are not within code, up to [`MOST`].
pub(super) fn all(text: &str) -> Vec<Found> {
    let mut place = CodeTracker::default();
    let found = text.char_indices().filter_map(|(start, c)| {
        let is_line_start = place.is_line_start();
        let may_begin = matches!(c, '<' | '[' | 'f') && !place.is_code();
        place.pass(c);
        let marker = may_begin.then(|| marker(&text[start..]))??;
        let after = &text[start + marker.len()..];
        let follows = |c: char| {
            "[{<".contains(c) || if marker.ends_with('>') { c == '\n' } else { c.is_alphanumeric() }
        };
        let is_tag = AT_LINE_START.contains(&marker);
        let is_meant = is_line_start || (!is_tag || marker.ends_with('>')) && after.starts_with(follows);
        Some(Found { start, is_meant })
    });
    found.take(MOST).collect()
}

fn marker(text: &str) -> Option<&'static str> {
    AT_LINE_START.iter().chain(ANYWHERE).find(|marker| text.starts_with(**marker)).copied()
}
