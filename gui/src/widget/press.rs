//! A button that Tab reaches: iced's buttons work with the mouse only. Enter or the space bar presses the
//! focused one.

use crate::{
    theme::{radius, tokens},
    widget::{
        Element,
        wrap::{Inner, Wrap, wrapped},
    },
};
use iced::{
    Background, Border, Color, Event, Length, Padding, Rectangle, Renderer, Shadow, Theme,
    advanced::{
        Shell, mouse,
        renderer::{Quad, Renderer as _},
        widget::{Id, Operation, operation::Focusable},
    },
    keyboard::{self, Key, key::Named},
    widget::{Button, button},
};
use std::mem::{Discriminant, discriminant};

/// A button around this.
pub fn press<'a, Message: Clone + 'a>(content: impl Into<Element<'a, Message>>) -> Press<'a, Message> {
    Press { button: button(content), reach: Reach { id: None, message: None, is_passed_by: false } }
}

/// See the module. What it is made of is set as on iced's.
pub struct Press<'a, Message> {
    button: Button<'a, Message>,
    reach: Reach<Message>,
}

/// The button's keyboard focus.
struct Reach<Message> {
    id: Option<&'static str>,
    message: Option<Message>,
    is_passed_by: bool,
}

impl<'a, Message: Clone + 'a> Press<'a, Message> {
    #[must_use]
    pub fn padding(self, padding: impl Into<Padding>) -> Self {
        Self { button: self.button.padding(padding), ..self }
    }

    #[must_use]
    pub fn width(self, width: impl Into<Length>) -> Self {
        Self { button: self.button.width(width), ..self }
    }

    #[must_use]
    pub fn style(self, style: impl Fn(&Theme, button::Status) -> button::Style + 'a) -> Self {
        Self { button: self.button.style(style), ..self }
    }

    #[must_use]
    pub fn on_press(self, message: Message) -> Self {
        self.on_press_maybe(Some(message))
    }

    #[must_use]
    pub fn on_press_maybe(self, message: Option<Message>) -> Self {
        let reach = Reach { message: message.clone(), ..self.reach };
        Self { button: self.button.on_press_maybe(message), reach }
    }

    /// What [`Effect::Focus`](crate::effect::Effect::Focus) finds it by.
    #[must_use]
    pub fn id(self, id: &'static str) -> Self {
        Self { reach: Reach { id: Some(id), ..self.reach }, ..self }
    }

    /// Tab skips it: its action cannot be undone, and has a key of its own with a confirmation.
    #[must_use]
    pub fn passed_by(self) -> Self {
        Self { reach: Reach { is_passed_by: true, ..self.reach }, ..self }
    }
}

struct State<Message> {
    is_focused: bool,
    /// The kind of its message: another button at its place does not keep the focus.
    does: Option<Discriminant<Message>>,
}

impl<Message> Focusable for State<Message> {
    fn is_focused(&self) -> bool {
        self.is_focused
    }

    fn focus(&mut self) {
        self.is_focused = true;
    }

    fn unfocus(&mut self) {
        self.is_focused = false;
    }
}

impl<Message: Clone + 'static> Wrap<Message> for Reach<Message> {
    type State = State<Message>;

    fn state(&self) -> State<Message> {
        State { is_focused: false, does: self.message.as_ref().map(discriminant) }
    }

    fn diff(&self, state: &mut State<Message>) {
        let does = self.message.as_ref().map(discriminant);
        if state.does != does {
            *state = State { is_focused: false, does };
        }
    }

    fn operate(&self, state: &mut State<Message>, bounds: Rectangle, operation: &mut dyn Operation) {
        if !self.is_passed_by && self.message.is_some() {
            operation.focusable(self.id.map(Id::new).as_ref(), bounds, state);
        }
    }

    fn update(
        &mut self,
        state: &mut State<Message>,
        event: &Event,
        button: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        match event {
            Event::Keyboard(keyboard::Event::KeyPressed {
                key: Key::Named(Named::Enter | Named::Space),
                modifiers,
                repeat,
                ..
            }) if state.is_focused && modifiers.is_empty() => {
                if let Some(message) = self.message.clone().filter(|_| !repeat) {
                    shell.publish(message);
                }
                return shell.capture_event();
            }
            Event::Keyboard(keyboard::Event::KeyPressed { key: Key::Named(Named::Escape), .. })
                if state.is_focused =>
            {
                state.is_focused = false;
                shell.request_redraw();
                return shell.capture_event();
            }
            // The mouse takes the focus away.
            Event::Mouse(mouse::Event::ButtonPressed(_)) if state.is_focused => {
                state.is_focused = false;
                shell.request_redraw();
            }
            _ => {}
        }
        button.update(event, shell);
    }

    fn draw(
        &self,
        state: &State<Message>,
        renderer: &mut Renderer,
        theme: &Theme,
        bounds: Rectangle,
        _: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        draw(renderer);
        if state.is_focused {
            let mut ring = |bounds, color, radius: f32| {
                let border = Border { color, width: 2.0, radius: radius.into() };
                let ring = Quad { bounds, border, shadow: Shadow::default(), snap: true };
                renderer.fill_quad(ring, Background::Color(Color::TRANSPARENT));
            };
            ring(bounds, tokens(theme).accent, radius::CONTROL);
            // On a button in the accent only this one is seen.
            ring(bounds.shrink(2.0), tokens(theme).background, radius::CONTROL - 2.0);
        }
    }
}

impl<'a, Message: Clone + 'static> From<Press<'a, Message>> for Element<'a, Message> {
    fn from(press: Press<'a, Message>) -> Self {
        wrapped(press.button, press.reach)
    }
}
