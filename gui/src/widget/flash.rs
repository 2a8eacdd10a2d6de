//! A soft light over a card that has just come, once. It requests its few frames itself, and none after them.

use crate::{
    theme::{radius, tokens},
    widget::{
        Element,
        wrap::{Inner, Wrap, wrapped},
    },
};
use iced::{
    Border, Color, Event, Rectangle, Renderer, Theme,
    advanced::{Renderer as _, Shell, renderer::Quad},
    time::{Duration, Instant},
    window,
};

/// How long it takes to fade.
const FADE: Duration = Duration::from_millis(900);
const TICK: Duration = Duration::from_millis(60);
/// At its strongest.
const ALPHA: f32 = 0.25;

/// Lights this up if it `is_new` when it is first shown.
pub fn flashing<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    is_new: bool,
) -> Element<'a, Message> {
    wrapped(content, Flash { is_new })
}

struct Flash {
    is_new: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Not drawn yet.
    Due,
    Fading {
        since: Instant,
        now: Instant,
    },
    Over,
}

impl<Message> Wrap<Message> for Flash {
    type State = State;

    fn state(&self) -> State {
        if self.is_new { State::Due } else { State::Over }
    }

    fn update(
        &mut self,
        state: &mut State,
        event: &Event,
        inner: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        if let Event::Window(window::Event::RedrawRequested(now)) = event {
            let since = match *state {
                State::Due => Some(*now),
                State::Fading { since, .. } => Some(since).filter(|since| *now < *since + FADE),
                State::Over => None,
            };
            *state = since.map_or(State::Over, |since| State::Fading { since, now: *now });
            if since.is_some() {
                shell.request_redraw_at(*now + TICK);
            }
        }
        inner.update(event, shell);
    }

    fn draw(
        &self,
        state: &State,
        renderer: &mut Renderer,
        theme: &Theme,
        bounds: Rectangle,
        _: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        draw(renderer);
        if let State::Fading { since, now } = *state {
            let left = 1.0 - now.duration_since(since).as_secs_f32() / FADE.as_secs_f32();
            let border = Border { radius: radius::CARD.into(), ..Border::default() };
            let ground = Color { a: ALPHA * left.clamp(0.0, 1.0), ..tokens(theme).needs_you };
            renderer.fill_quad(Quad { bounds, border, ..Quad::default() }, ground);
        }
    }
}
