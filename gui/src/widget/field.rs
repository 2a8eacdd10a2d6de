//! A field of one line with what iced's lacks: Ctrl Z, and `?` for the keys while it is empty.

use crate::{
    keymap::{self, Command},
    undo::Undo,
    widget::{
        Element,
        calm::calm,
        told::is_focused,
        wrap::{Inner, Wrap, wrapped},
    },
};
use iced::{
    Event,
    advanced::Shell,
    keyboard::{self, Key, Modifiers},
    widget::TextInput,
};

/// A field that has this `value`; `on_input` is told what it is to have.
pub fn field<'a, Message: Clone + 'a>(
    input: TextInput<'a, Message>,
    value: &'a str,
    on_input: impl Fn(String) -> Message + Clone + 'a,
) -> Element<'a, Message> {
    wrapped(calm(input.on_input(on_input.clone())), Field { value, on_input })
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

struct Field<'a, OnInput> {
    value: &'a str,
    on_input: OnInput,
}

struct State {
    undo: Undo,
    /// What it had when it was last looked at.
    value: String,
}

impl<OnInput> Field<'_, OnInput> {
    /// Whether the key is for this, or for the window, and not for the field.
    fn takes<Message>(&self, state: &mut State, event: &Event, shell: &mut Shell<'_, Message>) -> bool
    where
        OnInput: Fn(String) -> Message,
    {
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

impl<Message, OnInput: Fn(String) -> Message> Wrap<Message> for Field<'_, OnInput> {
    type State = State;

    fn state(&self) -> State {
        State { undo: Undo::default(), value: self.value.to_owned() }
    }

    fn diff(&self, state: &mut State) {
        if state.value != self.value {
            state.undo.changed(&state.value, self.value);
            self.value.clone_into(&mut state.value);
        }
    }

    fn update(
        &mut self,
        state: &mut State,
        event: &Event,
        field: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        let is_key = matches!(event, Event::Keyboard(keyboard::Event::KeyPressed { .. }));
        if is_key && is_focused(field) && self.takes(state, event, shell) {
            return;
        }
        field.update(event, shell);
    }
}
