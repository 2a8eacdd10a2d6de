//! A field of one line with what iced's lacks: Ctrl Z, and `?` for the help while it is empty.

use crate::{
    font,
    keymap::{self, Command},
    theme::style,
    undo::Undo,
    widget::{
        Element,
        elide::elided,
        nothing,
        report::is_focused,
        resting_caret::resting_caret,
        words_over::with_words_over,
        wrap::{Inner, Wrap, wrapped},
    },
};
use iced::{
    Event, Fill,
    advanced::Shell,
    keyboard::{self, Key, Modifiers},
    widget::{TextInput, container, text_input},
};
use std::borrow::Cow;

/// A field with this `value`; `on_input` gets a new value. While it is empty it shows `hint`, with an
/// ellipsis if there is no room for all of it: iced cuts its own placeholder. `size` is that of the text,
/// `room` the padding above and beside it. `finish` sets what else the field has.
pub fn field<'a, Message: Clone + 'a>(
    hint: impl Into<Cow<'a, str>>,
    (size, room): (f32, [f32; 2]),
    value: &'a str,
    on_input: impl Fn(String) -> Message + Clone + 'a,
    finish: impl FnOnce(TextInput<'a, Message>) -> TextInput<'a, Message>,
) -> Element<'a, Message> {
    let input = text_input("", value).size(size).padding(room).style(style::field).on_input(on_input.clone());
    let input = finish(input);
    let hint = if value.is_empty() {
        let hint = elided(hint, size, font::PROSE).style(style::muted);
        container(hint).padding([0.0, room[1]]).center_y(Fill).into()
    } else {
        nothing()
    };
    with_words_over(wrapped(resting_caret(input), Field { value, on_input }), hint)
}

/// Whether a key undoes (true) or redoes (false); `None` for another key.
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
    /// The value when last seen.
    value: String,
}

impl<OnInput> Field<'_, OnInput> {
    /// Whether the key is handled here or by the window, and not by the field.
    fn takes<Message>(&self, state: &mut State, event: &Event, shell: &mut Shell<'_, Message>) -> bool
    where
        OnInput: Fn(String) -> Message,
    {
        let Event::Keyboard(keyboard::Event::KeyPressed {
            key, modified_key, physical_key, modifiers, ..
        }) = event
        else {
            return false;
        };
        let meant = keymap::meant(key, *physical_key);
        if keymap::is_kept(&meant, *modifiers, self.value.is_empty()) {
            shell.capture_event();
        }
        if let Some(is_back) = is_back(&meant, *modifiers) {
            let other = if is_back { state.undo.back(self.value) } else { state.undo.forth(self.value) };
            if let Some(other) = other {
                state.value.clone_from(&other);
                shell.publish((self.on_input)(other));
            }
            shell.capture_event();
            return true;
        }
        // The window handles it.
        let is_help = [&meant, modified_key]
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
