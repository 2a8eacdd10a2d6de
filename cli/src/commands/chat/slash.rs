//! Lines that begin with a slash: commands to `abide chat` itself.

use crate::output::{markdown, text};
use abide_client::protocol::task::Mode;
use std::fmt::Write as _;

/// A typed line, classified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Nothing,
    Message(String),
    /// A command line for the person's shell.
    Shell(String),
    Command(Command),
    /// An unknown command, or a wrong argument; the error message.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    /// Prints the model, or changes it.
    Model(Option<String>),
    Mode(Option<Mode>),
    Stop,
    Diff,
    Undo,
    Cost,
    New,
    Exit,
}

/// The commands with their arguments and effects, as `/help` shows them.
const COMMANDS: [(&str, &str, &str); 9] = [
    ("/help", "", "show this"),
    ("/model", "[PROVIDER/MODEL]", "say which model answers, or change it for this conversation"),
    ("/mode", "[MODE]", "say how the agent works, or change it: auto, chat, agent, roa, plan or tree"),
    ("/stop", "", "stop the task that runs in this conversation"),
    ("/diff", "", "show what the newest task has changed in files"),
    ("/undo", "", "undo that: it is shown first, and you are asked"),
    ("/cost", "", "say what the newest task and the conversation have used"),
    ("/new", "", "begin a new conversation with the next message; model and mode stay"),
    ("/exit", "", "leave; the conversation stays"),
];

/// The keys, as `/help` shows them.
const KEYS: [(&str, &str); 7] = [
    ("!command", "run a command of your own here; the agent sees nothing of it"),
    ("@path", "name a file; Tab completes its path"),
    (
        "Enter",
        "send, also while the agent works; Alt-Enter, Ctrl-J or a backslash at the end begins another line",
    ),
    ("Up, Ctrl-R", "bring earlier messages back"),
    ("Tab", "complete commands, models and files"),
    ("Ctrl-C", "stop a reply, or clear the line; twice on an empty line, or Ctrl-D: leave"),
    ("//text, !!text", "send a message that begins with a slash, or with an exclamation mark"),
];

impl Typed {
    pub(super) fn of(text: &str) -> Self {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Self::Nothing;
        }
        if let Some(message) = trimmed.strip_prefix("//") {
            return Self::Message(format!("/{message}"));
        }
        if let Some(message) = trimmed.strip_prefix("!!") {
            return Self::Message(format!("!{message}"));
        }
        if let Some(line) = trimmed.strip_prefix('!').map(str::trim) {
            return if line.is_empty() { Self::Nothing } else { Self::Shell(line.to_owned()) };
        }
        if !trimmed.starts_with('/') {
            return Self::Message(text.trim_end().to_owned());
        }
        let (name, argument) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let argument = Some(argument.trim()).filter(|argument| !argument.is_empty());
        match Command::of(name, argument) {
            Ok(command) => Self::Command(command),
            Err(why) => Self::Refused(why),
        }
    }
}

impl Command {
    fn of(name: &str, argument: Option<&str>) -> Result<Self, String> {
        match (name, argument) {
            ("/model", model) => Ok(Self::Model(model.map(str::to_owned))),
            ("/mode", None) => Ok(Self::Mode(None)),
            ("/mode", Some(named)) => {
                let modes = || Mode::ALL.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ");
                let mode =
                    named.parse().map_err(|_| format!("there is no mode {named}; modes: {}", modes()))?;
                Ok(Self::Mode(Some(mode)))
            }
            ("/help", None) => Ok(Self::Help),
            ("/stop", None) => Ok(Self::Stop),
            ("/diff", None) => Ok(Self::Diff),
            ("/undo", None) => Ok(Self::Undo),
            ("/cost" | "/usage", None) => Ok(Self::Cost),
            ("/new", None) => Ok(Self::New),
            ("/exit" | "/quit", None) => Ok(Self::Exit),
            (
                "/help" | "/stop" | "/diff" | "/undo" | "/cost" | "/usage" | "/new" | "/exit" | "/quit",
                Some(_),
            ) => Err(format!("{name} takes nothing more")),
            _ => {
                let known = COMMANDS.map(|(name, ..)| name).join(" ");
                Err(format!(
                    "there is no command {name}; commands: {known}\nto send a text that begins with /: //text"
                ))
            }
        }
    }
}

