use super::TestDaemon;
use crate::{process, wait};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

/// A program that stands in the place of the daemon's.
pub enum Program {
    /// The real daemon, with so many bytes more than the one that was built: another build of the same
    /// version.
    Build(usize),
    /// A shell script.
    Script(&'static str),
    /// A script with its first line, which names the program that reads it.
    Text(String),
}

impl TestDaemon {
    /// Gives this daemon a program of its own, which [`Self::install`] replaces.
    ///
    /// # Panics
    /// It cannot be copied.
    pub fn with_own_program(&mut self) {
        self.program = self.root.path().join("bin").join("abided");
        fs::create_dir_all(self.root.path().join("bin")).expect("a folder for the program");
        self.install(&Program::Build(0));
    }

    /// Replaces the program on disk, as a package manager does.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn install(&self, program: &Program) {
        self.install_with_mode(program, 0o755);
    }

    /// The same, with other permissions than a program has.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn install_with_mode(&self, program: &Program, mode: u32) {
        let (content, zeros) = match program {
            // What follows the last section of a program is not loaded.
            Program::Build(more) => {
                let built = File::open(process::built("abided")).expect("the daemon was built");
                (Stdio::from(built), *more)
            }
            Program::Script(script) => (process::input(&format!("#!/bin/sh\n{script}\n")), 0),
            Program::Text(text) => (process::input(text), 0),
        };
        let new = self.program.with_extension("new");
        process::write_program(&new, content, zeros, mode);
        fs::rename(&new, &self.program).expect("it can be put in place");
    }

    /// The path of this daemon's program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Has systemd listen at the daemon's socket and start it at the first connection. The listener becomes
    /// the daemon.
    ///
    /// # Panics
    /// It runs already, or cannot be started.
    pub fn launch_by_socket(&mut self) {
        self.launch_by_sockets(&[]);
    }

    /// The same with further sockets, which a daemon does not know what to do with.
    ///
    /// # Panics
    /// It runs already, or cannot be started.
    pub fn launch_by_sockets(&mut self, more: &[PathBuf]) {
        assert!(self.child.is_none(), "the daemon runs already");
        let socket = self.socket();
        // A daemon that runs without systemd has its own socket there.
        drop(fs::remove_file(&socket));
        fs::create_dir_all(self.home().run_dir).expect("the socket's folder");
        let log =
            File::options().create(true).append(true).open(self.output_file()).expect("the output's file");
        let sockets: Vec<PathBuf> = [socket].into_iter().chain(more.iter().cloned()).collect();
        let mut command = process::blocking_program("systemd-socket-activate");
        for socket in &sockets {
            command.arg("--listen").arg(socket);
        }
        for (name, value) in self.variables() {
            command.arg(format!("--setenv={name}={value}"));
        }
        command.arg(&self.program).arg("--foreground").stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a second handle of the output's file")).stderr(log);
        self.child = Some(command.spawn().expect("systemd-socket-activate can be started"));
        // A client that finds no listener would start a daemon of its own.
        let is_listening =
            process::wait_blocking(wait::limit(), || sockets.iter().all(|socket| is_listened_at(socket)));
        assert!(is_listening, "systemd-socket-activate does not listen:\n{}", self.output());
    }

    /// Leaves the running daemon to the caller; another may be started.
    ///
    /// # Panics
    /// None runs.
    pub fn forget(&mut self) -> Child {
        self.child.take().expect("no daemon runs")
    }

    /// The file that this daemon's process runs, and whether it is the one that is installed now.
    ///
    /// # Panics
    /// The daemon does not run.
    #[must_use]
    pub fn runs_installed_program(&self) -> bool {
        let of = |path: &Path| fs::metadata(path).ok().map(|found| found.len());
        let running = fs::read_link(format!("/proc/{}/exe", self.pid())).expect("the daemon runs");
        running == self.program
            && of(&PathBuf::from(format!("/proc/{}/exe", self.pid()))) == of(&self.program)
    }
}

/// Whether a process listens at this socket's file. (A connection would show it too, but it would start the
/// daemon.)
fn is_listened_at(socket: &Path) -> bool {
    // proc_net(5), `unix`: after number, references and protocol come the flags; the path is last. A listener
    // has `__SO_ACCEPTCON`.
    const ACCEPTS: &str = "00010000";
    let path = socket.display().to_string();
    let listed = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // A daemon whose file was removed is listed too.
    socket.exists()
        && listed.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields.get(3) == Some(&ACCEPTS) && fields.last() == Some(&path.as_str())
        })
}
