//! The reading column outside of the timeline, centred at a whole pixel as the timeline's rows are. iced's own centring may place it
//! between two pixels: borders are blurred then.

use crate::{
    theme::space,
    widget::{
        Element,
        wrap::{Wrap, wrapped},
    },
};
use iced::{Fill, Point, advanced::layout::Node, padding, widget::container};

/// The content, no wider than the reading column, with at least this margin on either side.
pub fn centred<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    margin: f32,
) -> Element<'a, Message> {
    let column = container(content).max_width(space::COLUMN);
    wrapped(container(column).center_x(Fill).padding(padding::horizontal(margin)), AtWholePixel)
}

struct AtWholePixel;

impl<Message> Wrap<Message> for AtWholePixel {
    type State = ();

    fn state(&self) {}

    fn laid_out(&self, node: Node) -> Node {
        let moved = node.children().iter().map(|child| {
            let at = child.bounds().position();
            child.clone().move_to(Point::new(at.x.round(), at.y))
        });
        Node::with_children(node.size(), moved.collect())
    }
}
