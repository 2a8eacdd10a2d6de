//! Runs a program in a real terminal, by tmux.

use crate::{daemon::TestDaemon, process, wait};
use std::{
    path::PathBuf,
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// Printed before the program's exit code when it has ended.
const ENDED: &str = "[ended: ";

/// How long tmux and the processes in it may take to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// The number of the next terminal; each has its own tmux server.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A terminal. When it is dropped it ends, with all processes in it: a client that outlived it could start
/// the daemon again after the test has killed it.
pub struct Terminal {
    socket: PathBuf,
    /// The process id of its shell, which is the id of its session.
    session: Option<u32>,
}

impl Terminal {
    /// Runs `command` (a line for `sh`) in a terminal of 110 by 45, with the environment of the daemon under
    /// test. The built binaries come first in `PATH`.
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
        // A tmux server of its own: a shared one that is just ending would take the new session with it.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut terminal = Self { socket: daemon.root().join(format!("tmux-{number}")), session: None };
        // The shell prints the exit code, because tmux may never report the program's end. `cat` keeps the
        // terminal open, so that the program's last output stays on the screen. The trap leaves Ctrl-C to the
        // program.
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
        let shell = terminal.tmux_output(&["display-message", "-p", "#{pane_pid}"]).await;
        terminal.session = Some(shell.trim().parse().expect("a process id"));
        terminal
    }

    /// Whether tmux is installed.
    pub async fn exists() -> bool {
        let output = process::finished(process::program("tmux").arg("-V")).await;
        output.is_ok_and(|output| output.status.success())
    }

    /// All lines of the screen and of the scrollback.
    pub async fn screen(&self) -> String {
        self.tmux_output(&["capture-pane", "-p", "-S", "-", "-J"]).await
    }

    /// The same lines, with their styles as escape sequences.
    pub async fn styled_screen(&self) -> String {
        self.tmux_output(&["capture-pane", "-e", "-p", "-S", "-", "-J"]).await
    }

    /// Resizes the terminal.
    pub async fn resize(&self, columns: u16, rows: u16) {
        self.tmux_output(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]).await;
    }

    /// Waits until the screen contains `text`, and returns the whole screen.
    ///
    /// # Panics
    /// The text does not appear in time.
    pub async fn shows(&self, text: &str) -> String {
        self.shows_times(text, 1).await
    }

    /// Waits until the screen contains `text` so many times, and returns the whole screen.
    ///
    /// # Panics
    /// As above.
    pub async fn shows_times(&self, text: &str, times: usize) -> String {
        wait::wait_seeing(&format!("{text:?} {times} times in the terminal"), async || {
            let screen = self.screen().await;
            if screen.matches(text).count() >= times { Ok(screen) } else { Err(screen) }
        })
        .await
    }

    /// Presses keys, by tmux's names: `Enter`, `y`, `C-c`.
    pub async fn press(&self, keys: &[&str]) {
        self.tmux_output(&[&["send-keys"][..], keys].concat()).await;
    }

    /// Types text literally.
    pub async fn type_text(&self, text: &str) {
        self.tmux_output(&["send-keys", "-l", text]).await;
    }

    /// Pastes text, as a bracketed paste if the program has enabled that.
    pub async fn paste(&self, text: &str) {
        self.tmux_output(&["set-buffer", "--", text]).await;
        self.tmux_output(&["paste-buffer", "-p", "-d"]).await;
    }

    /// Pastes text as a terminal does that does not mark pastes: line ends come as Enter.
    pub async fn paste_unmarked(&self, text: &str) {
        self.tmux_output(&["set-buffer", "--", text]).await;
        self.tmux_output(&["paste-buffer", "-d"]).await;
    }

    /// Waits until the program has ended, and returns its exit code.
    ///
    /// # Panics
    /// It does not end in time.
    pub async fn ended(&self) -> i32 {
        wait::wait_seeing("the exit code in the terminal", async || {
            let screen = self.screen().await;
            let code = screen.rsplit_once(ENDED).and_then(|(_, rest)| rest.split_once(']'));
            let code = code.and_then(|(code, _)| code.parse::<i32>().ok());
            code.ok_or(screen)
        })
        .await
    }

    async fn tmux_output(&self, arguments: &[&str]) -> String {
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
        if let Err(words) = process::finished_blocking(&mut tmux, END_LIMIT) {
            eprintln!("tmux could not be ended: {words}");
        }
        if let Some(session) = self.session
            && !process::wait_blocking(END_LIMIT, || !process::has_session(session))
        {
            eprintln!("a process that ran in the terminal has not ended");
        }
    }
}
