//! What each key does: one table, which also makes the help and the palette.

use crate::effect::Scroll;
use iced::keyboard::{
    Key, Modifiers,
    key::{Code, Named, Physical},
};

/// A command that a key can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    New,
    Next,
    Previous,
    NextThatNeedsMe,
    Inbox,
    Search,
    /// Finds in the conversation, or in the text that is read.
    Find,
    FocusInput,
    /// Closes what covers the rest, or else stops the task.
    Escape,
    /// Confirms the question shown over the rest: close the window, delete the conversation.
    Confirm,
    PauseOrResume,
    Stop,
    /// Shows what the task has changed in files; once that is shown, asks whether to take it back.
    FileChanges,
    Approve,
    ApproveAlways,
    Reject,
    RejectAlways,
    /// The choice with this number, from 1.
    Choose(u8),
    Decline,
    /// Selects the next waiting item, or the one before.
    CardDown,
    CardUp,
    ToggleDetails,
    /// Copies the selection.
    Copy,
    CopyAll,
    Rename,
    Archive,
    Delete,
    /// Pins the conversation, or unpins it.
    Pin,
    PageUp,
    PageDown,
    ToStart,
    ToEnd,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    Theme,
    /// Plays the demo, on the page for a new conversation.
    Demo,
    /// Goes to the folder's field of a new conversation.
    Folder,
    Settings,
    /// The page of the memory.
    Memory,
    /// Moves the keyboard to the next widget that takes it, or to the one before.
    Walk,
    WalkBack,
    /// Shows or hides the list of conversations.
    List,
    /// Opens the group of archived conversations in the list, or folds it.
    Archived,
    /// Moves the keyboard to the field for words to the task at work.
    /// Arms a stop of the sub-task that is shown, which Enter confirms.
    StopTask,
    /// Shows or hides the tree of tasks.
    Tree,
    /// Opens the next task of the tree, or the one before.
    NextTask,
    PreviousTask,
    Palette,
    Model,
    /// Persona, template and tools of the next task.
    Setup,
    Attach,
    /// Starts a new task that goes on where the last one ended.
    Again,
    /// Begins a new conversation with the last prompt, to be changed.
    EditAgain,
    Help,
    /// A letter without a meaning here: the person is writing and has not seen that there is no caret.
    Typed,
}

impl Command {
    /// Whether holding the key repeats the command.
    #[must_use]
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Next
                | Self::Previous
                | Self::NextTask
                | Self::PreviousTask
                | Self::PageUp
                | Self::PageDown
                | Self::ZoomIn
                | Self::ZoomOut
                | Self::Walk
                | Self::WalkBack
                | Self::CardUp
                | Self::CardDown
        )
    }

    /// Whether it decides about a waiting item.
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

    /// The movement of what it scrolls.
    #[must_use]
    pub const fn scrolls(self) -> Option<Scroll> {
        match self {
            Self::PageUp => Some(Scroll::Up),
            Self::PageDown => Some(Scroll::Down),
            Self::ToStart => Some(Scroll::ToStart),
            Self::ToEnd => Some(Scroll::ToEnd),
            _ => None,
        }
    }

    /// Whether its key would write a letter in a field.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.decides() && !matches!(self, Self::Decline) || matches!(self, Self::Typed)
    }
}

/// An action and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The names of the keys for a person, separated by spaces.
    pub keys: &'static str,
    pub what: &'static str,
    /// `None` if a field performs it, or if the key has a meaning only where it is pressed.
    pub command: Option<Command>,
    /// Whether it is among the keys to know; others are found by name.
    pub in_help: bool,
}

const fn does(command: Command, keys: &'static str, what: &'static str) -> Entry {
    Entry { keys, what, command: Some(command), in_help: true }
}

/// For the palette alone.
const fn more(command: Command, keys: &'static str, what: &'static str) -> Entry {
    Entry { keys, what, command: Some(command), in_help: false }
}

const fn known(keys: &'static str, what: &'static str) -> Entry {
    Entry { keys, what, command: None, in_help: true }
}

