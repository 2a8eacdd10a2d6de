//! A widget with words over it.
//!
//! iced's `Stack` passes an event that another widget has captured to its uppermost layer only. A field below
//! the words would not notice that a click went to another field, and would keep its caret. (What is captured
//! in a mapped element counts in that alone.)

use crate::widget::Element;
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Renderer as _, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Operation, Tree},
    },
};

/// The widget with these words drawn over it, which are no larger. They get no events.
pub fn with_words_over<'a, Message: 'a>(
    widget: impl Into<Element<'a, Message>>,
    words: impl Into<Element<'a, Message>>,
) -> Element<'a, Message> {
    Element::new(WordsOver([widget.into(), words.into()]))
}

struct WordsOver<'a, Message>([Element<'a, Message>; 2]);

impl<Message> Widget<Message, Theme, Renderer> for WordsOver<'_, Message> {
    fn size(&self) -> Size<Length> {
        self.0[0].as_widget().size()
    }

    fn children(&self) -> Vec<Tree> {
        self.0.iter().map(Tree::new).collect()
    }

    fn diff(&self, tree: &mut Tree) {
        tree.diff_children(&self.0);
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let [widget, words] = &mut self.0;
        let widget = widget.as_widget_mut().layout(&mut tree.children[0], renderer, limits);
        let limits = layout::Limits::new(Size::ZERO, widget.size());
        let words = words.as_widget_mut().layout(&mut tree.children[1], renderer, &limits);
        layout::Node::with_children(widget.size(), vec![widget, words])
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
            for ((part, tree), layout) in self.0.iter_mut().zip(&mut tree.children).zip(layout.children()) {
                part.as_widget_mut().operate(tree, layout, renderer, operation);
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
        self.0[0].as_widget_mut().update(
            &mut tree.children[0],
            event,
            layout.child(0),
            cursor,
            renderer,
            clipboard,
            shell,
            viewport,
        );
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
        if !layout.bounds().intersects(viewport) {
            return;
        }
        let [widget, words] = &self.0;
        let draw = |part: &Element<'_, Message>, at: usize, renderer: &mut Renderer| {
            let (tree, layout) = (&tree.children[at], layout.child(at));
            part.as_widget().draw(tree, renderer, theme, style, layout, cursor, viewport);
        };
        draw(widget, 0, renderer);
        // In one layer all boxes are drawn before all texts: the box of the words needs a layer of its own.
        renderer.with_layer(*viewport, |renderer| draw(words, 1, renderer));
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        let widget = self.0[0].as_widget();
        widget.mouse_interaction(&tree.children[0], layout.child(0), cursor, viewport, renderer)
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        let widget = self.0[0].as_widget_mut();
        widget.overlay(&mut tree.children[0], layout.child(0), renderer, viewport, translation)
    }
}
