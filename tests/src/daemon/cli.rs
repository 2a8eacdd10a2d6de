use crate::{process, wait};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// The real `abide`, without a terminal.
#[derive(Debug, Clone)]
pub struct Cli {
    variables: BTreeMap<String, String>,
    folder: PathBuf,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A run that is under way; dropping it kills it.
#[derive(Debug)]
pub struct CliRun {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Cli {
    pub(super) const fn new(variables: BTreeMap<String, String>, folder: PathBuf) -> Self {
        Self { variables, folder }
    }

    /// Runs it in another folder.
    #[must_use]
    pub fn from(mut self, folder: &Path) -> Self {
        self.folder = folder.to_path_buf();
        self
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run(&self, arguments: &[&str]) -> CliOutput {
        self.run_with_stdin(arguments, Stdio::null()).await
    }

    /// Runs it to its end, with `input` in a pipe on its stdin.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run_with_input(&self, arguments: &[&str], input: &str) -> CliOutput {
        self.run_reading(arguments, Stdio::piped(), async |child| {
            let mut stdin = child.stdin.take().expect("a pipe");
            // It may end without reading all.
            drop(stdin.write_all(input.as_bytes()).await);
        })
        .await
    }

    /// Runs it to its end, with a stdin that does not end before. `meanwhile` gets the process.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run_with_open_input(
        &self,
        arguments: &[&str],
        meanwhile: impl AsyncFnOnce(&mut Child),
    ) -> CliOutput {
        let mut held = None;
        self.run_reading(arguments, Stdio::piped(), async |child| {
            held = child.stdin.take();
            meanwhile(child).await;
        })
        .await
    }

    /// Runs it to its end, with this stdin.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run_with_stdin(&self, arguments: &[&str], stdin: Stdio) -> CliOutput {
        self.run_reading(arguments, stdin, async |_| {}).await
    }

    async fn run_reading(
        &self,
        arguments: &[&str],
        stdin: Stdio,
        meanwhile: impl AsyncFnOnce(&mut Child),
    ) -> CliOutput {
        let mut child = self.command(arguments).stdin(stdin).spawn().expect("abide can be started");
        let what = format!("`abide {}` to end", arguments.join(" "));
        let output = wait::within(&what, async {
            meanwhile(&mut child).await;
            child.wait_with_output().await.expect("abide can be waited for")
        })
        .await;
        CliOutput {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs it to its end with nobody who reads its stdout, like `head` that has read enough.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run_unread(&self, arguments: &[&str]) -> CliOutput {
        let mut child = self.command(arguments).stdin(Stdio::null()).spawn().expect("abide can be started");
        drop(child.stdout.take());
        let what = format!("`abide {}` to end", arguments.join(" "));
        let output = wait::within(&what, child.wait_with_output()).await.expect("abide can be waited for");
        CliOutput {
            code: output.status.code(),
            stdout: String::new(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs it to its end, which must be a success; returns its stdout.
    ///
    /// # Panics
    /// It ends with another code than 0.
    pub async fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        assert_eq!(output.code, Some(0), "`abide {}`: {output:?}", arguments.join(" "));
        output.stdout
    }

    /// [`Self::ok`] with `--json`: the one document that it prints.
    ///
    /// # Panics
    /// It ends with another code than 0, or prints something else.
    pub async fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let text = self.ok(&[arguments, &["--json"]].concat()).await;
        serde_json::from_str(&text)
            .unwrap_or_else(|e| panic!("`abide {}` printed no JSON ({e}): {text}", arguments.join(" ")))
    }

    /// Starts it and reads its stdout line by line.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> CliRun {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("abide can be started");
        let stdout = child.stdout.take().expect("a pipe");
        CliRun { child, lines: BufReader::new(stdout).lines() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = process::program(process::built("abide"));
        command
            .args(arguments)
            .env_clear()
            .envs(&self.variables)
            .current_dir(&self.folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl CliRun {
    /// The next line; `None` when it has closed its stdout.
    ///
    /// # Panics
    /// Nothing comes.
    pub async fn line(&mut self) -> Option<String> {
        wait::within("a line from abide", self.lines.next_line()).await.expect("abide's stdout can be read")
    }

    /// Reads lines up to and including the first that satisfies `is_last`.
    ///
    /// # Panics
    /// No such line comes.
    pub async fn lines_until(&mut self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        let read = async {
            while let Some(line) = self.lines.next_line().await.expect("abide's stdout can be read") {
                let is_over = is_last(&line);
                lines.push(line);
                if is_over {
                    return true;
                }
            }
            false
        };
        match tokio::time::timeout(wait::limit(), read).await {
            Ok(true) => lines,
            Ok(false) => panic!("abide ended before the line that was waited for; it said: {lines:#?}"),
            Err(_) => panic!("abide never said the line that was waited for; it said: {lines:#?}"),
        }
    }

    /// SIGKILL.
    ///
    /// # Panics
    /// It cannot be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("abide can be killed");
    }

    /// Closes its stdout, as `head` does when it has enough, and waits until it ends; returns its exit code.
    ///
    /// # Panics
    /// It does not end.
    pub async fn code_unread(mut self) -> Option<i32> {
        drop(self.lines);
        wait::within("abide to end", self.child.wait()).await.expect("abide can be waited for").code()
    }

    /// Waits until it ends by itself; returns its exit code.
    ///
    /// # Panics
    /// It does not end.
    pub async fn code(mut self) -> Option<i32> {
        wait::within("abide to end", self.child.wait()).await.expect("abide can be waited for").code()
    }
}