/// All actions by what one does, for the help and the palette.
pub static MAP: [(&str, &[Entry]); 5] = [
    (
        "Go to a conversation",
        &[
            does(Command::New, "Ctrl N", "new conversation"),
            known("Ctrl ↑  Ctrl ↓", "the one before, the next"),
            does(Command::NextThatNeedsMe, "Ctrl J", "next that needs you"),
            does(Command::Inbox, "Ctrl I", "inbox"),
            does(Command::Search, "Ctrl K", "search"),
            more(Command::Next, "Ctrl ↓", "next"),
            more(Command::Previous, "Ctrl ↑", "previous"),
        ],
    ),
    (
        "Keep order",
        &[
            does(Command::Archive, "Ctrl E", "archive, unarchive"),
            more(Command::Archived, "Ctrl Shift B", "show or fold the archived ones"),
            does(Command::Delete, "Ctrl Del", "delete; it asks first"),
            more(Command::Rename, "F2", "rename"),
            more(Command::Pin, "Ctrl Shift K", "pin, unpin"),
        ],
    ),
    (
        "Decide what waits for you",
        &[
            does(Command::Approve, "A", "allow once; beyond low risk Enter confirms"),
            does(Command::ApproveAlways, "Shift A", "always allow; Enter confirms"),
            does(Command::Reject, "R", "reject, with a reason"),
            more(Command::RejectAlways, "Shift R", "always reject"),
            known("1 … 9", "choose an answer"),
            does(Command::Decline, "Ctrl D", "twice: decline to answer"),
            does(Command::PageDown, "PgDn", "scroll on, a card to its end"),
        ],
    ),
    (
        "Steer the task",
        &[
            known("Enter", "send, reply; Shift Enter breaks the line"),
            known("Esc", "leave the field, close what is open"),
            does(Command::Stop, "Esc Esc", "with a pause: stop the task"),
            does(Command::PauseOrResume, "Ctrl P", "pause, go on"),
            does(Command::FocusInput, "Ctrl L", "to the input, or the answer's field"),
            does(Command::Again, "Ctrl R", "go on after a stop, try again after an error"),
            does(Command::FileChanges, "Ctrl Shift U", "file changes; again: undo them"),
            more(Command::EditAgain, "Ctrl Shift E", "edit the last prompt and send it again"),
            more(Command::Model, "Ctrl Shift M", "choose the model"),
            more(Command::Setup, "Ctrl Shift S", "its mode, persona, template, tools and steps"),
            more(Command::Folder, "Ctrl Shift F", "its folder; Tab completes"),
            more(Command::Attach, "Ctrl Shift A", "attach a file"),
            more(Command::Demo, "Ctrl Shift D", "play the demo, on a new page"),
            more(Command::NextTask, "Ctrl Shift ↓", "to the next task of the tree"),
            more(Command::PreviousTask, "Ctrl Shift ↑", "to the task before it in the tree"),
            more(Command::StopTask, "Ctrl .", "stop the sub-task shown; Enter confirms"),
        ],
    ),
    (
        "Look",
        &[
            does(Command::Palette, "Ctrl Shift P", "all actions, by name"),
            does(Command::Find, "Ctrl F", "find in the messages, or in the text that is read"),
            does(Command::ToggleDetails, "Ctrl O", "open or close all details"),
            does(Command::Tree, "Ctrl G", "show or hide the tree of tasks"),
            does(Command::ZoomIn, "Ctrl +", "larger; Ctrl - smaller"),
            more(Command::List, "Ctrl B", "show or hide the list"),
            more(Command::Copy, "Ctrl C", "copy what is selected"),
            more(Command::CopyAll, "Ctrl Shift C", "copy all"),
            more(Command::PageUp, "PgUp", "scroll up"),
            more(Command::ToStart, "Ctrl Home", "to the start"),
            more(Command::ToEnd, "Ctrl End", "to the end"),
            more(Command::ZoomOut, "Ctrl -", "smaller"),
            more(Command::ZoomReset, "Ctrl 0", "as large as it was"),
            more(Command::Theme, "Ctrl Shift T", "theme: system, dark, light"),
            more(Command::Settings, "Ctrl ,", "settings"),
            more(Command::Memory, "Ctrl M", "memory: what tasks recall, and notes"),
            more(Command::Help, "?", "the keys to know"),
        ],
    ),
];

/// The letters that edit or move the caret with Ctrl in a field somewhere: in ours, in a terminal, in Emacs
/// or on another system.
const OF_FIELDS: &str = "abdefhknptuvwxyz";

/// Whether a field that has the caret keeps the key: then it has no other meaning. One with text keeps all
/// the letters that edit text somewhere; an empty one, in which they can mean nothing, only those that would
/// change something at once.
#[must_use]
pub fn is_kept(key: &Key, modifiers: Modifiers, is_empty: bool) -> bool {
    let Key::Character(letter) = key else { return false };
    let edits = modifiers.command() && !modifiers.alt() && !modifiers.shift();
    let changes = || matches!(command(key, modifiers), Some(Command::Archive | Command::PauseOrResume));
    edits && OF_FIELDS.contains(&*letter.to_lowercase()) && (!is_empty || changes())
}

