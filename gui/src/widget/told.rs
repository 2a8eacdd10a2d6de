//! Tells the window what is drawn: where a card stands, and whether a caret is there. iced tells nobody by itself.

use crate::{guard::Spot, widget::Element};
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Id, Operation, Tree, operation::Focusable},
    },
    window,
};

/// A card that tells where it stands, if that is not where it is `known` to stand.
pub fn sighted<'a, Message: 'a>(
    card: impl Into<Element<'a, Message>>,
    known: Option<Spot>,
    tell: impl Fn(Spot) -> Message + 'a,
) -> Element<'a, Message> {
    let look: Look<'a, Message, Spot> = |_, _, layout, _, viewport| spot(layout.bounds(), *viewport);
    Element::new(Told { content: card.into(), look, known, tell: Box::new(tell) })
}

/// Tells whether one of the fields in it has the keyboard, if that is not `known`.
pub fn caret<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    known: bool,
    tell: impl Fn(bool) -> Message + 'a,
) -> Element<'a, Message> {
    let look: Look<'a, Message, bool> =
        |content, tree, layout, renderer, _| is_focused(content, tree, layout, renderer);
    Element::new(Told { content: content.into(), look, known: Some(known), tell: Box::new(tell) })
}

/// Whether something in this has the keyboard.
pub fn is_focused<Message>(
    content: &mut Element<'_, Message>,
    tree: &mut Tree,
    layout: Layout<'_>,
    renderer: &Renderer,
) -> bool {
    let mut found = Focused(false);
    content.as_widget_mut().operate(tree, layout, renderer, &mut found);
    found.0
}

#[expect(clippy::cast_possible_truncation, reason = "whole pixels of a screen")]
fn spot(card: Rectangle, view: Rectangle) -> Spot {
    Spot {
        top: (card.y - view.y).round() as i32,
        height: card.height.round() as i32,
        // What is rounded away hides nothing.
        is_whole: card.y >= view.y - 1.0 && card.y + card.height <= view.y + view.height + 1.0,
    }
}

struct Focused(bool);

impl Operation for Focused {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn focusable(&mut self, _id: Option<&Id>, _bounds: Rectangle, state: &mut dyn Focusable) {
        self.0 |= state.is_focused();
    }
}

type Look<'a, Message, T> = fn(&mut Element<'a, Message>, &mut Tree, Layout<'_>, &Renderer, &Rectangle) -> T;

struct Told<'a, T, Message> {
    content: Element<'a, Message>,
    look: Look<'a, Message, T>,
    known: Option<T>,
    tell: Box<dyn Fn(T) -> Message + 'a>,
}

impl<T: Copy + PartialEq, Message> Widget<Message, Theme, Renderer> for Told<'_, T, Message> {
    fn size(&self) -> Size<Length> {
        self.content.as_widget().size()
    }

    fn children(&self) -> Vec<Tree> {
        vec![Tree::new(&self.content)]
    }

    fn diff(&self, tree: &mut Tree) {
        tree.diff_children(std::slice::from_ref(&self.content));
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        self.content.as_widget_mut().layout(&mut tree.children[0], renderer, limits)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
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
        let tree = &mut tree.children[0];
        let content = self.content.as_widget_mut();
        content.update(tree, event, layout, cursor, renderer, clipboard, shell, viewport);
        if let Event::Window(window::Event::RedrawRequested(_)) = event {
            let seen = (self.look)(&mut self.content, tree, layout, renderer, viewport);
            if self.known != Some(seen) {
                self.known = Some(seen);
                shell.publish((self.tell)(seen));
            }
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
        self.content.as_widget().draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
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
