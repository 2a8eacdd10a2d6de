//! A picker: a small button that shows what is picked, and opens the list of choices.
//!
//! iced takes for the place of a picker's own words what lies below the middle of their line. When other
//! words are picked, it repaints only that, and the upper half of the old ones stays. So these words have no
//! ink, and a text over them shows what is picked.

use crate::{
    font,
    theme::{size, space, style},
    widget::{Element, elide::elided, words_over::with_words_over},
};
use iced::{
    Fill,
    widget::{PickList, container},
};
use std::borrow::{Borrow, Cow};

/// The picker with this list, which shows this.
pub fn pill<'a, T, L, V, Message>(
    list: PickList<'a, T, L, V, Message>,
    shown: impl Into<Cow<'a, str>>,
) -> Element<'a, Message>
where
    T: ToString + PartialEq + Clone + 'a,
    L: Borrow<[T]> + 'a,
    V: Borrow<T> + 'a,
    Message: Clone + 'a,
{
    let list =
        list.text_size(size::SECONDARY).padding([4.0, 8.0]).style(style::pill).menu_style(style::choices);
    let shown = elided(shown, size::SECONDARY, font::PROSE).style(style::muted);
    let shown = container(shown).padding(iced::padding::left(8).right(space::ARROW)).center_y(Fill);
    with_words_over(list, shown)
}
