//! A trace of frames for measurements: `ABIDE_LOG=abide_gui::frame=trace` logs a line for each view that is
//! built and laid out and for each frame that is drawn, with its microseconds. Later work (pixels, and their
//! way to the display) is iced's and not included. Without the trace nothing is measured and nothing wrapped.

use crate::widget::{
    Element,
    wrap::{Inner, Wrap, wrapped},
};
use iced::{
    Event, Rectangle, Renderer, Theme,
    advanced::{Shell, layout},
    time::Instant,
    window,
};
use std::cell::Cell;

/// The built view, traced if the trace is on.
pub fn traced<'a, Message: 'a>(build: impl FnOnce() -> Element<'a, Message>) -> Element<'a, Message> {
    if !tracing::enabled!(tracing::Level::TRACE) {
        return build();
    }
    let begun = Cell::new(Some(Instant::now()));
    wrapped(build(), Traced { begun, redraw: Cell::new(None) })
}

struct Traced {
    /// When the build began, until the first layout.
    begun: Cell<Option<Instant>>,
    /// When the frame under way began.
    redraw: Cell<Option<Instant>>,
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl<Message> Wrap<Message> for Traced {
    type State = ();

    fn state(&self) {}

    fn laid_out(&self, node: layout::Node) -> layout::Node {
        if let Some(begun) = self.begun.take() {
            tracing::trace!(us = micros(begun), "built");
        }
        node
    }

    fn update(
        &mut self,
        (): &mut (),
        event: &Event,
        content: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        if let Event::Window(window::Event::RedrawRequested(_)) = event {
            self.redraw.set(Some(Instant::now()));
        }
        content.update(event, shell);
    }

    fn draw(
        &self,
        (): &(),
        renderer: &mut Renderer,
        _: &Theme,
        _: Rectangle,
        _: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        let begun = self.redraw.take().unwrap_or_else(Instant::now);
        draw(renderer);
        tracing::trace!(us = micros(begun), "drawn");
    }
}
