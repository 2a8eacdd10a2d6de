//! A real terminal, in tmux, with a program in it.

use crate::{daemon::TestDaemon, process, wait};
use std::{
    path::PathBuf,
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// Before the exit code of the program, once it has ended.
const ENDED: &str = "[ended: ";

/// How long tmux may take to go.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Tells terminals apart.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The terminal. When it is dropped it ends, and what runs in it: a client that outlived it could start a daemon again that the test
/// has killed.
pub struct Terminal {
    socket: PathBuf,
    /// The process id of its shell, which is the id of its session.
    session: Option<u32>,
}

impl Terminal {
    /// Runs `command` (a line for `sh`) in a terminal of 110 by 45, with the environment of the daemon under test. The built
    /// binaries come first in `PATH`.
    ///
    /// # Panics
    /// tmux does not start.
    pub async fn run(daemon: &TestDaemon, command: &str) -> Self {
        Self::sized(daemon, command, 110, 45).await
    }

    /// [`Self::run`] in a terminal of another size.
    ///
    /// # Panics
    /// tmux does not start.
    pub async fn sized(daemon: &TestDaemon, command: &str, columns: u16, rows: u16) -> Self {
        // A server of its own: one that is just going would take the new one's place.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut terminal = Self { socket: daemon.root().join(format!("tmux-{number}")), session: None };
        // tmux's own word on a program's end may never come; and a program's last words are to stay on the screen.
        // Ctrl-C is for the program, not for the shell around it.
        let command = format!("trap : INT; {command}; printf '\\n{ENDED}%s]\\n' $?; exec cat");
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        let mut tmux =
            terminal.tmux(&[&["-f", "/dev/null", "new-session", "-d"], &size[..], &[&command]].concat());
        let binaries = process::built("abide");
        let folder = binaries.parent().expect("binaries lie in a folder");
        let variables = daemon.variables();
        let path = format!("{}:{}", folder.display(), variables.get("PATH").map_or("", String::as_str));
        tmux.env_clear()
            .envs(variables)
            .env("PATH", path)
            .env("SHELL", "/bin/sh")
            .current_dir(daemon.workspace());
        let output = process::finished(&mut tmux).await.expect("tmux can be started");
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
        let shell = terminal.ask(&["display-message", "-p", "#{pane_pid}"]).await;
        terminal.session = Some(shell.trim().parse().expect("a process id"));
        terminal
    }

    /// Whether there is a tmux.
    pub async fn exists() -> bool {
        let output = process::finished(process::program("tmux").arg("-V")).await;
        output.is_ok_and(|output| output.status.success())
    }

    /// All lines, those that have scrolled away too.
    pub async fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-S", "-", "-J"]).await
    }

    /// All lines with their styles.
    pub async fn styled_screen(&self) -> String {
        self.ask(&["capture-pane", "-e", "-p", "-S", "-", "-J"]).await
    }

    /// Changes its size.
    pub async fn resize(&self, columns: u16, rows: u16) {
        self.ask(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]).await;
    }

    /// Waits until a line of it contains `text`; the whole screen.
    ///
    /// # Panics
    /// None does in time.
    pub async fn shows(&self, text: &str) -> String {
        wait::wait_seeing(&format!("{text:?} in the terminal"), async || {
            let screen = self.screen().await;
            if screen.contains(text) { Ok(screen) } else { Err(screen) }
        })
        .await
    }

    /// Presses keys, as tmux names them: `Enter`, `y`, `C-c`.
    pub async fn press(&self, keys: &[&str]) {
        self.ask(&[&["send-keys"][..], keys].concat()).await;
    }

    /// Types text as it is.
    pub async fn type_text(&self, text: &str) {
        self.ask(&["send-keys", "-l", text]).await;
    }

    /// Pastes text, marked as pasted if the program has asked for that.
    pub async fn paste(&self, text: &str) {
        self.ask(&["set-buffer", "--", text]).await;
        self.ask(&["paste-buffer", "-p", "-d"]).await;
    }

    /// Waits until the program has ended; its exit code.
    ///
    /// # Panics
    /// It does not end in time.
    pub async fn ended(&self) -> i32 {
        let screen = self.shows(ENDED).await;
        let code = screen
            .rsplit_once(ENDED)
            .and_then(|(_, rest)| rest.split_once(']'))
            .and_then(|(n, _)| n.parse().ok());
        code.unwrap_or_else(|| panic!("the terminal tells no exit code:\n{screen}"))
    }

    async fn ask(&self, arguments: &[&str]) -> String {
        let output = process::finished(&mut self.tmux(arguments)).await.expect("tmux can be run");
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn tmux(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut tmux = process::program("tmux");
        tmux.arg("-u").arg("-S").arg(&self.socket).args(arguments).stdin(Stdio::null()).env_remove("TMUX");
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut tmux = process::blocking_program("tmux");
        tmux.arg("-S").arg(&self.socket).arg("kill-server").stdin(Stdio::null());
        if let Err(words) = process::finished_blocking(&mut tmux, LAST_WORDS) {
            eprintln!("the terminal is left behind: {words}");
        }
        if let Some(session) = self.session
            && !process::settles(LAST_WORDS, || !process::has_session(session))
        {
            eprintln!("something that ran in the terminal outlived it");
        }
    }
}