/// The key as the person means it who reads its Latin name: on a layout of another script, that of the key at
/// this place.
#[must_use]
pub fn meant(key: &Key, place: Physical) -> Key {
    let is_foreign = |letter: &str| letter.chars().all(|c| c >= FOREIGN);
    let Key::Character(letter) = key else { return key.clone() };
    let sign = match place {
        Physical::Code(Code::Comma) => Some(','),
        Physical::Code(Code::Period) => Some('.'),
        Physical::Code(Code::Slash) => Some('/'),
        _ => key.to_latin(place),
    };
    match sign.filter(|_| is_foreign(letter)) {
        Some(sign) => Key::Character(sign.to_string().into()),
        None => key.clone(),
    }
}

/// The first letter of another script than the Latin one.
const FOREIGN: char = '\u{370}';

/// The command of a key press that no text field has taken.
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
        Key::Named(Named::Tab) if shift => Command::WalkBack,
        Key::Named(Named::Tab) => Command::Walk,
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

/// A key without a meaning here that would write something in a field.
#[must_use]
pub fn typed(key: &Key, modifiers: Modifiers) -> Option<Command> {
    let is_plain = !modifiers.command() && !modifiers.alt() && !modifiers.logo();
    let writes = matches!(key, Key::Character(_) | Key::Named(Named::Space | Named::Backspace));
    (is_plain && writes).then_some(Command::Typed)
}

