//! Starting a daemon: scripts stand in for one that fails, the test itself for one that works.

use crate::peer::{Peer, options};
use abide_client::{
    ConnectError,
    autostart::{self, Start, StartError},
    protocol::codec::Codec,
};
use abide_host::{Home, home};
use interprocess::local_socket::{
    GenericFilePath, ListenerOptions,
    tokio::{Listener, prelude::*},
};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::sync::{Mutex, MutexGuard};

/// The interval at which a file is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Much longer than a script takes.
const PATIENCE: Duration = Duration::from_secs(60);

struct ShortHome {
    dir: tempfile::TempDir,
    home: Home,
    _alone: MutexGuard<'static, ()>,
}

/// The end of a script that runs until the test's folder, in which it lies, is removed.
const RUNS_ON: &str = "while [ -e \"$0\" ]; do sleep 0.05; done";

/// Tests run one at a time: a process that one test forks would inherit another's open script, and an open
/// script cannot be executed.
static ALONE: Mutex<()> = Mutex::const_new(());

impl ShortHome {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        Self { dir, home, _alone: ALONE.lock().await }
    }

    fn script(&self, body: &str) -> Start {
        let program = self.dir.path().join("abided");
        fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        Start { program: Some(program), deadline: PATIENCE }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn listen(&self) -> Listener {
        let socket = self.home.socket().unwrap();
        let name = socket.as_path().to_fs_name::<GenericFilePath>().unwrap();
        ListenerOptions::new().name(name).create_tokio().unwrap()
    }

    async fn start(&self, start: &Start) -> Result<(), ConnectError> {
        autostart::start(&self.home, options(Codec::Binary), start).await
    }
}

/// Waits for this file and returns its text: the script writes it by renaming, so it is whole.
async fn appears(path: &Path) -> String {
    let look = async {
        loop {
            match fs::read_to_string(path) {
                Ok(text) => return text,
                Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap()
}

/// Waits until the file is gone.
async fn vanishes(path: &Path) {
    let look = async {
        while path.exists() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap();
}

#[tokio::test]
async fn a_daemon_that_ends_while_starting_is_reported_with_its_last_lines() {
    let place = ShortHome::new().await;
    place.start(&place.script("echo an older start >&2; exit 1")).await.unwrap_err();
    let error =
        place.start(&place.script("echo \"the database is \u{1b}[31mgone\" >&2; exit 3")).await.unwrap_err();
    let ConnectError::Start(StartError::Exited { status, log, last_lines }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(status.code(), Some(3));
    assert_eq!(last_lines, r"the database is \x1b[31mgone");
    assert!(log.starts_with(&place.home.state_dir));
    assert_eq!(fs::metadata(log).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!error.to_string().contains('\u{1b}'));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    let place = ShortHome::new().await;
    let start = Start { program: Some(place.path("nothing")), ..Start::default() };
    let error = place.start(&start).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Start(StartError::Spawn { .. })), "{error:?}");
    assert!(error.to_string().contains("nothing"));
}

#[tokio::test]
async fn a_daemon_that_never_answers_is_given_up() {
    let place = ShortHome::new().await;
    let start = Start { deadline: Duration::from_millis(300), ..place.script(RUNS_ON) };
    let error = place.start(&start).await.unwrap_err();
    assert!(matches!(error, ConnectError::Start(StartError::Deadline { .. })), "{error:?}");
}

/// The script writes down its session and environment; the test answers on the socket in its place.
#[tokio::test]
async fn the_daemon_starts_in_a_session_of_its_own_and_in_this_home() {
    let place = ShortHome::new().await;
    let told = place.path("told");
    let script = format!(
        "set -- $(cat /proc/self/stat); echo \"$ABIDE_HOME $(pwd) $$ $6\" > {0}.new; mv {0}.new {0}; {RUNS_ON}",
        told.display()
    );
    let start = place.script(&script);
    let daemon = async {
        let text = appears(&told).await;
        let listener = place.listen();
        let peer = Peer::accept(listener.accept().await.unwrap()).await;
        (text, peer)
    };
    let (started, (text, _peer)) = tokio::join!(place.start(&start), daemon);
    started.unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[..2], [place.dir.path().to_str().unwrap(), "/"]);
    assert_eq!(words[2], words[3], "it leads its session: {text}");
}

#[tokio::test]
async fn a_running_daemon_is_not_started_again() {
    let place = ShortHome::new().await;
    place.home.create().unwrap();
    let listener = place.listen();
    let witness = place.path("witness");
    let start = place.script(&format!("touch {}", witness.display()));
    let daemon = async { Peer::accept(listener.accept().await.unwrap()).await };
    let (started, _peer) = tokio::join!(place.start(&start), daemon);
    started.unwrap();
    assert!(!witness.exists());
}

/// Another client starts a daemon at the same time: this one's daemon finds the lock taken and ends, and the
/// other's answers.
#[tokio::test]
async fn the_client_whose_daemon_loses_the_lock_uses_the_other_one() {
    let place = ShortHome::new().await;
    let (told, go) = (place.path("told"), place.path("go"));
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; until [ -e {1} ] || [ ! -e {0} ]; do sleep 0.01; done; exit 1",
        told.display(),
        go.display()
    );
    let start = place.script(&script);
    let winner = async {
        let loser = appears(&told).await;
        let lock = fs::File::create(place.home.lock_file()).unwrap();
        lock.lock().unwrap();
        assert!(home::is_held(&place.home));
        fs::write(&go, "").unwrap();
        vanishes(&Path::new("/proc").join(loser.trim())).await;
        let listener = place.listen();
        Ok((Peer::accept(listener.accept().await.unwrap()).await, lock))
    };
    tokio::try_join!(place.start(&start), winner).unwrap();
    assert!(!home::is_held(&Home::at(place.path("other"))), "where there is no lock file, nobody holds it");
}
