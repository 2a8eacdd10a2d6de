//! A button that Tab reaches: iced's buttons are for the mouse only. Enter or the space bar presses the one that has the ring.

use crate::{
    theme::{radius, tokens},
    widget::Element,
};
use iced::{
    Background, Border, Color, Event, Length, Padding, Rectangle, Renderer, Shadow, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        renderer::Renderer as _,
        widget::{Operation, Tree, operation::Focusable, tree},
    },
    keyboard::{self, Key, key::Named},
    widget::{Button, button},
};
use std::mem::{Discriminant, discriminant};

/// A button around this.
pub fn press<'a, Message: Clone + 'a>(content: impl Into<Element<'a, Message>>) -> Press<'a, Message> {
    Press { button: button(content), message: None, is_reached: true }
}

/// See the module. What it is made of is set as on iced's.
pub struct Press<'a, Message> {
    button: Button<'a, Message>,
    message: Option<Message>,
    is_reached: bool,
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
        Self { button: self.button.on_press_maybe(message.clone()), message, ..self }
    }

    /// Tab passes it by: what it does cannot be undone, and has a key of its own that looks twice.
    #[must_use]
    pub fn passed_by(self) -> Self {
        Self { is_reached: false, ..self }
    }
}

struct State<Message> {
    is_focused: bool,
    /// What it does: another button at its place has not been reached.
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

impl<Message: Clone + 'static> Widget<Message, Theme, Renderer> for Press<'_, Message> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State<Message>>()
    }

    fn state(&self) -> tree::State {
        let does = self.message.as_ref().map(discriminant);
        tree::State::new(State { is_focused: false, does })
    }

    fn children(&self) -> Vec<Tree> {
        vec![Tree::new(&self.button as &dyn Widget<Message, Theme, Renderer>)]
    }

    fn diff(&self, tree: &mut Tree) {
        let does = self.message.as_ref().map(discriminant);
        let state = tree.state.downcast_mut::<State<Message>>();
        if state.does != does {
            *state = State { is_focused: false, does };
        }
        tree.diff_children(&[&self.button as &dyn Widget<Message, Theme, Renderer>]);
    }

    fn size(&self) -> Size<Length> {
        Widget::<Message, Theme, Renderer>::size(&self.button)
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        self.button.layout(&mut tree.children[0], renderer, limits)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        if self.is_reached && self.message.is_some() {
            let state = tree.state.downcast_mut::<State<Message>>();
            operation.focusable(None, layout.bounds(), state);
        }
        self.button.operate(&mut tree.children[0], layout, renderer, operation);
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
        let state = tree.state.downcast_mut::<State<Message>>();
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
            // The mouse takes over.
            Event::Mouse(mouse::Event::ButtonPressed(_)) if state.is_focused => {
                state.is_focused = false;
                shell.request_redraw();
            }
            _ => {}
        }
        let tree = &mut tree.children[0];
        self.button.update(tree, event, layout, cursor, renderer, clipboard, shell, viewport);
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
        self.button.draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
        if tree.state.downcast_ref::<State<Message>>().is_focused {
            let border = Border { color: tokens(theme).accent, width: 2.0, radius: radius::CONTROL.into() };
            let quad =
                renderer::Quad { bounds: layout.bounds(), border, shadow: Shadow::default(), snap: true };
            renderer.fill_quad(quad, Background::Color(Color::TRANSPARENT));
        }
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        self.button.mouse_interaction(&tree.children[0], layout, cursor, viewport, renderer)
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        self.button.overlay(&mut tree.children[0], layout, renderer, viewport, translation)
    }
}

impl<'a, Message: Clone + 'static> From<Press<'a, Message>> for Element<'a, Message> {
    fn from(press: Press<'a, Message>) -> Self {
        Self::new(press)
    }
}
