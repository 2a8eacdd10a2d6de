//! A field of one line with what iced's lacks: Ctrl Z, and `?` for the keys while it is empty.

use crate::{
    keymap::{self, Command},
    undo::Undo,
    widget::{Element, calm::calm, told::is_focused},
};
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Operation, Tree, tree},
    },
    keyboard::{self, Key, Modifiers},
    widget::TextInput,
};

/// A field that has this `value`; `on_input` is told what it is to have.
pub fn field<'a, Message: Clone + 'a>(
    input: TextInput<'a, Message>,
    value: &'a str,
    on_input: impl Fn(String) -> Message + Clone + 'a,
) -> Element<'a, Message> {
    let field = calm(input.on_input(on_input.clone()));
    Element::new(Field { field, value, on_input: Box::new(on_input) })
}

/// Which way a key goes through what was written; `None` for another key.
#[must_use]
pub fn is_back(key: &Key, modifiers: Modifiers) -> Option<bool> {
    let Key::Character(letter) = key else { return None };
    match (&*letter.to_lowercase(), modifiers.shift()) {
        _ if !modifiers.command() || modifiers.alt() => None,
        ("z", false) => Some(true),
        ("z", true) | ("y", false) => Some(false),
        _ => None,
    }
}

struct Field<'a, Message> {
    field: Element<'a, Message>,
    value: &'a str,
    on_input: Box<dyn Fn(String) -> Message + 'a>,
}

struct State {
    undo: Undo,
    /// What it had when it was last looked at.
    value: String,
}

impl<Message> Field<'_, Message> {
    /// Whether the key is for this, and not for the field. `None`: for neither, as if the field did not have the keyboard.
    fn takes(&self, state: &mut State, event: &Event, shell: &mut Shell<'_, Message>) -> bool {
        let Event::Keyboard(keyboard::Event::KeyPressed { key, modified_key, modifiers, .. }) = event else {
            return false;
        };
        if let Some(is_back) = is_back(key, *modifiers) {
            let other = if is_back { state.undo.back(self.value) } else { state.undo.forth(self.value) };
            if let Some(other) = other {
                state.value.clone_from(&other);
                shell.publish((self.on_input)(other));
            }
            shell.capture_event();
            return true;
        }
        // It is left to the window.
        let is_help = [key, modified_key]
            .into_iter()
            .any(|key| keymap::command(key, *modifiers) == Some(Command::Help));
        is_help && self.value.is_empty()
    }
}

impl<Message> Widget<Message, Theme, Renderer> for Field<'_, Message> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(State { undo: Undo::default(), value: self.value.to_owned() })
    }

    fn size(&self) -> Size<Length> {
        self.field.as_widget().size()
    }

    fn children(&self) -> Vec<Tree> {
        vec![Tree::new(&self.field)]
    }

    fn diff(&self, tree: &mut Tree) {
        let state = tree.state.downcast_mut::<State>();
        if state.value != self.value {
            state.undo.changed(&state.value, self.value);
            self.value.clone_into(&mut state.value);
        }
        tree.diff_children(std::slice::from_ref(&self.field));
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        self.field.as_widget_mut().layout(&mut tree.children[0], renderer, limits)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        self.field.as_widget_mut().operate(&mut tree.children[0], layout, renderer, operation);
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
        let is_key = matches!(event, Event::Keyboard(keyboard::Event::KeyPressed { .. }));
        if is_key && is_focused(&mut self.field, &mut tree.children[0], layout, renderer) {
            let state = tree.state.downcast_mut::<State>();
            if self.takes(state, event, shell) {
                return;
            }
        }
        let field = self.field.as_widget_mut();
        let tree = &mut tree.children[0];
        field.update(tree, event, layout, cursor, renderer, clipboard, shell, viewport);
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
        self.field.as_widget().draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        self.field.as_widget().mouse_interaction(&tree.children[0], layout, cursor, viewport, renderer)
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        let field = self.field.as_widget_mut();
        field.overlay(&mut tree.children[0], layout, renderer, viewport, translation)
    }
}
