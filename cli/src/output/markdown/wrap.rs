//! Breaks styled text into lines.

use crate::output::{
    style::{CODE, paint},
    text,
};
use anstyle::Style;
use unicode_width::UnicodeWidthChar as _;

/// Text of one style, already safe. `
/// ` begins a new line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

/// A line that fits, and its width in columns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FittingLine {
    pub(super) painted: String,
    pub(super) width: usize,
}

/// What to do with a word that is longer than a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Long {
    /// Keep it whole, so that an address can be copied: the terminal breaks it.
    Keep,
    Break,
}

/// Breaks between words. Words of scripts without spaces break between their characters.
pub(super) fn wrap(spans: &[Span], room: usize, long: Long) -> Vec<FittingLine> {
    let mut writer = Writer { lines: vec![FittingLine::default()], run: None, room: room.max(1), long };
    let mut word = Vec::new();
    let mut is_spaced = false;
    let mut before = ' ';
    for span in spans {
        for c in span.text.chars() {
            match c {
                '\n' => {
                    writer.word(&mut word, std::mem::take(&mut is_spaced));
                    writer.end_line();
                }
                ' ' | '\t' => {
                    writer.word(&mut word, std::mem::take(&mut is_spaced));
                    is_spaced = true;
                }
                _ => {
                    if !word.is_empty() && can_break(before, c) {
                        writer.word(&mut word, std::mem::take(&mut is_spaced));
                    }
                    word.push((c, span.style));
                }
            }
            before = c;
        }
    }
    writer.word(&mut word, is_spaced);
    writer.end_run();
    writer.lines
}

/// Whether a line may break between two characters: one is wide, and they do not form one sign.
fn can_break(before: char, c: char) -> bool {
    let is_wide = |c: char| c.width() == Some(2);
    let joins = |c: char| c.width() == Some(0) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
    // A line does not begin with a closing character, nor end with an opening one.
    let closes = |c: char| {
        matches!(c, '、' | '。' | '，' | '．' | '！' | '？' | '：' | '；' | '）' | '」' | '』' | '】')
            || c.is_ascii_punctuation()
    };
    (is_wide(before) || is_wide(c))
        && !joins(c)
        && !joins(before)
        && !closes(c)
        && !matches!(before, '（' | '「' | '『' | '【' | '(' | '[')
}

struct Writer {
    lines: Vec<FittingLine>,
    /// The text under way that has one style.
    run: Option<Span>,
    room: usize,
    long: Long,
}

impl Writer {
    /// Adds a word, after a space unless it begins a line.
    fn word(&mut self, word: &mut Vec<(char, Style)>, is_spaced: bool) {
        if word.is_empty() {
            return;
        }
        let text: String = word.iter().map(|(c, _)| c).collect();
        let width = text::width(&text);
        let used = self.used();
        let gap = usize::from(is_spaced && used > 0);
        if used > 0 && used + gap + width > self.room {
            self.end_line();
        } else if gap > 0 {
            // A space between two words of one style has that style, so that a link is underlined throughout.
            let style = match &self.run {
                Some(run) if run.style == word[0].1 => run.style,
                _ => Style::new(),
            };
            self.put(' ', style, 1);
        }
        if self.long == Long::Keep || width <= self.room {
            // The width of a character sequence is not the sum of its characters' widths.
            let end = self.used() + width;
            for &(c, style) in word.iter() {
                self.put(c, style, 0);
            }
            self.set_used(end);
        } else {
            for &(c, style) in word.iter() {
                let width = c.width().unwrap_or(0);
                if self.used() > 0 && self.used() + width > self.room {
                    self.end_line();
                }
                self.put(c, style, width);
            }
        }
        word.clear();
    }

    fn used(&self) -> usize {
        self.lines.last().map_or(0, |line| line.width)
    }

    fn set_used(&mut self, width: usize) {
        if let Some(line) = self.lines.last_mut() {
            line.width = width;
        }
    }

    fn put(&mut self, c: char, style: Style, width: usize) {
        match &mut self.run {
            Some(run) if run.style == style => run.text.push(c),
            _ => {
                self.end_run();
                self.run = Some(Span { style, text: c.to_string() });
            }
        }
        self.set_used(self.used() + width);
    }

    fn end_run(&mut self) {
        if let (Some(run), Some(line)) = (self.run.take(), self.lines.last_mut()) {
            line.painted.push_str(&paint(run.style, &run.text));
        }
    }

    fn end_line(&mut self) {
        self.end_run();
        self.lines.push(FittingLine::default());
    }
}

/// Breaks text without style into lines.
pub(crate) fn plain(raw: &str, room: usize) -> Vec<String> {
    let span = Span { style: Style::new(), text: text::block(raw).into_owned() };
    wrap(&[span], room, Long::Break).into_iter().map(|line| line.painted).collect()
}

/// Breaks texts of several styles into lines.
pub(crate) fn styled(words: &[(Style, &str)], room: usize) -> Vec<String> {
    let spans: Vec<Span> = words
        .iter()
        .map(|(style, text)| Span { style: *style, text: text::block(text).into_owned() })
        .collect();
    wrap(&spans, room, Long::Break).into_iter().map(|line| line.painted).collect()
}

/// Breaks a line of code that is being written.
pub(super) fn code(raw: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text::row(raw).chars() {
        let width = c.width().unwrap_or(0);
        if used + width > room {
            lines.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines.iter().map(|line| paint(CODE, line)).collect()
}
