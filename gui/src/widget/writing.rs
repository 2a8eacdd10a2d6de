//! The keys of a field of several lines that can be sent.

use crate::{
    keymap::{self, Command},
    widget::field::is_back,
};
use iced::{
    keyboard::{Key, key::Named},
    widget::text_editor::{self, Binding, KeyPress, Motion},
};

/// What a key says that edits nothing by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Submitted,
    /// With Ctrl.
    SubmittedOtherwise,
    /// Undo, and redo.
    Back,
    Forth,
}

/// Enter sends, Shift Enter breaks the line; the window's own commands are passed on.
pub fn binding<Message>(
    press: &KeyPress,
    is_empty: bool,
    has_selection: bool,
    meant: &impl Fn(Said) -> Message,
) -> Option<Binding<Message>> {
    if !matches!(press.status, text_editor::Status::Focused { .. }) {
        return None;
    }
    let key = keymap::meant(&press.key, press.physical_key);
    if let Some(is_back) = is_back(&key, press.modifiers) {
        return Some(Binding::Custom(meant(if is_back { Said::Back } else { Said::Forth })));
    }
    let is_help = [&key, &press.modified_key]
        .into_iter()
        .any(|key| keymap::command(key, press.modifiers) == Some(Command::Help));
    if is_help && is_empty {
        // The window handles it.
        return None;
    }
    if keymap::is_kept(&key, press.modifiers, is_empty) {
        // An empty sequence: the key does nothing, and does not reach the window.
        return Binding::from_key_press(press.clone()).or(Some(Binding::Sequence(Vec::new())));
    }
    let command = keymap::command(&key, press.modifiers).filter(|_| press.modifiers.command());
    // Selected text of this field is copied by the field.
    let is_command = command.is_some_and(|command| command != Command::Copy);
    match key.as_ref() {
        Key::Named(Named::Enter) if press.modifiers.shift() => Some(Binding::Enter),
        Key::Named(Named::Enter) if press.modifiers.command() => {
            Some(Binding::Custom(meant(Said::SubmittedOtherwise)))
        }
        Key::Named(Named::Enter) => Some(Binding::Custom(meant(Said::Submitted))),
        // As a sequence the key does not reach the window, which would arm a stop with it.
        Key::Named(Named::Escape) => Some(Binding::Sequence(vec![Binding::Unfocus])),
        Key::Named(Named::ArrowUp | Named::ArrowDown | Named::PageUp | Named::PageDown) if is_command => None,
        // In an empty field Home and End scroll the page.
        Key::Named(Named::Home | Named::End) if is_command && is_empty => None,
        Key::Named(Named::PageUp | Named::PageDown | Named::F1 | Named::F2) => None,
        // iced's editor would delete a single letter.
        Key::Named(Named::Delete) if press.modifiers.jump() && !has_selection => {
            Some(Binding::Sequence(vec![Binding::Select(Motion::WordRight), Binding::Delete]))
        }
        Key::Named(Named::Backspace) if press.modifiers.jump() && !has_selection => {
            Some(Binding::Sequence(vec![Binding::Select(Motion::WordLeft), Binding::Backspace]))
        }
        Key::Character(_) if is_command => None,
        Key::Named(Named::Tab) => None,
        // Ctrl with a digit gives that digit as its text.
        _ => Binding::from_key_press(press.clone()).filter(|made| {
            !matches!(made, Binding::Insert(_)) || !press.modifiers.command() || press.modifiers.alt()
        }),
    }
}
