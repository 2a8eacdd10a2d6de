//! A widget around another. [`Wrap`] has what it adds; everything else is passed to the inner widget.

use crate::widget::Element;
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Operation, Tree, tree},
    },
};

/// What is added to the inner widget.
pub trait Wrap<Message> {
    /// The state from frame to frame.
    type State: 'static;

    fn state(&self) -> Self::State;

    /// The view was built anew.
    fn diff(&self, _state: &mut Self::State) {}

    /// The layout of the inner widget; returns it as it is to be drawn.
    fn laid_out(&self, node: layout::Node) -> layout::Node {
        node
    }

    /// An operation, before it is passed to the inner widget.
    fn operate(&self, _state: &mut Self::State, _bounds: Rectangle, _operation: &mut dyn Operation) {}

    /// Handles an event. The inner widget gets it only through `inner`.
    fn update(
        &mut self,
        _state: &mut Self::State,
        event: &Event,
        inner: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        inner.update(event, shell);
    }

    /// `draw` draws the inner widget. Only `visible` of its bounds is shown: a layer must not reach beyond.
    fn draw(
        &self,
        _state: &Self::State,
        renderer: &mut Renderer,
        _theme: &Theme,
        _bounds: Rectangle,
        _visible: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        draw(renderer);
    }
}

/// This widget with what `wrap` adds.
pub fn wrapped<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    wrap: impl Wrap<Message> + 'a,
) -> Element<'a, Message> {
    Element::new(Wrapped { content: content.into(), wrap })
}

/// The inner widget, while an event is handled.
pub struct Inner<'w, 'a, Message> {
    content: &'w mut Element<'a, Message>,
    tree: &'w mut Tree,
    layout: Layout<'w>,
    cursor: mouse::Cursor,
    renderer: &'w Renderer,
    clipboard: &'w mut dyn Clipboard,
    viewport: &'w Rectangle,
}

impl<Message> Inner<'_, '_, Message> {
    /// Passes this event to it.
    pub fn update(&mut self, event: &Event, shell: &mut Shell<'_, Message>) {
        self.content.as_widget_mut().update(
            self.tree,
            event,
            self.layout,
            self.cursor,
            self.renderer,
            self.clipboard,
            shell,
            self.viewport,
        );
    }

    pub fn operate(&mut self, operation: &mut dyn Operation) {
        self.content.as_widget_mut().operate(self.tree, self.layout, self.renderer, operation);
    }

    /// Its bounds.
    #[must_use]
    pub fn bounds(&self) -> Rectangle {
        self.layout.bounds()
    }

    /// Its visible part of the window.
    #[must_use]
    pub const fn viewport(&self) -> Rectangle {
        *self.viewport
    }
}

/// A [`Wrap`]'s state. A type of its own, because a tree takes `()` for a widget without state.
struct Kept<State>(State);

fn kept<State: 'static>(state: &mut tree::State) -> &mut State {
    &mut state.downcast_mut::<Kept<State>>().0
}

struct Wrapped<'a, Message, W> {
    content: Element<'a, Message>,
    wrap: W,
}

impl<Message, W: Wrap<Message>> Widget<Message, Theme, Renderer> for Wrapped<'_, Message, W> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<Kept<W::State>>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(Kept(self.wrap.state()))
    }

    fn size(&self) -> Size<Length> {
        self.content.as_widget().size()
    }

    fn children(&self) -> Vec<Tree> {
        vec![Tree::new(&self.content)]
    }

    fn diff(&self, tree: &mut Tree) {
        self.wrap.diff(kept(&mut tree.state));
        tree.diff_children(std::slice::from_ref(&self.content));
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let node = self.content.as_widget_mut().layout(&mut tree.children[0], renderer, limits);
        self.wrap.laid_out(node)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        self.wrap.operate(kept(&mut tree.state), layout.bounds(), operation);
        self.content.as_widget_mut().operate(&mut tree.children[0], layout, renderer, operation);
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
        let mut inner = Inner {
            content: &mut self.content,
            tree: &mut tree.children[0],
            layout,
            cursor,
            renderer,
            clipboard,
            viewport,
        };
        self.wrap.update(kept(&mut tree.state), event, &mut inner, shell);
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
        let Some(visible) = layout.bounds().intersection(viewport) else { return };
        let content = self.content.as_widget();
        let draw = |renderer: &mut Renderer| {
            content.draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
        };
        self.wrap.draw(
            &tree.state.downcast_ref::<Kept<W::State>>().0,
            renderer,
            theme,
            layout.bounds(),
            visible,
            draw,
        );
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        self.content.as_widget().mouse_interaction(&tree.children[0], layout, cursor, viewport, renderer)
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        let content = self.content.as_widget_mut();
        content.overlay(&mut tree.children[0], layout, renderer, viewport, translation)
    }
}
