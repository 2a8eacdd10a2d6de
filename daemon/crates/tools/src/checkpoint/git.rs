//! Runs git under a helper. Only this module makes git's command line, environment and descriptors.
//!
//! A repository can configure filters, hooks and other programs, which would run with the daemon's rights. So
//! git runs with a git directory of ours, whose configuration and attributes are ours; the repository's
//! configuration is not read. The sandbox lets git write to our directory alone. Where git has to work on a
//! person's git directory ([`crate::worktree`]), the settings that name programs are overridden one by one.

use super::error::NoCheckpoint;
use crate::{
    command::{ForkServer, Live},
    helper::{CommandEnd, Fittings, Order, Report, STOP},
    sandbox::Plan,
    text::one_line,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    process::{Pid, setpriority_process},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader, PipeReader, Read, Seek as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// The time after which a git command is ended.
const LIMIT: Duration = Duration::from_secs(120);

/// How long a helper has to take its order, or to report after the command has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// Git's nice value, so that other programs go first; setpriority(2).
const NICE: i32 = 10;

/// How often a silent command is checked for its end.
const LOOK: Duration = Duration::from_millis(20);

/// The most output that is kept in memory, in bytes.
const MAX_OUTPUT: u64 = 256 << 20;

/// Options of every git command. They override the configuration of the repository and of the user.
const OFF: &[&str] = &[
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.quotePath=true",
    "-c",
    "credential.helper=",
    "-c",
    "protocol.allow=never",
    "--no-pager",
];

/// The git directory of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GitDir<'a> {
    /// A git directory of ours, in this folder.
    Ours { folder: &'a str, work_tree: &'a str, index: &'a str },
    /// A person's git directory, with these settings in place of the person's.
    Set { folder: &'a str, work_tree: &'a str, settings: &'a [(String, String)] },
}

/// A git that can be run.
pub(crate) struct Git<'a> {
    pub(crate) helpers: &'a ForkServer,
    pub(crate) live: &'a Live,
    /// An absolute path.
    pub(crate) program: String,
    /// The task's environment.
    pub(crate) environment: &'a BTreeMap<String, String>,
    /// The working directory, open.
    pub(crate) directory: OwnedFd,
    pub(crate) cancel: CancellationToken,
    /// The working directory's path, without links.
    pub(crate) directory_path: String,
    pub(crate) plan: Plan,
}

/// A git command that runs.
pub(crate) struct Running {
    what: String,
    stdout: PipeReader,
    stderr: File,
    reports: BufReader<std::os::unix::net::UnixStream>,
    deadline: Instant,
    cancel: CancellationToken,
    _live: crate::command::LiveGuard,
}

/// The output of a command that has ended.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    /// One line of the command's stderr.
    pub(crate) words: String,
}

impl Git<'_> {
    /// Runs a command that must succeed. Returns its output.
    pub(crate) fn run(
        &self,
        dir: GitDir<'_>,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>, NoCheckpoint> {
        self.start(dir, arguments, input)?.succeed()
    }

    /// Starts a command with this stdin. Blocking.
    pub(crate) fn start(
        &self,
        dir: GitDir<'_>,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Running, NoCheckpoint> {
        let what = arguments.first().copied().unwrap_or_default().to_owned();
        self.order(dir, arguments, input, what.clone())
            .map_err(|source| NoCheckpoint::NotStarted { what, source })
    }

    fn order(&self, dir: GitDir<'_>, arguments: &[&str], input: &[u8], what: String) -> io::Result<Running> {
        let command =
            [&*self.program].iter().chain(OFF).chain(arguments).map(|word| (*word).to_owned()).collect();
        let order =
            Order { directory: self.directory_path.clone(), command, environment: self.environment(dir) };
        let message = order.message()?;
        let (stdout, out) = io::pipe()?;
        let stderr = File::from(memfd_create("abide-git-stderr", MemfdFlags::CLOEXEC)?);
        let fittings = Fittings {
            directory: self.directory.try_clone()?,
            stdin: Some(readable(input)?),
            stdout: out.into(),
            stderr: stderr.as_fd().try_clone_to_owned()?,
        };
        let helper = self.helpers.helper(&self.plan).or_else(|_| self.helpers.helper(&self.plan))?;
        let live = self.live.enter(helper.pid.unsigned_abs());
        // The next request to a model is made at the same time, and must get a processor first.
        let _ = setpriority_process(Pid::from_raw(helper.pid), NICE);
        let mut connection = helper.connection;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let sent = fittings.send(connection.as_fd(), &message)?;
        connection.write_all(message.get(sent..).unwrap_or_default())?;
        let reports = BufReader::new(connection);
        let (deadline, cancel) = (Instant::now() + LIMIT, self.cancel.clone());
        Ok(Running { what, stdout, stderr, reports, deadline, cancel, _live: live })
    }

    fn environment(&self, dir: GitDir<'_>) -> BTreeMap<String, String> {
        let kept = ["HOME", "PATH", "XDG_CONFIG_HOME"];
        let mut all: BTreeMap<String, String> = self
            .environment
            .iter()
            .filter(|(name, _)| kept.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let mut set = |name: &str, value: &str| drop(all.insert(name.to_owned(), value.to_owned()));
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_PAGER", "cat"),
            ("GIT_AUTHOR_NAME", "Abide"),
            ("GIT_AUTHOR_EMAIL", "abide@localhost"),
            ("GIT_COMMITTER_NAME", "Abide"),
            ("GIT_COMMITTER_EMAIL", "abide@localhost"),
        ] {
            set(name, value);
        }
        match dir {
            GitDir::Ours { folder, work_tree, index } => {
                set("GIT_DIR", folder);
                set("GIT_WORK_TREE", work_tree);
                set("GIT_INDEX_FILE", index);
            }
            GitDir::Set { folder, work_tree, settings } => {
                set("GIT_DIR", folder);
                set("GIT_WORK_TREE", work_tree);
                // A name may have any characters, which `-c` does not allow.
                set("GIT_CONFIG_COUNT", &settings.len().to_string());
                for (at, (name, value)) in settings.iter().enumerate() {
                    set(&format!("GIT_CONFIG_KEY_{at}"), name);
                    set(&format!("GIT_CONFIG_VALUE_{at}"), value);
                }
            }
        }
        all
    }
}

