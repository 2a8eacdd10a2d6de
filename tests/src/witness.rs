//! A file that tools append to: it shows what really ran, independently of the daemon and its database.

use std::{fs, path::PathBuf};

/// The file. It is in the workspace, where tools may write.
#[derive(Debug, Clone)]
pub struct Witness {
    path: PathBuf,
}

impl Witness {
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// A shell command that appends `mark` and syncs it, so that the line survives a power cut.
    #[must_use]
    pub fn command(&self, mark: &str) -> String {
        let path = self.path.display();
        format!("printf '%s\\n' '{mark}' >> '{path}' && sync '{path}'")
    }

    /// The same in Python.
    #[must_use]
    pub fn code(&self, mark: &str) -> String {
        let path = self.path.display();
        format!(
            "import os\nwith open('{path}', 'a') as file:\n    file.write('{mark}\\n')\n    file.flush()\n    os.fsync(file.fileno())\n"
        )
    }

    /// [`Self::command`], then some output, then a tree of processes that runs for ten minutes, one of them
    /// in a session of its own.
    #[must_use]
    pub fn command_that_hangs(&self, mark: &str) -> String {
        format!("{} && echo 'output of {mark}' && (setsid sleep 600 & sleep 600)", self.command(mark))
    }

    /// The mark that a call with these arguments leaves, if it is such a command or such code.
    #[must_use]
    pub fn mark_of(arguments: &str) -> Option<String> {
        let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
        let between = |text: &serde_json::Value, start: &str, end: &str| {
            let (_, rest) = text.as_str()?.split_once(start)?;
            Some(rest.split_once(end)?.0.to_owned())
        };
        between(&arguments["command"], r"printf '%s\n' '", "'")
            .or_else(|| between(&arguments["code"], "file.write('", r"\n')"))
    }

    /// How often the command with this mark ran.
    #[must_use]
    pub fn count(&self, mark: &str) -> usize {
        self.marks().iter().filter(|m| *m == mark).count()
    }

    /// All marks, in order.
    #[must_use]
    pub fn marks(&self) -> Vec<String> {
        fs::read_to_string(&self.path).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}