/// The text of `/help`, wrapped to this width.
pub(super) fn help(width: usize) -> String {
    let commands = COMMANDS.map(|(name, takes, does)| (format!("{name} {takes}"), does));
    let keys = KEYS.map(|(key, does)| (key.to_owned(), does));
    let rows: Vec<_> = commands.into_iter().chain(keys).collect();
    let column = rows.iter().map(|(what, _)| text::width(what)).max().unwrap_or_default();
    let mut out = String::new();
    for (what, does) in rows {
        let mut what = what.as_str();
        for line in markdown::plain(does, width.saturating_sub(column + 4)) {
            let _ = writeln!(out, "  {what:<column$}  {line}");
            what = "";
        }
    }
    out
}

/// All lines that Tab can complete to.
pub(super) fn lines(models: &[String]) -> Vec<String> {
    let plain = COMMANDS.iter().filter(|(_, takes, _)| takes.is_empty()).map(|(name, ..)| (*name).to_owned());
    let modes = Mode::ALL.iter().map(|mode| format!("/mode {}", mode.name()));
    // A model's name comes from a provider, and completing writes it to the terminal.
    let plain_name = |model: &&String| !model.chars().any(|c| c.is_control() || c.is_whitespace());
    let models = models.iter().filter(plain_name).map(|model| format!("/model {model}"));
    plain.chain(modes).chain(models).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_with_one_slash_is_a_command() {
        let message = |text: &str| Typed::Message(text.to_owned());
        let table = [
            ("hello\n", message("hello")),
            ("  indented", message("  indented")),
            ("a /help", message("a /help")),
            ("//usr/bin", message("/usr/bin")),
            ("two\n/help", message("two\n/help")),
            ("  \n", Typed::Nothing),
            ("/help", Typed::Command(Command::Help)),
            (" /exit ", Typed::Command(Command::Exit)),
            ("/quit", Typed::Command(Command::Exit)),
            ("/model", Typed::Command(Command::Model(None))),
            ("/model  demo/demo ", Typed::Command(Command::Model(Some("demo/demo".into())))),
            ("/mode agent", Typed::Command(Command::Mode(Some(Mode::Agent)))),
            ("/mode", Typed::Command(Command::Mode(None))),
        ];
        for (text, typed) in table {
            assert_eq!(Typed::of(text), typed, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_command_is_refused_with_the_list() {
        for (text, words) in [
            ("/usr/bin/x is broken", "there is no command /usr/bin/x; commands: /help /model"),
            ("/", "there is no command /;"),
            ("/mode fast", "there is no mode fast; modes: chat, agent"),
            ("/stop it", "/stop takes nothing more"),
        ] {
            let Typed::Refused(why) = Typed::of(text) else { panic!("{text} was taken") };
            assert!(why.starts_with(words), "{why}");
        }
    }

    #[test]
    fn help_fits_its_terminal() {
        for width in [40, 80, 200] {
            let help = help(width);
            assert!(help.lines().all(|line| line.chars().count() <= width), "{help}");
        }
    }

    #[test]
    fn every_command_is_understood_shown_and_completed() {
        let (help, lines) = (help(80), lines(&["demo/demo".into(), "bad\u{1b}[2J".into()]));
        for (name, ..) in COMMANDS {
            assert!(matches!(Typed::of(name), Typed::Command(_)), "{name}");
            assert!(help.contains(&format!("  {name} ")), "{help}");
            assert!(lines.iter().any(|line| line.starts_with(name)), "{lines:?}");
        }
        assert!(
            lines.contains(&"/model demo/demo".to_owned()) && lines.iter().all(|l| !l.contains('\u{1b}'))
        );
    }
}