impl Running {
    /// Waits for the end of a command that must succeed. Returns its output.
    pub(crate) fn succeed(self) -> Result<Vec<u8>, NoCheckpoint> {
        let what = self.what.clone();
        let done = self.finish()?;
        match done.code {
            0 => Ok(done.stdout),
            _ => Err(NoCheckpoint::Failed { what, words: done.words }),
        }
    }

    /// Waits for the command's end.
    pub(crate) fn finish(self) -> Result<Done, NoCheckpoint> {
        let read = |stdout: &mut dyn Read| {
            let mut output = Vec::new();
            stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output)?;
            if output.len() as u64 > MAX_OUTPUT {
                return Err(io::Error::other("it prints too much"));
            }
            Ok(output)
        };
        let (stdout, code, words) = self.read(read)?;
        Ok(Done { code, stdout, words })
    }

    /// Reads the command's output with `read`, then waits for the end. Returns what was read, the exit code,
    /// and a line of stderr.
    pub(crate) fn read<T>(
        mut self,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<(T, i32, String), NoCheckpoint> {
        let what = self.what.clone();
        let ended = || {
            let (deadline, cancel) = (self.deadline, &self.cancel);
            let read = read(&mut Timed { pipe: &mut self.stdout, deadline, cancel })?;
            let mut line = String::new();
            self.reports.read_line(&mut line)?;
            let report: Report = serde_json::from_str(&line)?;
            Ok((read, report.ending))
        };
        let ended = ended();
        if ended.is_err() {
            let _ = self.reports.get_mut().write_all(&[STOP]);
        }
        let (read, ending) = ended.map_err(|source| NoCheckpoint::Ended { what: what.clone(), source })?;
        let mut words = String::new();
        let _ = self.stderr.rewind();
        let _ = self.stderr.take(8 << 10).read_to_string(&mut words);
        let words = words.lines().find(|line| !line.starts_with("warning:")).unwrap_or_default();
        let words = one_line(words, 300);
        match ending {
            CommandEnd::Exited(code) => Ok((read, code, words)),
            CommandEnd::Killed(signal) => {
                Err(NoCheckpoint::Failed { what, words: format!("it was ended by signal {signal}") })
            }
            CommandEnd::NotStarted(words) => Err(NoCheckpoint::Failed { what, words }),
        }
    }
}

/// A file without a name that holds these bytes.
fn readable(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file =
        File::from(memfd_create("abide-git-stdin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK)?;
    Ok(file.into())
}

/// A pipe that is read until a deadline or a cancellation.
struct Timed<'a> {
    pipe: &'a mut PipeReader,
    deadline: Instant,
    cancel: &'a CancellationToken,
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let look = Timespec::try_from(LOOK).map_err(io::Error::other)?;
        loop {
            if poll(&mut [PollFd::new(self.pipe, PollFlags::IN)], Some(&look))? > 0 {
                return self.pipe.read(into);
            }
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("it was cancelled"));
            }
            if Instant::now() >= self.deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}
