//! Commands of other programs that people type, and what to type in Abide. (Where one command of Abide does
//! the same, it has an alias.)

/// What to type instead of a command that does not exist.
pub(crate) fn elsewhere(word: &str) -> Option<&'static str> {
    Some(match word {
        "logs" | "log" => {
            "a task's output: `abide watch TASK` or `abide messages TASK`; the daemon's log: `abide daemon logs`"
        }
        "start" | "new" => "a task: `abide run WHAT TO DO`; the daemon: `abide daemon start`",
        "restart" => "a paused task: `abide resume TASK`; the daemon: `abide daemon restart`",
        "status" => "the tasks: `abide ps`; the daemon: `abide daemon status`",
        "rm" | "remove" | "delete" => {
            "a conversation: `abide conversations delete ID`; a task that works: `abide stop TASK`"
        }
        "login" | "auth" => "`abide key set PROVIDER` stores an API key",
        "ask" | "exec" | "do" => "`abide run WHAT TO DO` gives an agent something to do, `abide chat` talks",
        "continue" => {
            "`abide run --continue MESSAGE` or `abide chat --continue`; a paused task: `abide resume TASK`"
        }
        "settings" | "set" => "`abide config show`, `abide config set KEY VALUE`",
        "permissions" | "rule" => "`abide rules` lists what is remembered",
        "ui" | "window" | "open" => "`abide gui`",
        "version" => "`abide --version`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn no_hint_is_given_for_a_command_that_exists() {
        let cli = Cli::command();
        let mut known = cli
            .get_subcommands()
            .flat_map(|sub| std::iter::once(sub.get_name()).chain(sub.get_all_aliases()).collect::<Vec<_>>());
        assert_eq!(known.find(|name| elsewhere(name).is_some()), None);
    }
}
