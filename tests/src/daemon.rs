//! The real daemon in a home of its own.

mod cli;
mod config;
mod program;

pub use cli::{Cli, CliOutput, CliRun};
pub use config::{Config, WIRES};
pub use program::Program;

use crate::{
    process::{self, Found},
    shim, wait,
};
use abide_client::{Client, Options};
use abide_host::Home;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// How long tools may outlive the daemon.
const SURVIVORS_GONE: Duration = Duration::from_secs(5);
/// How much of the daemon's output a failed test prints, in bytes.
const SHOWN_LOG: usize = 16 * 1024;

/// A daemon under test: its home, and its process while it runs.
pub struct TestDaemon {
    /// Its path is short, because a socket's path must be.
    root: TempDir,
    environment: BTreeMap<String, String>,
    once: BTreeMap<String, String>,
    caller: Option<String>,
    program: PathBuf,
    child: Option<Child>,
}

impl TestDaemon {
    /// A home with this configuration; nothing runs yet.
    ///
    /// # Panics
    /// The folders cannot be made.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        // Not `TMPDIR`, which may be long.
        let place = std::env::var_os("ABIDE_TEST_DIR").unwrap_or_else(|| "/tmp".into());
        Self::beneath(Path::new(&place), config)
    }

    /// As [`Self::new`], with all folders beneath this one. (A command in the sandbox has a `/tmp` of its
    /// own, so that nothing beneath the machine's can be reached anyway.)
    ///
    /// # Panics
    /// The folders cannot be made.
    #[must_use]
    pub fn beneath(place: &Path, config: &Config) -> Self {
        let root =
            tempfile::Builder::new().prefix("abide-").tempdir_in(place).expect("a folder for the test");
        let daemon = Self {
            root,
            environment: BTreeMap::new(),
            once: BTreeMap::new(),
            caller: None,
            program: process::built("abided"),
            child: None,
        };
        for dir in [daemon.workspace(), daemon.user_home(), daemon.home().config_dir] {
            fs::create_dir_all(&dir).expect("a folder for the test");
        }
        daemon.configure(config);
        daemon
    }

    /// A running daemon with this configuration.
    pub async fn start(config: &Config) -> Self {
        let mut daemon = Self::new(config);
        daemon.up().await;
        daemon
    }

    /// Sets a variable for the next starts of daemon and CLI.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Sets a variable for the next start only.
    pub fn set_env_once(&mut self, name: &str, value: &str) {
        self.once.insert(name.to_owned(), value.to_owned());
    }

    /// Lets the next start only have a clock that shows the time of so many weeks ago. `false`: there is no C
    /// compiler.
    pub fn set_back_once(&mut self, weeks: u32) -> bool {
        let Some(library) = shim::compiled("clock", self.root()) else { return false };
        self.set_env_once("LD_PRELOAD", &library.display().to_string());
        self.set_env_once("ABIDE_SHIM_CLOCK", &format!("-{}", weeks * 7 * 24 * 60 * 60));
        true
    }

    /// What a shell runs before it becomes the daemon, at the next starts.
    pub fn set_caller(&mut self, script: &str) {
        self.caller = Some(script.to_owned());
    }

    /// Writes the configuration; the daemon reads it when it next needs it.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn configure(&self, config: &Config) {
        fs::write(self.home().config_file(), config.to_toml()).expect("the configuration can be written");
    }

    /// The folders of this daemon.
    #[must_use]
    pub fn home(&self) -> Home {
        Home::at(self.abide_home())
    }

    /// The folder that `ABIDE_HOME` names.
    #[must_use]
    pub fn abide_home(&self) -> PathBuf {
        self.root.path().join("a")
    }

    /// The folder that `HOME` names, for the daemon, the CLI and the tools.
    #[must_use]
    pub fn user_home(&self) -> PathBuf {
        self.root.path().join("h")
    }

    /// A folder for tools to work in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("w")
    }

    /// Starts the daemon and waits until it answers.
    ///
    /// # Panics
    /// It runs already, or does not answer.
    pub async fn up(&mut self) {
        self.launch();
        drop(self.connected().await);
    }

    /// Starts the daemon and does not wait.
    ///
    /// # Panics
    /// It runs already, or cannot be started.
    pub fn launch(&mut self) {
        assert!(self.child.is_none(), "the daemon runs already");
        let log =
            File::options().create(true).append(true).open(self.output_file()).expect("the output's file");
        let program = &self.program;
        let mut command = match &self.caller {
            None => process::blocking_program(program),
            Some(script) => {
                let mut shell = process::blocking_program("/bin/sh");
                shell.arg("-c").arg(format!("{script}\nexec \"$0\" \"$@\"")).arg(program);
                shell
            }
        };
        command
            .arg("--foreground")
            .env_clear()
            .envs(self.variables())
            .envs(std::mem::take(&mut self.once))
            .current_dir(self.root.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle of the output's file"))
            .stderr(log);
        self.child = Some(command.spawn().expect("abided can be started"));
    }

    /// Starts a second daemon in the same home; dropping it kills it.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn another(&self) -> tokio::process::Child {
        let mut command = process::program(&self.program);
        command.arg("--foreground").env_clear().envs(self.variables()).current_dir(self.root.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("abided can be started")
    }

    /// The first connection to a daemon that is starting.
    async fn connected(&mut self) -> Client {
        let options = options();
        wait::wait_for("the daemon to answer", async || {
            if let Some(status) = self.exited() {
                panic!("the daemon ended while starting ({status}):\n{}", self.output());
            }
            Client::connect(&self.home(), options.clone()).await.ok()
        })
        .await
    }

    /// Waits until the daemon answers or ends; returns whether it answers.
    ///
    /// # Panics
    /// Neither happens.
    pub async fn answers(&mut self) -> bool {
        wait::wait_for("the daemon to answer or to end", async || {
            if self.exited().is_some() {
                self.child = None;
                return Some(false);
            }
            Client::connect(&self.home(), options()).await.is_ok().then_some(true)
        })
        .await
    }

    /// Whether it was started, and its end was not observed.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.child.is_some()
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        let ended = self.exited().is_some();
        if ended {
            self.child = None;
        }
        ended
    }

    fn exited(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().expect("the daemon's process can be waited for")
    }

    /// Waits until the daemon has ended by itself.
    ///
    /// # Panics
    /// It does not, or does not run.
    pub async fn ended(&mut self) -> ExitStatus {
        assert!(self.child.is_some(), "no daemon runs");
        let status = wait::wait_for("the daemon to end", async || self.exited()).await;
        self.child = None;
        status
    }

    /// Sends SIGKILL, as the OOM killer does; a crash or power cut looks the same.
    ///
    /// # Panics
    /// It does not run.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("no daemon runs");
        child.kill().expect("the daemon can be killed");
        child.wait().expect("the daemon can be waited for");
    }

    /// [`Self::kill`] and [`Self::up`].
    pub async fn crash_and_restart(&mut self) {
        self.kill();
        self.up().await;
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Panics
    /// It does not end.
    pub async fn stop(&mut self) -> ExitStatus {
        self.tell_to_end();
        self.ended().await
    }

    /// Sends SIGTERM.
    ///
    /// # Panics
    /// It does not run.
    pub fn tell_to_end(&self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, Signal::TERM).expect("the daemon can be told to end");
    }

    /// # Panics
    /// It does not run.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("no daemon runs").id()
    }

    /// A connection, in bincode.
    ///
    /// # Panics
    /// There is none to be had.
    pub async fn client(&self) -> Client {
        Client::connect(&self.home(), options()).await.expect("the daemon takes connections")
    }

    /// A connection, or `None`.
    pub async fn try_client(&self) -> Option<Client> {
        Client::connect(&self.home(), options()).await.ok()
    }

    /// A connection in JSON.
    ///
    /// # Panics
    /// There is none to be had.
    pub async fn json_client(&self) -> Client {
        Client::connect(&self.home(), options().json()).await.expect("the daemon takes connections")
    }

    /// The daemon's socket.
    ///
    /// # Panics
    /// The path is too long.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.home().socket().expect("the test's folder has a short path")
    }

    /// The real `abide` against this home.
    #[must_use]
    pub fn cli(&self) -> Cli {
        Cli::new(self.variables(), self.workspace())
    }

    /// The environment of daemon, CLI and tools: no keys, no session bus, of the machine's variables only
    /// PATH.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, String> {
        let path = |p: PathBuf| p.display().to_string();
        let mut variables = BTreeMap::from([
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned())),
            ("HOME".to_owned(), path(self.user_home())),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            // As in a terminal: the login shell of whoever runs the tests is not asked.
            ("TERM".to_owned(), "dumb".to_owned()),
            ("ABIDE_HOME".to_owned(), path(self.abide_home())),
            ("ABIDE_DAEMON".to_owned(), path(self.program.clone())),
        ]);
        // For debugging a failed test.
        variables.extend(std::env::var("ABIDE_LOG").ok().map(|filter| ("ABIDE_LOG".to_owned(), filter)));
        variables.extend(self.environment.clone());
        variables
    }

    /// Other processes of this test than the daemon, mostly tools.
    #[must_use]
    pub fn offspring(&self) -> Vec<Found> {
        let daemon = self.child.as_ref().map(Child::id);
        process::belonging_to(self.root.path()).into_iter().filter(|p| Some(p.pid) != daemon).collect()
    }

    /// Whether the output that the daemon keeps of running commands, for the case of its death, contains
    /// this. It is kept after it is shown.
    #[must_use]
    pub fn has_kept(&self, text: &str) -> bool {
        let entries = fs::read_dir(self.home().spool_dir()).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).any(|kept| kept.contains(text))
    }

    /// The daemon's stdout and stderr, of all its runs.
    #[must_use]
    pub fn output(&self) -> String {
        fs::read(self.output_file()).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }

    fn output_file(&self) -> PathBuf {
        self.root.path().join("daemon.out")
    }

    /// The folder that everything of this test lies under.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }
}

/// The program under test.
#[must_use]
pub fn program() -> PathBuf {
    process::built("abided")
}

fn options() -> Options {
    let usual = Options::new("abide-tests", env!("CARGO_PKG_VERSION"));
    Options { connect_timeout: wait::limit(), call_timeout: wait::limit(), ..usual }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
        let root = self.root.path();
        let is_clean = process::wait_blocking(SURVIVORS_GONE, || process::belonging_to(root).is_empty());
        let survivors = if is_clean { Vec::new() } else { process::belonging_to(root) };
        for survivor in &survivors {
            survivor.kill();
        }
        if thread::panicking() {
            let output = self.output();
            let from = output.ceil_char_boundary(output.len().saturating_sub(SHOWN_LOG));
            eprintln!("--- the daemon's output ---\n{}", &output[from..]);
        }
        if !survivors.is_empty() {
            let words = format!("processes outlived the daemon: {survivors:?}");
            assert!(thread::panicking(), "{words}");
            eprintln!("{words}");
        }
    }
}

#[cfg(test)]
mod tests;
