//! A small arc that turns while something works. It asks for its next frame itself, and only while it is shown.

use crate::theme::{space, tokens};
use iced::{
    Event, Point, Radians, Rectangle, Renderer, Theme, mouse,
    time::{Duration, Instant},
    widget::canvas::{self, Action, Canvas, Frame, Geometry, LineCap, Path, Stroke, path::Arc},
    window,
};

/// Slow enough to be calm and cheap.
const TICK: Duration = Duration::from_millis(120);
const TURN: f32 = 0.6;
/// A frame that is made for something else is taken, if the next of its own would come this soon.
const EARLY: Duration = Duration::from_millis(35);

/// The mark of work.
#[must_use]
pub fn spinner<'a, Message: 'a>() -> Canvas<Arcs, Message> {
    canvas::Canvas::new(Arcs).width(space::DOT).height(space::DOT)
}

#[derive(Debug, Clone, Copy)]
pub struct Arcs;

#[derive(Debug, Default)]
pub struct State {
    angle: f32,
    last: Option<Instant>,
}

impl<Message> canvas::Program<Message> for Arcs {
    type State = State;

    fn update(
        &self,
        state: &mut State,
        event: &Event,
        _bounds: Rectangle,
        _cursor: mouse::Cursor,
    ) -> Option<Action<Message>> {
        let Event::Window(window::Event::RedrawRequested(now)) = event else { return None };
        let due = state.last.map_or(*now, |last| last + TICK);
        if *now + EARLY >= due {
            state.angle = (state.angle + TURN) % std::f32::consts::TAU;
            state.last = Some(*now);
        }
        Some(Action::request_redraw_at(state.last.unwrap_or(*now) + TICK))
    }

    fn draw(
        &self,
        state: &State,
        renderer: &Renderer,
        theme: &Theme,
        bounds: Rectangle,
        _cursor: mouse::Cursor,
    ) -> Vec<Geometry> {
        let mut frame = Frame::new(renderer, bounds.size());
        let arc = Path::new(|path| {
            path.arc(Arc {
                center: Point::new(bounds.width / 2.0, bounds.height / 2.0),
                radius: bounds.width / 2.0 - 1.0,
                start_angle: Radians(state.angle),
                end_angle: Radians(state.angle + 4.4),
            });
        });
        let stroke =
            Stroke::default().with_color(tokens(theme).accent).with_width(2.0).with_line_cap(LineCap::Round);
        frame.stroke(&arc, stroke);
        vec![frame.into_geometry()]
    }
}