fn with_control(key: &Key, shift: bool) -> Option<Command> {
    Some(match key.as_ref() {
        Key::Named(Named::ArrowDown) if shift => Command::NextTask,
        Key::Named(Named::ArrowUp) if shift => Command::PreviousTask,
        Key::Named(Named::ArrowDown) => Command::Next,
        Key::Named(Named::ArrowUp) => Command::Previous,
        Key::Named(Named::Delete) => Command::Delete,
        Key::Named(Named::Home) => Command::ToStart,
        Key::Named(Named::End) => Command::ToEnd,
        Key::Character("n" | "N") => Command::New,
        Key::Character(".") => Command::StopTask,
        Key::Character("j" | "J") => Command::NextThatNeedsMe,
        Key::Character("a" | "A") if shift => Command::Attach,
        Key::Character("i" | "I") if !shift => Command::Inbox,
        Key::Character("k" | "K") if shift => Command::Pin,
        Key::Character("k" | "K") => Command::Search,
        Key::Character("e" | "E") if shift => Command::EditAgain,
        Key::Character("e" | "E") => Command::Archive,
        Key::Character("r" | "R") if !shift => Command::Again,
        Key::Character("d" | "D") => {
            if shift {
                Command::Demo
            } else {
                Command::Decline
            }
        }
        Key::Character("u" | "U") if shift => Command::FileChanges,
        Key::Character(",") => Command::Settings,
        Key::Character("p" | "P") if shift => Command::Palette,
        Key::Character("p" | "P") => Command::PauseOrResume,
        Key::Character("l" | "L") => Command::FocusInput,
        Key::Character("s" | "S") if shift => Command::Setup,
        Key::Character("m" | "M") if shift => Command::Model,
        Key::Character("m" | "M") => Command::Memory,
        Key::Character("b" | "B") if shift => Command::Archived,
        Key::Character("b" | "B") => Command::List,
        Key::Character("g" | "G") => Command::Tree,
        Key::Character("o" | "O") => Command::ToggleDetails,
        Key::Character("t" | "T") if shift => Command::Theme,
        Key::Character("c" | "C") => {
            if shift {
                Command::CopyAll
            } else {
                Command::Copy
            }
        }
        Key::Character("f" | "F") => {
            if shift {
                Command::Folder
            } else {
                Command::Find
            }
        }
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
    fn the_help_has_few_keys() {
        let all = MAP.iter().flat_map(|(_, entries)| *entries);
        assert_eq!(
            all.filter(|entry| entry.in_help).count(),
            25,
            "more are not read: name others in the palette"
        );
    }

    /// The keys named in the help and the palette give these commands.
    #[test]
    fn what_the_map_says_is_so() {
        for entry in MAP.iter().flat_map(|(_, entries)| *entries) {
            let Some(expected) = entry.command else { continue };
            if expected == Command::Stop {
                // The second Escape stops, if the first had nothing else to close.
                assert_eq!(entry.keys, "Esc Esc");
                continue;
            }
            let mut modifiers = Modifiers::empty();
            let mut key = None;
            for name in entry.keys.split(' ') {
                match name {
                    "Ctrl" => modifiers |= Modifiers::CTRL,
                    "Shift" => modifiers |= Modifiers::SHIFT,
                    "↓" => key = Some(Key::Named(Named::ArrowDown)),
                    "↑" => key = Some(Key::Named(Named::ArrowUp)),
                    "Del" => key = Some(Key::Named(Named::Delete)),
                    "F2" => key = Some(Key::Named(Named::F2)),
                    "PgUp" => key = Some(Key::Named(Named::PageUp)),
                    "PgDn" => key = Some(Key::Named(Named::PageDown)),
                    "Home" => key = Some(Key::Named(Named::Home)),
                    "End" => key = Some(Key::Named(Named::End)),
                    letter => key = Some(Key::Character(letter.to_lowercase().into())),
                }
            }
            assert_eq!(key.and_then(|key| command(&key, modifiers)), Some(expected), "{}", entry.keys);
        }
    }

    /// Every command of a key is in the help and the palette, except keys with a meaning only where they are
    /// pressed.
    #[test]
    fn the_map_has_all_that_a_key_does() {
        let named = [
            Named::Escape,
            Named::Enter,
            Named::Tab,
            Named::F1,
            Named::F2,
            Named::PageUp,
            Named::PageDown,
            Named::ArrowUp,
            Named::ArrowDown,
            Named::ArrowLeft,
            Named::ArrowRight,
            Named::Home,
            Named::End,
            Named::Delete,
            Named::Backspace,
            Named::Insert,
            Named::Space,
        ];
        let letters = (' '..='~').map(|letter| Key::Character(letter.to_string().into()));
        let keys: Vec<Key> = named.map(Key::Named).into_iter().chain(letters).collect();
        let held =
            [Modifiers::empty(), Modifiers::SHIFT, Modifiers::CTRL, Modifiers::CTRL | Modifiers::SHIFT];
        let done = held.iter().flat_map(|held| keys.iter().filter_map(|key| command(key, *held)));
        let is_of_its_place = |command: Command| {
            matches!(
                command,
                Command::Escape
                    | Command::Confirm
                    | Command::Choose(_)
                    | Command::CardDown
                    | Command::CardUp
                    | Command::Walk
                    | Command::WalkBack
                    | Command::Typed
            )
        };
        let mapped: Vec<Command> =
            MAP.iter().flat_map(|(_, entries)| *entries).filter_map(|entry| entry.command).collect();
        for command in done.filter(|command| !is_of_its_place(*command)) {
            assert!(mapped.contains(&command), "{command:?}");
        }
    }

    /// The letters at the places of a to z.
    #[test]
    fn a_letter_of_another_script_means_the_key_at_its_place() {
        let codes = [
            Code::KeyA,
            Code::KeyB,
            Code::KeyC,
            Code::KeyD,
            Code::KeyE,
            Code::KeyF,
            Code::KeyG,
            Code::KeyH,
            Code::KeyI,
            Code::KeyJ,
            Code::KeyK,
            Code::KeyL,
            Code::KeyM,
            Code::KeyN,
            Code::KeyO,
            Code::KeyP,
            Code::KeyQ,
            Code::KeyR,
            Code::KeyS,
            Code::KeyT,
            Code::KeyU,
            Code::KeyV,
            Code::KeyW,
            Code::KeyX,
            Code::KeyY,
            Code::KeyZ,
        ];
        let layouts = [
            ("Russian", "фисвуапршолдьтщзйкыегмцчня"),
            ("Greek", "αβψδεφγηιξκλμνοπ;ρστθω·χυζ"),
            ("Hebrew", "שנבגקכעיןחלךצמםפ/רדאוה'סטז"),
            ("French", "qbcdefghijkl,noparstuvzxyw"),
        ];
        for (layout, letters) in layouts {
            for ((letter, latin), code) in letters.chars().zip('a'..='z').zip(codes) {
                // A Latin letter or a sign means itself, wherever it is.
                let expected = if letter < FOREIGN { letter } else { latin };
                let key = Key::Character(letter.to_string().into());
                let meant = meant(&key, Physical::Code(code));
                assert_eq!(meant, Key::Character(expected.to_string().into()), "{layout}: {letter}");
            }
        }
        for (letter, code, sign) in
            [("б", Code::Comma, ","), ("ю", Code::Period, "."), ("ת", Code::Comma, ",")]
        {
            let key = Key::Character(letter.into());
            assert_eq!(meant(&key, Physical::Code(code)), Key::Character(sign.into()), "{letter}");
        }
    }

    #[test]
    fn what_another_program_may_want_is_left_alone() {
        assert_eq!(press("a", Modifiers::ALT), None);
        assert_eq!(press("n", Modifiers::LOGO), None);
        assert_eq!(press("n", Modifiers::CTRL | Modifiers::ALT), None, "AltGr writes letters");
    }
}
