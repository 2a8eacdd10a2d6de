//! The floor of a step: a simple loop that does the least work that any agent must do.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

/// What a step of the floor does besides a model call and one durable write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Runs `true` in the shell that the daemon uses.
    Shell,
    Nothing,
}

/// The loop. It sends requests to the same model server, over one connection.
pub(crate) struct Loop {
    connection: TcpStream,
    log: File,
    work: Work,
    number: usize,
    reply: Vec<u8>,
    /// The environment that the daemon gives to commands. It must be the same, because a shell that loads a
    /// locale takes twice as long.
    environment: BTreeMap<String, String>,
}

impl Loop {
    /// A loop with its log in this folder.
    pub(crate) fn new(url: &str, folder: &Path, work: Work, environment: BTreeMap<String, String>) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/v1");
        let connection = TcpStream::connect(address).expect("the model listens");
        connection.set_nodelay(true).expect("a socket");
        let log = File::create(folder.join("floor.log")).expect("the floor's log");
        Self { connection, log, work, number: 0, reply: vec![0; 64 * 1024], environment }
    }

    /// Runs a number of steps, and a last request. Each request has a body of `bytes`.
    pub(crate) fn steps(&mut self, steps: usize, bytes: usize) {
        self.ask(bytes);
        for _ in 0..steps {
            if self.work == Work::Shell {
                shell(self.number, &self.environment);
            }
            self.log.write_all(&[b'x'; 512]).expect("the floor's log");
            self.log.sync_data().expect("the floor's log");
            self.number += 1;
            self.ask(bytes);
        }
    }

    fn ask(&mut self, bytes: usize) {
        let mut request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: floor\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n[k:floor]"
        )
        .into_bytes();
        request.resize(request.len() + bytes.saturating_sub("[k:floor]".len()), b' ');
        self.connection.write_all(&request).expect("the model listens");
        let mut got = 0;
        while !self.reply[..got].ends_with(b"data: [DONE]\n\n") {
            let read = self.connection.read(&mut self.reply[got..]).expect("the model answers");
            assert!(read > 0, "the model closed the connection");
            got += read;
        }
    }
}

fn shell(number: usize, environment: &BTreeMap<String, String>) {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    #[expect(clippy::disallowed_methods, reason = "the floor of starting a process")]
    let output = std::process::Command::new(shell)
        .args(["-c", &format!("true {number}")])
        .env_clear()
        .envs(environment.iter())
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    assert!(output.status.success());
}

/// How long it takes to start a process and wait for its end.
pub(crate) fn process(program: &Path, arguments: &[&str]) -> Duration {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the floor of starting a process")]
    let output = std::process::Command::new(program).args(arguments).output().expect("a program");
    assert!(output.status.success());
    began.elapsed()
}
