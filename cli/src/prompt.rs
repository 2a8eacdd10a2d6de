//! Input from a person. There is one reader at a time; dropping a read restores the terminal.

#[cfg(unix)]
mod burst;
#[cfg(unix)]
mod dialect;
mod draft;
#[cfg(unix)]
mod editor;
mod history;
#[cfg(unix)]
mod paths;
pub(crate) mod program;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use self::{editor::Editor, unix::Terminal};

#[cfg(not(unix))]
mod none;
#[cfg(not(unix))]
pub(crate) use none::{Editor, Terminal};

pub(crate) use draft::Draft;
pub(crate) use history::History;

use abide_client::protocol::{
    inbox::{Approval, Question},
    transcript::Risk,
};
use std::io;

impl Terminal {
    /// Reads one edited line; Ctrl-C interrupts it.
    pub(crate) async fn ask(&self, label: &str) -> io::Result<Edited> {
        let draft = Draft::default();
        tokio::select! {
            edited = self.edit(label, &draft) => edited,
            _ = tokio::signal::ctrl_c() => Ok(Edited::Interrupted),
        }
    }
}

/// The result of editing a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edited {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line, or the terminal was closed.
    End,
}

/// The meaning of a key at an approval of low risk, or of a line at another, which no single key decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovalKey {
    Once,
    /// It, and what else of the task asks for the same reason.
    ForTask,
    Always,
    Reject,
    Detach,
    /// Shows all of it.
    View,
}

/// What an approval takes from the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Key,
    /// A line with a key, or with a word.
    Line,
    /// A word: the risk is high, or not all of the call is shown.
    Word {
        of_high_risk: bool,
        is_whole: bool,
    },
}

impl Takes {
    /// `is_whole`: all of the call is shown.
    pub(crate) const fn at(risk: Risk, is_whole: bool) -> Self {
        match (risk, is_whole) {
            (Risk::Low, true) => Self::Key,
            (Risk::Medium, true) => Self::Line,
            (Risk::Low | Risk::Medium, false) => Self::Word { of_high_risk: false, is_whole },
            (Risk::High, _) => Self::Word { of_high_risk: true, is_whole },
        }
    }

    /// What is before the prompt.
    pub(crate) fn label(self, approval: &Approval) -> String {
        let (is_always, is_task) = (approval.only_once.is_none(), approval.for_task);
        let offer = |is_there: bool, words: &'static str| if is_there { words } else { "" };
        if let Self::Word { of_high_risk, is_whole } = self {
            let why = match (of_high_risk, is_whole) {
                (true, true) => "high risk",
                (false, _) => "not all is shown (v views)",
                (true, false) => "high risk, and not all is shown (v views)",
            };
            let (task, always) = (offer(is_task, "task, "), offer(is_always, "always, "));
            return format!("{why}: write yes, {task}{always}no or detach: ");
        }
        let (task, always) = (offer(is_task, "t for this task · "), offer(is_always, "A always · "));
        let enter = offer(self == Self::Line, ", then Enter");
        format!("y allow once · {task}{always}n reject · d detach{enter}: ")
    }

    /// What a line means, if anything.
    pub(crate) fn of_line(self, line: &str) -> Option<ApprovalKey> {
        match self {
            Self::Key | Self::Line => ApprovalKey::of_line(line),
            Self::Word { .. } => ApprovalKey::of_word(line),
        }
    }

    /// Said at a line that means nothing.
    pub(crate) const fn refusal(self) -> &'static str {
        match self {
            Self::Key | Self::Line => "nothing is decided: type one of these letters, then Enter",
            Self::Word { of_high_risk: true, .. } => "nothing is decided: a high risk takes a whole word",
            Self::Word { of_high_risk: false, .. } => {
                "nothing is decided: what is not shown takes a whole word; v views it"
            }
        }
    }
}

impl ApprovalKey {
    /// Any other key is `None`: an approval is never given by accident. The window's letters mean the same:
    /// `a` allows once, and what is lasting takes another letter and Enter.
    pub(crate) const fn of(key: u8) -> Option<Self> {
        match key {
            b'y' | b'Y' | b'a' => Some(Self::Once),
            b't' | b'T' => Some(Self::ForTask),
            b'A' => Some(Self::Always),
            b'n' | b'N' | b'r' => Some(Self::Reject),
            b'd' | b'D' | END_OF_INPUT => Some(Self::Detach),
            b'v' | b'V' => Some(Self::View),
            _ => None,
        }
    }

    /// The meaning of a line at an approval of medium risk: of a key, or of a word.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        match line.trim().as_bytes() {
            [key] => Self::of(*key),
            _ => Self::of_word(line),
        }
    }

    /// The meaning of a line at an approval that takes a word. A rejection needs no care, so its key counts
    /// too.
    pub(crate) fn of_word(line: &str) -> Option<Self> {
        match line.trim().to_lowercase().as_str() {
            "yes" => Some(Self::Once),
            "task" => Some(Self::ForTask),
            "always" => Some(Self::Always),
            "n" | "no" => Some(Self::Reject),
            "d" | "detach" => Some(Self::Detach),
            "v" | "view" => Some(Self::View),
            _ => None,
        }
    }
}

/// Ctrl-D.
pub(crate) const END_OF_INPUT: u8 = 4;

