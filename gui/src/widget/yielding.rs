//! A row or column of which one part gets the room that the others leave. In iced's own, the last parts get
//! what is left, or nothing.

use crate::widget::Element;
use iced::{
    Event, Length, Point, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget,
        layout::{self, Limits, Node},
        mouse, overlay, renderer,
        widget::{Operation, Tree},
    },
};

/// See the module.
struct Yielding<'a, Message> {
    axis: Axis,
    parts: Vec<Element<'a, Message>>,
    /// The index of the part that gets the rest.
    yields: usize,
    spacing: f32,
}

#[derive(Debug, Clone, Copy)]
enum Axis {
    Row,
    Column,
}

/// A column; the part with this index gets the rest.
pub fn column<'a, Message: 'a>(
    parts: impl IntoIterator<Item = Element<'a, Message>>,
    yields: usize,
    spacing: f32,
) -> Element<'a, Message> {
    let parts = parts.into_iter().collect();
    Element::new(Yielding { axis: Axis::Column, parts, yields, spacing })
}

/// A row, centred vertically; the part with this index gets the rest.
pub fn row<'a, Message: 'a>(
    parts: impl IntoIterator<Item = Element<'a, Message>>,
    yields: usize,
    spacing: f32,
) -> Element<'a, Message> {
    let parts = parts.into_iter().collect();
    Element::new(Yielding { axis: Axis::Row, parts, yields, spacing })
}

impl Axis {
    const fn along(self, size: Size) -> f32 {
        match self {
            Self::Row => size.width,
            Self::Column => size.height,
        }
    }

    const fn across(self, size: Size) -> f32 {
        match self {
            Self::Row => size.height,
            Self::Column => size.width,
        }
    }

    const fn size(self, along: f32, across: f32) -> Size {
        match self {
            Self::Row => Size::new(along, across),
            Self::Column => Size::new(across, along),
        }
    }
}

impl<Message> Widget<Message, Theme, Renderer> for Yielding<'_, Message> {
    fn size(&self) -> Size<Length> {
        match self.axis {
            Axis::Row => Size::new(Length::Shrink, Length::Shrink),
            Axis::Column => Size::new(Length::Fill, Length::Shrink),
        }
    }

    fn children(&self) -> Vec<Tree> {
        self.parts.iter().map(Tree::new).collect()
    }

    fn diff(&self, tree: &mut Tree) {
        tree.diff_children(&self.parts);
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &Limits) -> Node {
        let (axis, most) = (self.axis, limits.max());
        let gaps = std::iter::repeat_n(self.spacing, self.parts.len().saturating_sub(1)).sum::<f32>();
        let mut left = axis.along(most) - gaps;
        let mut nodes = vec![Node::default(); self.parts.len()];
        for is_turn_of_yielding in [false, true] {
            let parts = self.parts.iter_mut().zip(&mut tree.children).zip(&mut nodes).enumerate();
            for (at, ((part, state), node)) in parts {
                if (at == self.yields) == is_turn_of_yielding {
                    let room = Limits::new(Size::ZERO, axis.size(left.max(0.0), axis.across(most)));
                    *node = part.as_widget_mut().layout(state, renderer, &room);
                    left -= axis.along(node.size());
                }
            }
        }
        let across = nodes.iter().map(|node| axis.across(node.size())).fold(0.0, f32::max);
        let mut along = 0.0;
        for node in &mut nodes {
            let at = match axis {
                Axis::Row => Point::new(along, (across - node.size().height) / 2.0),
                Axis::Column => Point::new(0.0, along),
            };
            node.move_to_mut(at);
            along += axis.along(node.size()) + self.spacing;
        }
        let size = axis.size((along - self.spacing).max(0.0), across);
        let size = match axis {
            Axis::Row => size,
            Axis::Column => Size { width: most.width, ..size },
        };
        layout::Node::with_children(size, nodes)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        operation.container(None, layout.bounds());
        operation.traverse(&mut |operation| {
            let parts = self.parts.iter_mut().zip(&mut tree.children).zip(layout.children());
            for ((part, state), layout) in parts {
                part.as_widget_mut().operate(state, layout, renderer, operation);
            }
        });
    }

    fn update(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        renderer: &Renderer,
        clipboard: &mut dyn Clipboard,
        shell: &mut Shell<'_, Message>,
        viewport: &Rectangle,
    ) {
        for ((part, state), layout) in self.parts.iter_mut().zip(&mut tree.children).zip(layout.children()) {
            part.as_widget_mut().update(state, event, layout, cursor, renderer, clipboard, shell, viewport);
        }
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        style: &renderer::Style,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        for ((part, state), layout) in self.parts.iter().zip(&tree.children).zip(layout.children()) {
            part.as_widget().draw(state, renderer, theme, style, layout, cursor, viewport);
        }
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        let parts = self.parts.iter().zip(&tree.children).zip(layout.children());
        parts
            .map(|((part, state), layout)| {
                part.as_widget().mouse_interaction(state, layout, cursor, viewport, renderer)
            })
            .max()
            .unwrap_or_default()
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        overlay::from_children(&mut self.parts, tree, layout, renderer, viewport, translation)
    }
}
