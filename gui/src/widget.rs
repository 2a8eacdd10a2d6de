//! Small widgets, and what the rest of the window calls an element.

pub mod calm;
pub mod list;
pub mod spinner;
pub mod told;

use crate::{
    font,
    theme::{Tokens, size, space, style},
};
use abide_client::protocol::Timestamp;
use iced::{
    Center, Color, Fill, Theme,
    widget::{Button, Container, Text, button, container, row, rule, space as gap, text},
};

pub type Element<'a, Message> = iced::Element<'a, Message, Theme>;

/// What drawing needs to know.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub tokens: &'static Tokens,
    pub now: Timestamp,
    /// For paths.
    pub home: Option<&'static str>,
}

/// Prose of the usual size.
pub fn prose<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content).size(size::PROSE).line_height(size::LINE_HEIGHT).wrapping(text::Wrapping::WordOrGlyph)
}

/// Beside the point.
pub fn secondary<'a>(content: impl text::IntoFragment<'a>) -> Text<'a> {
    text(content)
        .size(size::SECONDARY)
        .line_height(size::LINE_HEIGHT)
        .wrapping(text::Wrapping::WordOrGlyph)
        .style(style::muted)
}

/// The head of a group, to be given in capitals.
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

/// One line, cut where the room ends.
pub fn one_line<'a, Message: 'a>(content: Text<'a>) -> Container<'a, Message> {
    container(content.wrapping(text::Wrapping::None)).width(Fill).clip(true)
}

/// A mark in one colour.
pub fn dot<'a, Message: 'a>(pick: fn(&Tokens) -> Color) -> Element<'a, Message> {
    container(gap().width(space::DOT).height(space::DOT)).style(style::dot(pick)).into()
}

/// The name of a key.
pub fn key<'a, Message: 'a>(name: &'a str) -> Container<'a, Message> {
    container(text(name).size(size::KEY)).padding([1.0, 5.0]).style(style::key)
}

/// What is pressed: its words, and the key that does the same.
pub fn action<'a, Message: 'a>(label: &'a str, name: Option<Container<'a, Message>>) -> Button<'a, Message> {
    let label = text(label).size(size::PROSE).font(font::MEDIUM);
    let content = match name {
        None => row![label],
        Some(name) => row![label, name].spacing(space::S),
    };
    button(content.align_y(Center)).padding([7.0, 14.0])
}

/// A small quiet word that can be pressed.
pub fn word<'a, Message: Clone + 'a>(
    label: impl text::IntoFragment<'a>,
    message: Message,
) -> Button<'a, Message> {
    button(text(label).size(size::SECONDARY)).padding([2.0, 6.0]).style(style::quiet).on_press(message)
}

/// A word, then a line to the end of the column.
pub fn divider<'a, Message: 'a>(label: impl text::IntoFragment<'a>) -> Element<'a, Message> {
    row![secondary(label), rule::horizontal(1).style(style::line)].spacing(space::M).align_y(Center).into()
}

/// A count of what is new.
pub fn badge<'a, Message: 'a>(count: impl text::IntoFragment<'a>) -> Container<'a, Message> {
    container(text(count).size(size::HEAD).font(font::STRONG)).padding([1.0, 6.0]).style(style::badge)
}
