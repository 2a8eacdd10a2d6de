//! A ring of dots that turns while something works. It requests its frames itself, only while it is shown.
//!
//! It is made of quads, not of a canvas: iced's software renderer gives each canvas an empty group of text.
//! When a paragraph takes that group's place in the next frame, its damaged region is moved by the canvas'
//! position, and the paragraph is painted only in part, or not at all.

use crate::{
    theme::{space, tokens},
    widget::Element,
};
use iced::{
    Border, Color, Event, Length, Rectangle, Renderer, Shadow, Size, Theme,
    advanced::{
        Clipboard, Layout, Renderer as _, Shell, Widget, layout, mouse, renderer,
        widget::{Tree, tree},
    },
    time::{Duration, Instant},
    window,
};

/// Slow enough to be calm and cheap.
const TICK: Duration = Duration::from_millis(120);
/// A frame drawn for something else is used if its own next one would come this soon: while text streams,
/// frames are 40 ms apart, and none is drawn for the spinner alone.
const EARLY: Duration = Duration::from_millis(45);
/// The places of the dots in eighths of the width, clockwise.
const DOTS: [(f32, f32); 8] =
    [(3.0, 0.0), (5.1, 0.9), (6.0, 3.0), (5.1, 5.1), (3.0, 6.0), (0.9, 5.1), (0.0, 3.0), (0.9, 0.9)];

/// The mark of work.
#[must_use]
pub fn spinner<'a, Message: 'a>() -> Element<'a, Message> {
    Element::new(Spinner)
}

struct Spinner;

#[derive(Debug, Default)]
struct State {
    /// The dot that is brightest.
    first: usize,
    last: Option<Instant>,
}

impl<Message> Widget<Message, Theme, Renderer> for Spinner {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(State::default())
    }

    fn size(&self) -> Size<Length> {
        Size::new(Length::Fixed(space::DOT), Length::Fixed(space::DOT))
    }

    fn layout(&mut self, _tree: &mut Tree, _renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        layout::atomic(limits, space::DOT, space::DOT)
    }

    fn update(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        _layout: Layout<'_>,
        _cursor: mouse::Cursor,
        _renderer: &Renderer,
        _clipboard: &mut dyn Clipboard,
        shell: &mut Shell<'_, Message>,
        _viewport: &Rectangle,
    ) {
        let Event::Window(window::Event::RedrawRequested(now)) = event else { return };
        let state: &mut State = tree.state.downcast_mut();
        let due = state.last.map_or(*now, |last| last + TICK);
        if *now + EARLY >= due {
            state.first = (state.first + 1) % DOTS.len();
            state.last = Some(*now);
        }
        shell.request_redraw_at(state.last.unwrap_or(*now) + TICK);
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        _style: &renderer::Style,
        layout: Layout<'_>,
        _cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        let bounds = layout.bounds();
        if !bounds.intersects(viewport) {
            return;
        }
        let state: &State = tree.state.downcast_ref();
        let unit = bounds.width / 8.0;
        // The brightest leads, and the others fade behind it.
        let ages = [1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1];
        for (age, alpha) in ages.into_iter().enumerate() {
            let (x, y) = DOTS[(state.first + DOTS.len() - age) % DOTS.len()];
            let quad = renderer::Quad {
                bounds: Rectangle {
                    x: bounds.x + x * unit,
                    y: bounds.y + y * unit,
                    width: 2.0 * unit,
                    height: 2.0 * unit,
                },
                border: Border { radius: unit.into(), ..Border::default() },
                shadow: Shadow::default(),
                snap: false,
            };
            renderer.fill_quad(quad, Color { a: alpha, ..tokens(theme).accent });
        }
    }
}
