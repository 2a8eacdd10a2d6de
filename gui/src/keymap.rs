//! What each key does: one table, from which the help is made too.

use iced::keyboard::{Key, Modifiers, key::Named};

/// What a person can do by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    New,
    Next,
    Previous,
    NextThatNeedsMe,
    Inbox,
    Search,
    FocusInput,
    /// Close what is over the rest, or else stop the task.
    Escape,
    /// Yes to what asks over the rest: close the window, delete the conversation.
    Confirm,
    PauseOrResume,
    Approve,
    ApproveAlways,
    Reject,
    RejectAlways,
    /// The choice with this number, from 1.
    Choose(u8),
    Decline,
    /// The keyboard goes to the next thing that waits, or to the one before.
    CardDown,
    CardUp,
    ToggleDetails,
    AsText,
    CopyAll,
    Rename,
    Archive,
    Delete,
    PageUp,
    PageDown,
    ToStart,
    ToEnd,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    Theme,
    /// Play the demo, on the page for a new conversation.
    Demo,
    /// To the folder of a new conversation.
    Folder,
    Complete,
    Help,
}

impl Command {
    /// Whether a key that is held down does it again and again.
    #[must_use]
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Next | Self::Previous | Self::PageUp | Self::PageDown | Self::ZoomIn | Self::ZoomOut
        )
    }

    /// Whether it is about what waits for a person.
    #[must_use]
    pub const fn decides(self) -> bool {
        matches!(
            self,
            Self::Approve
                | Self::ApproveAlways
                | Self::Reject
                | Self::RejectAlways
                | Self::Choose(_)
                | Self::Decline
        )
    }
}

/// A row of the help: what to press, what it does.
pub type Help = (&'static str, &'static str);

/// The help, by group.
pub static MAP: [(&str, &[Help]); 4] = [
    (
        "Conversations",
        &[
            ("Ctrl N", "new"),
            ("Ctrl Shift D", "play the demo, on a new page"),
            ("Ctrl Shift F", "its folder; Tab completes"),
            ("Ctrl ↓", "next"),
            ("Ctrl ↑", "previous"),
            ("Ctrl J", "next that needs you"),
            ("Ctrl I", "inbox"),
            ("Ctrl K", "search"),
            ("F2", "rename"),
            ("Ctrl E", "archive"),
            ("Ctrl Del", "delete"),
        ],
    ),
    (
        "What waits for you",
        &[
            ("A", "allow once; Enter confirms"),
            ("Shift A", "always allow; Enter confirms"),
            ("R", "reject, with a reason"),
            ("Shift R", "always reject"),
            ("1 … 9", "choose an answer"),
            ("↑  ↓", "the one before, the next"),
            ("Ctrl D", "decline to answer"),
        ],
    ),
    (
        "The task",
        &[
            ("Enter", "send, reply"),
            ("Shift Enter", "break the line"),
            ("Esc", "leave the field, close what is open"),
            ("Esc Esc", "stop; then Go on takes it back"),
            ("Ctrl P", "pause, go on"),
            ("Ctrl L", "to the input"),
        ],
    ),
    (
        "View",
        &[
            ("Ctrl O", "open or close all details"),
            ("Ctrl T", "as text, to select and copy"),
            ("Ctrl Shift C", "copy all"),
            ("PgUp  PgDn", "scroll"),
            ("Ctrl Home  End", "to the start, to the end"),
            ("Ctrl +  −  0", "larger, smaller, as it was"),
            ("Ctrl Shift T", "theme: system, dark, light"),
            ("?", "this page"),
        ],
    ),
];

