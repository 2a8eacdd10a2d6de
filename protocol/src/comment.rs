//! A person's words to a task that works.

use crate::{TaskId, method::task::InterveneParams};

/// Comments that the daemon takes for commands.
const COMMANDS: [&str; 3] = ["delete", "modify", "unchanged"];

/// The request that says these words to a task, and does nothing else.
#[must_use]
pub fn comment(task: TaskId, words: String) -> InterveneParams {
    InterveneParams { task_id: task.to_string(), comment: as_comment(words), content: None, status: None }
}

/// The words of such a request: in quotes, a command is what the person wrote.
#[must_use]
pub fn as_comment(words: String) -> String {
    match words.trim() {
        command if COMMANDS.contains(&command) => format!("“{command}”"),
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_never_a_command() {
        let task = TaskId(uuid::Uuid::from_u128(1));
        for command in COMMANDS {
            assert_eq!(comment(task, format!(" {command}\n")).comment, format!("“{command}”"));
        }
        let words = "delete the old tests";
        assert_eq!(comment(task, words.to_owned()).comment, words);
    }
}
