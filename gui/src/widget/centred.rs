//! The reading column outside of the timeline.

use crate::{theme::space, widget::Element};
use iced::{Fill, padding, widget::container};

/// The content, no wider than the reading column, with at least this margin on either side.
pub fn centred<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    margin: f32,
) -> Element<'a, Message> {
    let column = container(content).max_width(space::COLUMN);
    container(column).center_x(Fill).padding(padding::horizontal(margin)).into()
}
