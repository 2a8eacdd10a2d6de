//! The command line of the window's program.

use std::ffi::OsString;

/// `abide-gui --help`
pub const HELP: &str = "\
The window of Abide

Usage: abide-gui [OPTIONS]

A window that runs already shows what is asked for, and no other one opens.

Options:
      --conversation ID  Show this conversation: its id, or a unique beginning or end of it
      --inbox            Show what waits for you
      --new-window       Open another window, also if one runs
      --dbus-service     The session bus starts it, for its name dev.abide.Abide
      --tray             Show only the icon in the tray; it stays while no window is open
  -h, --help             Print help
  -V, --version          Print version
";

/// The longest id of a conversation that is passed on, in bytes; an id has 36.
const MAX_ID: usize = 64;

/// What the program was started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Window {
        wanted: ShowRequest,
        /// In a window of its own, also if one runs.
        is_new: bool,
        /// The session bus waits for the window's name.
        is_service: bool,
    },
    /// The icon in the tray.
    Tray,
    Help,
    Version,
}

/// What the window is asked to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShowRequest {
    /// Itself.
    Window,
    Inbox,
    /// The conversation with this id, or with a unique part of it.
    Conversation(String),
}

impl ShowRequest {
    /// The conversation with this id.
    ///
    /// # Errors
    /// It cannot be an id.
    pub fn conversation(id: &str) -> Result<Self, UsageError> {
        let id = id.trim();
        let is_one =
            !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        if is_one { Ok(Self::Conversation(id.to_owned())) } else { Err(UsageError::NoId(shortened(id))) }
    }
}

/// Why a command line is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    #[error("--conversation needs the id of a conversation; `abide conversations` lists them")]
    Incomplete,
    #[error("{0:?} is no conversation's id; `abide conversations` lists them")]
    NoId(String),
    #[error("unknown argument {0:?}; `abide-gui --help` lists what there is")]
    Unknown(String),
}

impl Start {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// See [`UsageError`].
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let (mut wanted, mut is_new, mut is_service, mut is_tray) =
            (ShowRequest::Window, false, false, false);
        let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--conversation" => {
                    wanted = ShowRequest::conversation(&arguments.next().ok_or(UsageError::Incomplete)?)?;
                }
                "--inbox" => wanted = ShowRequest::Inbox,
                "--new-window" => is_new = true,
                "--dbus-service" => is_service = true,
                "--tray" => is_tray = true,
                "-h" | "--help" => return Ok(Self::Help),
                "-V" | "--version" => return Ok(Self::Version),
                other => match other.strip_prefix("--conversation=") {
                    Some(id) => wanted = ShowRequest::conversation(id)?,
                    None => return Err(UsageError::Unknown(shortened(other))),
                },
            }
        }
        Ok(if is_tray { Self::Tray } else { Self::Window { wanted, is_new, is_service } })
    }
}

/// For a message.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_ID).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Start, UsageError> {
        Start::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_command_line_says_what_to_show() {
        let window = |wanted| Start::Window { wanted, is_new: false, is_service: false };
        let conversation = || ShowRequest::Conversation("3f9a1c20".to_owned());
        let table: [(&[&str], Start); 8] = [
            (&[], window(ShowRequest::Window)),
            (&["--inbox"], window(ShowRequest::Inbox)),
            (&["--conversation", "3f9a1c20"], window(conversation())),
            (&["--conversation=3f9a1c20"], window(conversation())),
            (
                &["--new-window", "--conversation", "3f9a1c20"],
                Start::Window { wanted: conversation(), is_new: true, is_service: false },
            ),
            (
                &["--dbus-service"],
                Start::Window { wanted: ShowRequest::Window, is_new: false, is_service: true },
            ),
            (&["--tray"], Start::Tray),
            (&["--inbox", "--help"], Start::Help),
        ];
        for (arguments, start) in table {
            assert_eq!(parse(arguments), Ok(start), "{arguments:?}");
        }
    }

    #[test]
    fn a_command_line_that_is_not_understood_is_refused_with_what_to_do() {
        assert_eq!(parse(&["--conversation"]), Err(UsageError::Incomplete));
        for id in ["", "zebra", "3f9a 1c20", &"a".repeat(65)] {
            let refused = parse(&["--conversation", id]).unwrap_err().to_string();
            assert!(refused.contains("abide conversations") && refused.len() < 200, "{refused}");
        }
        let refused = parse(&["--inbix"]).unwrap_err().to_string();
        assert!(refused.contains("\"--inbix\"") && refused.contains("--help"), "{refused}");
    }
}