/// What a key press means that no text field has taken.
#[must_use]
pub fn command(key: &Key, modifiers: Modifiers) -> Option<Command> {
    let shift = modifiers.shift();
    if modifiers.command() && !modifiers.alt() {
        return with_control(key, shift);
    }
    if modifiers.alt() || modifiers.logo() {
        return None;
    }
    Some(match key.as_ref() {
        Key::Named(Named::Escape) => Command::Escape,
        Key::Named(Named::Enter) => Command::Confirm,
        Key::Named(Named::Tab) => Command::Complete,
        Key::Named(Named::F1) => Command::Help,
        Key::Named(Named::F2) => Command::Rename,
        Key::Named(Named::PageUp) => Command::PageUp,
        Key::Named(Named::PageDown) => Command::PageDown,
        Key::Named(Named::ArrowUp) => Command::CardUp,
        Key::Named(Named::ArrowDown) => Command::CardDown,
        Key::Named(Named::Home) => Command::ToStart,
        Key::Named(Named::End) => Command::ToEnd,
        Key::Character("a" | "A") => {
            if shift {
                Command::ApproveAlways
            } else {
                Command::Approve
            }
        }
        Key::Character("r" | "R") => {
            if shift {
                Command::RejectAlways
            } else {
                Command::Reject
            }
        }
        Key::Character("?") => Command::Help,
        Key::Character("/") if shift => Command::Help,
        Key::Character(digit) => match digit.parse() {
            Ok(n @ 1..=9) => Command::Choose(n),
            _ => return None,
        },
        _ => return None,
    })
}

fn with_control(key: &Key, shift: bool) -> Option<Command> {
    Some(match key.as_ref() {
        Key::Named(Named::ArrowDown) => Command::Next,
        Key::Named(Named::ArrowUp) => Command::Previous,
        Key::Named(Named::Delete) => Command::Delete,
        Key::Named(Named::Home) => Command::ToStart,
        Key::Named(Named::End) => Command::ToEnd,
        Key::Character("n" | "N") => Command::New,
        Key::Character("j" | "J") => Command::NextThatNeedsMe,
        Key::Character("i" | "I") => Command::Inbox,
        Key::Character("k" | "K") => Command::Search,
        Key::Character("e" | "E") => Command::Archive,
        Key::Character("d" | "D") => {
            if shift {
                Command::Demo
            } else {
                Command::Decline
            }
        }
        Key::Character("p" | "P") => Command::PauseOrResume,
        Key::Character("l" | "L") => Command::FocusInput,
        Key::Character("o" | "O") => Command::ToggleDetails,
        Key::Character("t" | "T") => {
            if shift {
                Command::Theme
            } else {
                Command::AsText
            }
        }
        Key::Character("c" | "C") if shift => Command::CopyAll,
        Key::Character("f" | "F") if shift => Command::Folder,
        Key::Character("+" | "=") => Command::ZoomIn,
        Key::Character("-" | "_") => Command::ZoomOut,
        Key::Character("0") => Command::ZoomReset,
        Key::Character("/" | "?") => Command::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str, modifiers: Modifiers) -> Option<Command> {
        command(&Key::Character(key.into()), modifiers)
    }

    #[test]
    fn letters_decide_and_control_commands() {
        assert_eq!(press("a", Modifiers::empty()), Some(Command::Approve));
        assert_eq!(press("A", Modifiers::SHIFT), Some(Command::ApproveAlways));
        assert_eq!(press("3", Modifiers::empty()), Some(Command::Choose(3)));
        assert_eq!(press("0", Modifiers::empty()), None);
        assert_eq!(press("n", Modifiers::CTRL), Some(Command::New));
        assert_eq!(press("?", Modifiers::SHIFT), Some(Command::Help));
        assert_eq!(press("t", Modifiers::CTRL | Modifiers::SHIFT), Some(Command::Theme));
    }

    #[test]
    fn what_another_program_may_want_is_left_alone() {
        assert_eq!(press("a", Modifiers::ALT), None);
        assert_eq!(press("n", Modifiers::LOGO), None);
        assert_eq!(press("n", Modifiers::CTRL | Modifiers::ALT), None, "AltGr writes letters");
    }
}
