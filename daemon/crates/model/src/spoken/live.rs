//! The text of a reply while it streams: reasoning is told apart, and the markup of calls is held back. So are
//! blanks at the end, which a reply with calls or reasoning loses. The whole reply has what is held back too
//! early.

use super::{
    marker::{self, CodeTracker, Match},
    thought::TAGS,
};
use crate::request::ModelEvent;

/// So many bytes of blanks and no tag are no beginning of reasoning.
const MAX_BLANKS: usize = 256;

/// Where the text is.
#[derive(Debug)]
enum Position {
    /// Before the answer; reasoning may begin.
    Start {
        has_thought: bool,
    },
    /// In reasoning, up to this tag.
    Thought(&'static str),
    Answer(CodeTracker),
    /// In or behind markup.
    Hidden,
}

/// Turns the pieces of a text into what is shown.
#[derive(Debug)]
pub(crate) struct Live {
    state: Position,
    /// May be a part of a tag.
    held: String,
    /// At the end of the text so far.
    blanks: String,
    /// Calls may be written as text.
    hides: bool,
}

impl Live {
    pub(crate) const fn new(hides: bool) -> Self {
        Self {
            state: Position::Start { has_thought: false },
            held: String::new(),
            blanks: String::new(),
            hides,
        }
    }

    /// Passes on an event. A piece of text may become none, or several.
    pub(crate) fn pass(&mut self, event: ModelEvent, mut on_event: impl FnMut(ModelEvent)) {
        match event {
            ModelEvent::TextDelta(text) => {
                self.held.push_str(&text);
                self.go_on(false, &mut on_event);
            }
            other => on_event(other),
        }
    }

    /// The text is over: what is held is no tag.
    pub(crate) fn end(&mut self, mut on_event: impl FnMut(ModelEvent)) {
        self.go_on(true, &mut on_event);
    }

    fn go_on(&mut self, is_over: bool, on_event: &mut impl FnMut(ModelEvent)) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        loop {
            match &mut self.state {
                Position::Hidden => rest = "",
                Position::Start { has_thought } => {
                    let start = rest.trim_start();
                    if let Some((open, close)) = TAGS.iter().find(|(open, _)| start.starts_with(open)) {
                        rest = &start[open.len()..];
                        self.state = Position::Thought(close);
                        continue;
                    }
                    let is_long = rest.len() > MAX_BLANKS;
                    if is_over || is_long || !TAGS.iter().any(|(open, _)| open.starts_with(start)) {
                        rest = if *has_thought { start } else { rest };
                        self.state = Position::Answer(CodeTracker::default());
                        continue;
                    }
                }
                Position::Thought(close) => {
                    if let Some((thought, after)) = rest.split_once(*close) {
                        tell(ModelEvent::ReasoningDelta, thought, on_event);
                        rest = after;
                        self.state = Position::Start { has_thought: true };
                        continue;
                    }
                    let kept = if is_over { 0 } else { end_of_beginning(rest, close) };
                    let (thought, after) = rest.split_at(rest.len() - kept);
                    tell(ModelEvent::ReasoningDelta, thought, on_event);
                    rest = after;
                }
                Position::Answer(place) => {
                    let (found, passed) = answer(rest, place, self.hides);
                    // What the text breaks off within is no marker when it is over.
                    let passed = if is_over && found != Match::Marker { rest.len() } else { passed };
                    self.blanks.push_str(&rest[..passed]);
                    rest = &rest[passed..];
                    let said = self.blanks.trim_end().len();
                    let blanks = self.blanks.split_off(said);
                    tell(ModelEvent::TextDelta, &std::mem::replace(&mut self.blanks, blanks), on_event);
                    if found == Match::Marker {
                        self.state = Position::Hidden;
                        continue;
                    }
                }
            }
            break;
        }
        self.held = rest.to_owned();
    }
}

/// Passes the text up to what is a marker, or may become one. Returns which it is, and where it begins.
fn answer(text: &str, place: &mut CodeTracker, hides: bool) -> (Match, usize) {
    for (start, c) in text.char_indices() {
        if hides && matches!(c, '<' | '[') && !place.is_code() {
            let found = marker::at(&text[start..], place.is_line_start());
            if found != Match::No {
                return (found, start);
            }
        }
        place.pass(c);
    }
    (Match::No, text.len())
}

fn tell(event: fn(String) -> ModelEvent, text: &str, on_event: &mut impl FnMut(ModelEvent)) {
    if !text.is_empty() {
        on_event(event(text.to_owned()));
    }
}

/// How many bytes at the end of the text may be the beginning of this tag.
fn end_of_beginning(text: &str, tag: &str) -> usize {
    let lengths = tag.char_indices().map(|(at, _)| at).rev();
    lengths.into_iter().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Live;
    use crate::request::ModelEvent;

    /// Whatever the pieces are that the text comes in.
    #[test]
    fn a_text_is_told_from_reasoning_and_markup_while_it_streams() {
        for (text, reasoning, shown) in [
            ("Hello.", "", "Hello."),
            ("<think>Hm.</think>Hello.", "Hm.", "Hello."),
            ("\n<think>a < b</think>\n<think>c</think>d", "a < bc", "d"),
            ("<think>no end", "no end", ""),
            ("<thin air", "", "<thin air"),
            ("a < b [1] <tool", "", "a < b [1] <tool"),
            ("I look.\n<tool_call>\n{}\n</tool_call>", "", "I look."),
            (" I look. \n <b>\n", "", " I look. \n <b>"),
            ("I look.[TOOL_CALLS][{}]", "", "I look."),
            (
                "The tag `<tool_call>` and\n```\n<tool_call>\n```\nso.",
                "",
                "The tag `<tool_call>` and\n```\n<tool_call>\n```\nso.",
            ),
        ] {
            for size in [1, 3, 100] {
                let (mut thought, mut said, mut live) = (String::new(), String::new(), Live::new(true));
                let mut see = |event| match event {
                    ModelEvent::TextDelta(text) => said.push_str(&text),
                    ModelEvent::ReasoningDelta(text) => thought.push_str(&text),
                    _ => {}
                };
                let chars: Vec<char> = text.chars().collect();
                for piece in chars.chunks(size) {
                    live.pass(ModelEvent::TextDelta(piece.iter().collect()), &mut see);
                }
                live.end(&mut see);
                assert_eq!((thought.as_str(), said.as_str()), (reasoning, shown), "{text:?} by {size}");
            }
        }
    }
}
