//! A trace of frames, to measure by: `ABIDE_LOG=abide_gui::frame=trace` writes a line for each view that is built and laid out
//! and one for each frame that is drawn, with the microseconds it took. What comes after (pixels, and their way to the display)
//! is iced's and not in them. Without the trace nothing is measured and nothing wrapped.

use crate::widget::Element;
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Operation, Tree},
    },
    time::Instant,
    window,
};
use std::cell::Cell;

/// What `build` builds, traced if somebody wants the trace.
pub fn traced<'a, Message: 'a>(build: impl FnOnce() -> Element<'a, Message>) -> Element<'a, Message> {
    if !tracing::enabled!(tracing::Level::TRACE) {
        return build();
    }
    let begun = Cell::new(Some(Instant::now()));
    Element::new(Traced { content: build(), begun, redraw: Cell::new(None) })
}

struct Traced<'a, Message> {
    content: Element<'a, Message>,
    /// Until it is laid out for the first time.
    begun: Cell<Option<Instant>>,
    /// Since when a frame is being made.
    redraw: Cell<Option<Instant>>,
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl<Message> Widget<Message, Theme, Renderer> for Traced<'_, Message> {
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
        let node = self.content.as_widget_mut().layout(&mut tree.children[0], renderer, limits);
        if let Some(begun) = self.begun.take() {
            tracing::trace!(us = micros(begun), "built");
        }
        node
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
        if let Event::Window(window::Event::RedrawRequested(_)) = event {
            self.redraw.set(Some(Instant::now()));
        }
        let content = self.content.as_widget_mut();
        content.update(&mut tree.children[0], event, layout, cursor, renderer, clipboard, shell, viewport);
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
        let begun = self.redraw.take().unwrap_or_else(Instant::now);
        self.content.as_widget().draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
        tracing::trace!(us = micros(begun), "drawn");
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
