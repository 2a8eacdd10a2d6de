//! Small widgets, and the window's own element type.

pub mod centred;
pub mod elide;
pub mod escape;
pub mod field;
pub mod flash;
pub mod grip;
pub mod list;
pub mod passage;
pub mod pill;
pub mod press;
pub mod report;
pub mod resting_caret;
pub mod reveal;
pub mod spinner;
pub mod tab;
pub mod tint;
pub mod turn;
pub mod whole_pixels;
pub mod words_over;
pub mod wrap;
pub mod writing;
pub mod yielding;

use crate::{
    font,
    theme::{Tokens, size, space, style},
};
use abide_client::protocol::Timestamp;
use iced::{
    Center, Color, Fill, Theme,
    widget::{
        Container, Scrollable, Text, column, container, row, rule, scrollable,
        scrollable::{Direction, Scrollbar},
        space as gap, text,
    },
};
use press::{Press, press};
use std::borrow::Cow;

pub type Element<'a, Message> = iced::Element<'a, Message, Theme>;

/// The context of drawing.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub tokens: &'static Tokens,
    /// The current time; while disconnected, the time of the last contact, since nothing is known of what
    /// happened later.
    pub now: Timestamp,
    pub is_live: bool,
    /// The window is so low that a waiting card needs all other room.
    pub is_low: bool,
    /// The window is so low that the composer gives way to an approval.
    pub is_least: bool,
    /// There is room for the names of keys on buttons.
    pub has_caps: bool,
    /// What stands in two columns elsewhere has room for one.
    pub is_narrow: bool,
    /// The panel of sub-tasks is above the page, which is narrow then. It has their count.
    pub tree_is_above: bool,
    /// How high a field may grow, in logical pixels.
    pub tallest: f32,
    /// Half of the window's height, in logical pixels.
    pub half: f32,
    /// The message about the last action that needs no undo.
    pub said: Option<&'static str>,
    /// The home folder, for shortening paths.
    pub home: Option<&'static str>,
}

impl Look {
    /// The margin beside the column.
    #[must_use]
    pub const fn margin(self) -> f32 {
        if self.is_low { space::S } else { space::XL }
    }

    /// The margin below the column.
    #[must_use]
    pub const fn below(self) -> f32 {
        if self.is_low { space::XS } else { space::L }
    }
}

/// Prose of the usual size.
pub fn prose<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content).size(size::PROSE).line_height(size::LINE_HEIGHT).wrapping(text::Wrapping::WordOrGlyph)
}

/// Less important text.
pub fn secondary<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content)
        .size(size::SECONDARY)
        .line_height(size::LINE_HEIGHT)
        .wrapping(text::Wrapping::WordOrGlyph)
        .style(style::muted)
}

/// [`secondary`], for a place beside a [`word`]. They have one line height: with two they are a pixel apart.
#[must_use]
pub fn beside<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    secondary(content).line_height(text::LineHeight::default())
}

/// The title of a group, given in capitals.
pub fn head<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content).size(size::HEAD).font(font::STRONG).style(style::muted)
}

/// Code, commands, paths.
pub fn code<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content)
        .size(size::CODE)
        .font(font::CODE)
        .line_height(size::LINE_HEIGHT)
        .wrapping(text::Wrapping::WordOrGlyph)
}

/// One line, cut at the available width.
pub fn one_line<'a, Message: 'a>(content: Text<'a>) -> Container<'a, Message> {
    container(content.wrapping(text::Wrapping::None)).width(Fill).clip(true)
}

/// A mark in one colour.
pub fn dot<'a, Message: 'a>(pick: fn(&Tokens) -> Color) -> Element<'a, Message> {
    container(gap().width(space::DOT).height(space::DOT)).style(style::dot(pick)).into()
}

/// The mark of work; it does not move while disconnected.
pub fn working<'a, Message: 'a>(look: Look) -> Element<'a, Message> {
    if look.is_live { spinner::spinner() } else { dot(|tokens| tokens.faint) }
}

/// An empty element that keeps its place: iced leaves out empty ones, and all later widgets would lose their
/// state.
pub fn nothing<'a, Message: 'a>() -> Element<'a, Message> {
    container(gap().width(0).height(0)).into()
}

/// The name of a key.
pub fn key<'a, Message: 'a>(name: &'a str) -> Container<'a, Message> {
    container(text(name).size(size::KEY)).padding([1.0, 5.0]).style(style::key)
}

/// A button's label. Its height is a whole number: below a fraction of a pixel, iced paints only in part when
/// something above changes.
pub fn label<'a>(words: impl text::IntoFragment<'a>) -> Text<'a> {
    text(words)
        .size(size::PROSE)
        .line_height(text::LineHeight::Absolute(size::LABEL.into()))
        .font(font::MEDIUM)
}

/// A button's content: its label, and its key.
pub fn action<'a, Message: Clone + 'a>(
    words: &'a str,
    name: Option<Container<'a, Message>>,
) -> Press<'a, Message> {
    action_of(label(words), name)
}

/// The same with this label.
pub fn action_of<'a, Message: Clone + 'a>(
    label: Text<'a>,
    name: Option<Container<'a, Message>>,
) -> Press<'a, Message> {
    let content = match name {
        None => row![label],
        Some(name) => row![label, name].spacing(space::S),
    };
    press(content.align_y(Center)).padding(style::button_padding(false))
}

/// A small quiet button of one word.
pub fn word<'a, Message: Clone + 'a>(
    label: impl text::IntoFragment<'a>,
    message: Message,
) -> Press<'a, Message> {
    press(text(label).size(size::SECONDARY)).padding([2.0, 6.0]).style(style::quiet).on_press(message)
}

/// One of several options; the current one is highlighted.
pub fn pick<'a, Message: Clone + 'static>(
    label: impl text::IntoFragment<'a>,
    is_chosen: bool,
    message: Message,
) -> Element<'a, Message> {
    let choice = word(label, message).padding([4.0, 10.0]);
    choice.style(if is_chosen { style::chosen } else { style::quiet }).into()
}

/// A part of a page of fields, below its name.
pub fn section<'a, Message: 'a>(name: &'a str, content: Element<'a, Message>) -> Element<'a, Message> {
    let card = container(content).padding(space::L).width(Fill).style(style::card);
    column![secondary(name).font(font::STRONG), card].spacing(space::S).into()
}

/// A word, then a line to the end of the column.
pub fn divider<'a, Message: 'a>(label: impl Into<Cow<'a, str>>) -> Element<'a, Message> {
    row![passage::secondary(label), rule::horizontal(1).style(style::line)]
        .spacing(space::M)
        .align_y(Center)
        .into()
}

/// A vertical scroll area, whose bar has room of its own.
pub fn scrolls<'a, Message: 'a>(content: impl Into<Element<'a, Message>>) -> Scrollable<'a, Message> {
    let bar = Scrollbar::new().width(space::SCROLLBAR).scroller_width(space::SCROLLBAR).spacing(space::XS);
    scrollable(content).direction(Direction::Vertical(bar)).style(style::bars)
}

/// The count of new items.
pub fn badge<'a, Message: 'a>(count: impl text::IntoFragment<'a>) -> Container<'a, Message> {
    container(text(count).size(size::HEAD).font(font::STRONG)).padding([1.0, 6.0]).style(style::badge)
}
