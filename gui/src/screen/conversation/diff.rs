//! A unified diff: lines on two backgrounds, with their numbers and in their language's colours.

mod hunks;
mod lines;
mod net;

pub use hunks::hunks;
pub use lines::{Counts, counts};
pub use net::net;

use crate::{
    syntax::{self, Language},
    theme::{Tokens, space, style},
    widget::{
        self, Element, Look,
        passage::{self, Passage, Span, code},
        secondary, word,
    },
    words,
};
use abide_client::protocol::inbox::Preview;
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, Row, container, row},
};
use lines::{DiffLine, Kind, lines};

/// The most lines of a diff in an approval's card.
pub const ALL: usize = 400;
/// The most lines in a timeline until it is opened: they fit without a scrollbar.
pub const SHORT: usize = 14;
/// The most characters of a path beside the buttons.
const MAX_PATH: usize = 40;

/// The diff, with at most `max` lines and a button for the rest. Its head is left out: the card names the
/// file.
pub fn view<'a, Message: Clone + 'static>(
    preview: &Preview,
    max: usize,
    look: Look,
    open: impl FnOnce() -> Message,
) -> Element<'a, Message> {
    let all: Vec<DiffLine<'_>> = lines(&preview.diff).collect();
    if all.is_empty() {
        return secondary("It changes nothing.").into();
    }
    let (shown, rest) = all.split_at(max.min(all.len()));
    let last = shown.iter().filter_map(|line| line.number).max();
    #[expect(clippy::cast_precision_loss, reason = "a few digits")]
    let gutter = last.map(|last| last.to_string().len() as f32 * space::DIGIT);
    let language = syntax::of_path(&preview.path);
    let mut content =
        Column::with_children(shown.iter().map(|line| line_view(*line, gutter, language, look.tokens)));
    if !rest.is_empty() {
        // The mark of the cut is no line, and it may stand within one.
        let (at_least, more) = match rest.iter().any(|line| line.kind == Kind::Cut) {
            true => ("at least ", rest.len().saturating_sub(2)),
            false => ("", rest.len()),
        };
        let words = format!("… {at_least}{}", words::counted(more as u64, "more line"));
        content = content.push(word(words, open()));
    }
    content.into()
}

fn line_view<'a, Message: 'a>(
    line: DiffLine<'_>,
    gutter: Option<f32>,
    language: Option<&'static Language>,
    tokens: &'static Tokens,
) -> Element<'a, Message> {
    let text = visible_line(&line.text.replace('\t', "    ")).into_owned();
    let ground: Option<fn(&iced::Theme) -> container::Style> = match line.kind {
        Kind::Added => Some(style::added),
        Kind::Removed => Some(style::removed),
        Kind::Same | Kind::Mark | Kind::Cut => None,
    };
    let words = match line.kind {
        Kind::Mark | Kind::Cut => code(text).style(style::muted),
        Kind::Added | Kind::Removed | Kind::Same => coloured(text, line.kind, language, tokens),
    };
    let words = numbered(line, words.width(Fill), gutter);
    match ground {
        None => words,
        Some(ground) => container(words).width(Fill).style(ground).into(),
    }
}

/// The sign in its colour, then the line in those of its language, if that is known.
fn coloured<'a, Message>(
    text: String,
    kind: Kind,
    language: Option<&'static Language>,
    tokens: &'static Tokens,
) -> Passage<'a, Message> {
    let stamp = syntax::stamp(language, tokens);
    let words = passage::drawn(text, stamp, move |line| {
        let (sign, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let ink = match kind {
            Kind::Added => tokens.ok,
            Kind::Removed => tokens.bad,
            Kind::Same | Kind::Mark | Kind::Cut => tokens.muted,
        };
        let sign = Span::new(sign.to_owned()).color(ink);
        let rest = match language {
            None => vec![Span::new(rest.to_owned())],
            Some(language) => syntax::spans(rest, language, tokens),
        };
        std::iter::once(sign).chain(rest).collect()
    });
    if kind == Kind::Same { words.style(style::muted) } else { words }
}

fn numbered<'a, Message: 'a>(
    line: DiffLine<'_>,
    words: Passage<'a, Message>,
    gutter: Option<f32>,
) -> Element<'a, Message> {
    let Some(gutter) = gutter else { return words.into() };
    let number = line.number.map(|number| number.to_string()).unwrap_or_default();
    // DiffLine numbers cannot be selected.
    let number =
        widget::code(number).style(style::muted).width(gutter).align_x(iced::alignment::Horizontal::Right);
    row![number, words].spacing(space::S).into()
}

/// The file, and how many lines are added and removed.
pub fn summary<'a, Message: 'a>(preview: &Preview) -> Row<'a, Message> {
    let path = words::shortened(&visible_line(&preview.path), MAX_PATH);
    Row::new().push(secondary(path)).extend(changes(preview)).spacing(space::XS).align_y(Center)
}

/// How many lines are added and removed.
pub fn changes<'a, Message: 'a>(preview: &Preview) -> impl Iterator<Item = Element<'a, Message>> {
    let (added, removed) = counts(preview).words();
    let added = added.map(|words| secondary(words).style(style::ok).into());
    added.into_iter().chain(removed.map(|words| secondary(words).style(style::bad).into()))
}
