//! A layout at whole pixels.
//!
//! iced's software renderer draws a box exactly where the layout puts it: `Quad::snap` has an effect only on
//! a GPU. A border at a fraction of a pixel, where centring or the width of a word has put it, would be
//! spread over two pixels, each at half strength.

use crate::widget::{
    Element,
    wrap::{Wrap, wrapped},
};
use iced::{Point, Size, Vector, advanced::layout::Node};

/// All of this at whole pixels.
pub fn at_whole_pixels<'a, Message: 'a>(content: impl Into<Element<'a, Message>>) -> Element<'a, Message> {
    wrapped(content, AtWholePixels)
}

struct AtWholePixels;

impl<Message> Wrap<Message> for AtWholePixels {
    type State = ();

    fn state(&self) {}

    fn laid_out(&self, node: Node) -> Node {
        rounded(&node, Vector::ZERO)
    }
}

/// The layout with each edge at the nearest whole pixel; `outer` is the exact position of its parent.
fn rounded(node: &Node, outer: Vector) -> Node {
    let exact = node.bounds() + outer;
    let (left, top) = (exact.x.round(), exact.y.round());
    let mut size = Size::new((exact.x + exact.width).round() - left, (exact.y + exact.height).round() - top);
    if node.children().is_empty() {
        // A widget that draws its text in its bounds would break the line if it lost a part of a pixel.
        size = Size::new(size.width.max((exact.width - 0.01).ceil()), size.height);
    }
    let at = Vector::new(exact.x, exact.y);
    let children = node.children().iter().map(|child| rounded(child, at)).collect();
    Node::with_children(size, children).move_to(Point::new(left - outer.x.round(), top - outer.y.round()))
}
