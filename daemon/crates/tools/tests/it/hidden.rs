//! What a confined command does not see of the files of the user.

use crate::{
    ground::{Ground, PATIENCE, home_of_its_own},
    sandbox::{all_refused, run},
};
use rustix::process::geteuid;
use serde_json::json;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::{
        fs::{PermissionsExt as _, chown, symlink},
        net::UnixListener,
    },
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

/// A user who is not the one of the tests.
const OTHER: u32 = 4321;

#[tokio::test(flavor = "multi_thread")]
async fn another_user_cannot_keep_the_sandbox_from_being_made() {
    // Nobody else may make a folder of another user.
    if !geteuid().is_root() {
        return;
    }
    let home = home_of_its_own();
    let ground = Ground::at_home(home.path(), &[]);
    let private = home.path().join("private");
    fs::create_dir(&private).unwrap();
    let _listener = UnixListener::bind(private.join("socket")).unwrap();
    chown(&private, Some(OTHER), Some(OTHER)).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(run(&ground, "echo well").await, (Some(0), "well\n".to_owned()));
}

/// Between the plan and the helper.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_takes_the_place_of_what_is_hidden_the_sandbox_is_made() {
    let home = home_of_its_own();
    let mut ground = Ground::at_home(home.path(), &[]);
    let (is_over, path) = (AtomicBool::new(false), home.path().join("busy"));
    ground.sandbox.hidden = vec![path.clone()];
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::write(&path, "").unwrap();
                fs::remove_file(&path).unwrap();
                fs::create_dir(&path).unwrap();
                fs::remove_dir(&path).unwrap();
                symlink("notes", &path).unwrap();
                fs::remove_file(&path).unwrap();
            }
        });
        let mut failed = Vec::new();
        let runs = async {
            for _ in 0..100 {
                let result = ground.call("shell", json!({ "command": "echo x" })).await.result;
                failed.extend((!result.ok).then_some(result));
            }
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(runs));
        is_over.store(true, Ordering::Relaxed);
        assert!(failed.is_empty(), "{failed:?}");
    });
}

/// Another program, which listens on a socket in this folder until it is dropped.
struct Listener(Child);

impl Listener {
    #[expect(clippy::disallowed_methods, reason = "a program of the person")]
    fn at(folder: &Path, name: &str) -> Self {
        let code = format!(
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('{name}'); s.listen(); print(flush=True); sys.stdin.read()"
        );
        let mut program = Command::new("python3")
            .args(["-c", &code])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        BufReader::new(program.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        Self(program)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

fn connect(path: &Path) -> String {
    let path = path.display();
    format!("python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{path}')\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_is_found_by_a_relative_name_too() {
    let home = home_of_its_own();
    let folder = home.path().join("folder");
    fs::create_dir_all(folder.join("sub")).unwrap();
    let ground = Ground::at_home(home.path(), &[]);
    let _listener = Listener::at(&folder, "sub/relative.sock");
    all_refused(&ground, &[&connect(&folder.join("sub/relative.sock"))]).await;
}

/// The helpers that wait for the next command do not know of it. (The table of sockets is not read again at once.)
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_made_since_the_last_command_is_soon_found() {
    let home = home_of_its_own();
    let ground = Ground::at_home(home.path(), &[]);
    assert_eq!(run(&ground, "true").await.0, Some(0));
    let path = home.path().join("new.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let begun = Instant::now();
    while run(&ground, &connect(&path)).await.0 == Some(0) {
        assert!(begun.elapsed() < PATIENCE, "it can be reached");
    }
}
