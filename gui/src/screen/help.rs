//! The keys to know.

use crate::{
    effect::field,
    font, keymap,
    theme::{size, space, style},
    widget::{Element, Look, key, prose, secondary, word},
};
use iced::{
    Center, Fill,
    widget::{Column, column, container, row, scrollable, space as gap, text},
};

/// The page, drawn over the rest. `palette` opens the actions by name.
#[must_use]
pub fn view<'a, Message: Clone + 'static>(palette: Message, look: Look) -> Element<'a, Message> {
    let group = |(group, entries): &'static (&'static str, &'static [keymap::Entry])| {
        let keys = entries.iter().filter(|entry| entry.in_help).map(|entry| {
            row![container(key(entry.keys)).width(space::KEYS), prose(entry.what).width(Fill)]
                .align_y(Center)
                .into()
        });
        let title = secondary(*group).font(font::STRONG);
        column![title, Column::with_children(keys).spacing(space::XS)].spacing(space::S).into()
    };
    let (left, right) = keymap::MAP.split_at(3);
    let half = |groups: &'static [(&'static str, &'static [keymap::Entry])]| {
        Column::with_children(groups.iter().map(group)).spacing(space::L).width(Fill)
    };
    let all: Element<'a, Message> = if look.is_narrow {
        column![half(left), half(right)].spacing(space::L).into()
    } else {
        row![half(left), half(right)].spacing(space::XL).into()
    };
    let content = column![
        row![
            text("Keys").size(size::TITLE).font(font::STRONG),
            gap().width(Fill),
            word("All actions, by name", palette),
        ]
        .align_y(Center),
        all,
        secondary("Letters and digits count while no field has the keyboard (Esc leaves it), for the card that is framed, once it has stood still."),
    ]
    .spacing(space::L)
    .padding(space::XL)
    .width(Fill);
    container(scrollable(content).id(field::KEYS).style(style::bars))
        .max_width(space::COLUMN)
        .max_height(space::DIALOG)
        .style(style::dialog)
        .into()
}
