//! A field whose caret stops blinking after a while without input. iced's fields blink as long as they have
//! the keyboard, which costs two frames a second in an idle window.

use crate::widget::{
    Element,
    wrap::{Inner, Wrap, wrapped},
};
use iced::{
    Event, Rectangle, Renderer, Theme,
    advanced::{Renderer as _, Shell, mouse},
    time::{Duration, Instant},
    window,
};

/// How long carets blink on desktops (GTK's `gtk-cursor-blink-timeout`).
const BLINKING: Duration = Duration::from_secs(10);

/// Wraps a field.
pub fn resting_caret<'a, Message: 'a>(field: impl Into<Element<'a, Message>>) -> Element<'a, Message> {
    wrapped(field, RestingCaret)
}

struct RestingCaret;

struct CaretState {
    touched: Instant,
    is_window_focused: bool,
}

impl CaretState {
    fn notice(&mut self, event: &Event) {
        match event {
            Event::Keyboard(_) | Event::InputMethod(_) | Event::Touch(_) => {}
            Event::Mouse(mouse::Event::ButtonPressed(_)) => {}
            Event::Window(window::Event::Focused) => self.is_window_focused = true,
            Event::Window(window::Event::Unfocused) => return self.is_window_focused = false,
            _ => return,
        }
        self.touched = Instant::now();
    }

    fn rests(&self, now: Instant) -> bool {
        self.is_window_focused && now.saturating_duration_since(self.touched) >= BLINKING
    }
}

impl<Message> Wrap<Message> for RestingCaret {
    type State = CaretState;

    fn state(&self) -> CaretState {
        CaretState { touched: Instant::now(), is_window_focused: true }
    }

    fn update(
        &mut self,
        state: &mut CaretState,
        event: &Event,
        field: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        state.notice(event);
        let Event::Window(window::Event::RedrawRequested(now)) = event else {
            return field.update(event, shell);
        };
        if !state.rests(*now) {
            return field.update(event, shell);
        }
        let wanted = shell.redraw_request();
        // `Focused` makes the field show its caret and restarts its blinking; its request for the next frame
        // is dropped.
        field.update(&Event::Window(window::Event::Focused), shell);
        field.update(event, shell);
        Shell::replace_redraw_request(shell, wanted);
    }

    /// Draws on a layer of its own: iced compares the boxes of two frames by their index within the layer. A
    /// caret that appears or disappears changes the index of all later boxes, and all would be painted again.
    fn draw(
        &self,
        _: &CaretState,
        renderer: &mut Renderer,
        _: &Theme,
        _: Rectangle,
        visible: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        renderer.with_layer(visible, draw);
    }
}