/// A typed reply to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The answer to send; a number is replaced by its choice.
    Answer(String),
    Nothing,
    /// Neither a choice nor allowed as text.
    NotAChoice,
    /// A number that no choice has, where the choices are words: a slip of the finger, not an answer.
    NoSuchNumber,
}

impl Typed {
    pub(crate) fn at(question: &Question, line: &str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Nothing;
        }
        match abide_client::choice(question, line) {
            Some(choice) => Self::Answer(choice.to_owned()),
            None if is_number(line) && !question.choices.is_empty() && !has_numbers(&question.choices) => {
                Self::NoSuchNumber
            }
            None if question.kind.takes_words() || question.choices.is_empty() => {
                Self::Answer(line.to_owned())
            }
            None => Self::NotAChoice,
        }
    }
}

fn is_number(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether another number may be an answer, too.
fn has_numbers(choices: &[String]) -> bool {
    choices.iter().any(|choice| choice.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::inbox::QuestionKind;

    #[test]
    fn a_key_means_what_it_means_in_the_window() {
        use ApprovalKey as K;
        let table = [
            (b'y', Some(K::Once)),
            (b'Y', Some(K::Once)),
            (b'a', Some(K::Once)),
            (b'A', Some(K::Always)),
            (b't', Some(K::ForTask)),
            (b'n', Some(K::Reject)),
            (b'r', Some(K::Reject)),
            // The window's key for a lasting rejection, which this prompt does not offer.
            (b'R', None),
            (b'd', Some(K::Detach)),
            (b'v', Some(K::View)),
            (4, Some(K::Detach)),
            (b'\n', None),
            (b' ', None),
            (0x1b, None),
            (b'x', None),
        ];
        for (key, meaning) in table {
            assert_eq!(K::of(key), meaning, "{key}");
        }
    }

    #[test]
    fn a_medium_risk_takes_a_line() {
        use ApprovalKey as K;
        let table = [
            ("y", Some(K::Once)),
            (" a ", Some(K::Once)),
            ("A", Some(K::Always)),
            ("yes", Some(K::Once)),
            ("n", Some(K::Reject)),
            ("detach", Some(K::Detach)),
            ("", None),
            ("ay it why they keep", None),
        ];
        for (line, meaning) in table {
            assert_eq!(K::of_line(line), meaning, "{line:?}");
        }
    }

    #[test]
    fn a_high_risk_takes_whole_words() {
        use ApprovalKey as K;
        let table = [
            ("yes", Some(K::Once)),
            (" Yes ", Some(K::Once)),
            ("always", Some(K::Always)),
            ("task", Some(K::ForTask)),
            ("no", Some(K::Reject)),
            ("n", Some(K::Reject)),
            ("d", Some(K::Detach)),
            ("v", Some(K::View)),
            ("y", None),
            ("t", None),
            ("a", None),
            ("", None),
            ("yes please", None),
        ];
        for (line, meaning) in table {
            assert_eq!(K::of_word(line), meaning, "{line:?}");
        }
    }

    #[test]
    fn what_is_not_shown_takes_a_word() {
        let hidden = |risk| Takes::at(risk, false);
        for risk in [Risk::Low, Risk::Medium, Risk::High] {
            assert_eq!(hidden(risk).of_line("y"), None, "{risk:?}");
            assert_eq!(hidden(risk).of_line("yes"), Some(ApprovalKey::Once), "{risk:?}");
            assert_eq!(hidden(risk).of_line("v"), Some(ApprovalKey::View), "{risk:?}");
        }
        assert_eq!(Takes::at(Risk::Low, true), Takes::Key);
        let once = Approval { only_once: Some("it names a file".into()), ..fixture::approval() };
        assert_eq!(hidden(Risk::Low).label(&once), "not all is shown (v views): write yes, no or detach: ");
    }

    #[test]
    fn a_number_is_the_choice_and_other_words_are_an_answer() {
        let question = fixture::question();
        let table = [
            ("2", Typed::Answer("blue".into())),
            (" RED \n", Typed::Answer("red".into())),
            ("3", Typed::NoSuchNumber),
            ("0", Typed::NoSuchNumber),
            ("3 of them", Typed::Answer("3 of them".into())),
            ("green\n", Typed::Answer("green".into())),
            ("  \n", Typed::Nothing),
        ];
        for (line, typed) in table {
            assert_eq!(Typed::at(&question, line), typed, "{line:?}");
        }
        let of_numbers = Question { choices: vec!["8080".into(), "9090".into()], ..question.clone() };
        assert_eq!(Typed::at(&of_numbers, "7070"), Typed::Answer("7070".into()));
        let open = Question { choices: Vec::new(), ..question };
        assert_eq!(Typed::at(&open, "3"), Typed::Answer("3".into()));
    }

    #[test]
    fn a_question_of_the_daemon_takes_its_choices_only() {
        let question = Question { kind: QuestionKind::Budget, ..fixture::question() };
        assert_eq!(Typed::at(&question, "maybe"), Typed::NotAChoice);
        assert_eq!(Typed::at(&question, "1"), Typed::Answer("red".into()));
        assert_eq!(Typed::at(&question, "y"), Typed::Answer("red".into()));
        let about_a_loop = Question { kind: QuestionKind::Loop, ..fixture::question() };
        assert_eq!(Typed::at(&about_a_loop, "look first"), Typed::Answer("look first".into()));
    }
}
