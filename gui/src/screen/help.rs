//! The map of the keyboard.

use crate::{
    font, keymap,
    theme::{size, space, style},
    widget::{Element, key, prose, secondary},
};
use iced::{
    Center, Fill,
    widget::{Column, column, container, row, scrollable, text},
};

/// The page, to be laid over the rest.
#[must_use]
pub fn view<'a, Message: 'a>() -> Element<'a, Message> {
    let groups = keymap::MAP.iter().map(|(group, keys)| {
        let keys = keys
            .iter()
            .map(|(press, what)| row![container(key(press)).width(180), prose(*what)].align_y(Center).into());
        column![secondary(*group).font(font::STRONG), Column::with_children(keys).spacing(space::XS)]
            .spacing(space::S)
            .into()
    });
    let content = column![
        text("Keys").size(size::TITLE).font(font::STRONG),
        Column::with_children(groups).spacing(space::L),
        secondary("Letters and digits count while no field has the keyboard; Esc leaves a field."),
    ]
    .spacing(space::L)
    .padding(space::XL)
    .width(Fill);
    container(scrollable(content).style(style::bars))
        .max_width(space::DIALOG)
        .max_height(space::DIALOG)
        .style(style::dialog)
        .into()
}
