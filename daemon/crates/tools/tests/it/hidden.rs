//! What a confined command does not see of the files of the user.

use crate::{
    ground::{Ground, PATIENCE, data, home_of_its_own},
    sandbox::{all_refused, git, run},
};
use rustix::{
    mount::{UnmountFlags, mount_bind, unmount},
    process::geteuid,
};
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

const LANDLOCK: &[&str] = &["without-namespaces"];

/// A user who is not the one of the tests.
const OTHER: u32 = 4321;

/// Writes a file, and the folders above it.
fn put(home: &Path, names: &[&str], content: &str) {
    for name in names {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// What a command can read of these files.
async fn read(ground: &Ground, home: &Path, names: &[&str]) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        let (_, output) = run(ground, &format!("cat '{}'", home.join(name).display())).await;
        if output.starts_with("content") {
            seen.push((*name).to_owned());
        }
    }
    seen
}

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

/// Files that hold keys, passwords or a history, and those of programs that nobody has listed.
const SECRET: &[&str] = &[
    ".pgpass",
    ".vault-token",
    ".bash_history",
    ".bashrc",
    ".codex/auth.json",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".cargo/credentials.toml",
    ".cache/huggingface/token",
    ".config/rclone/rclone.conf",
    ".config/git/credentials",
    ".config/BraveSoftware/Brave-Browser/Default/Cookies",
    ".local/share/keyrings/login.keyring",
    ".local/share/an-unknown-program/token",
    ".local/state/an-unknown-program/log",
    ".an-unknown-program/token",
    ".an-unknown-file",
    "snap/firefox/common/cookies.sqlite",
];

/// What tools need.
const NEEDED: &[&str] = &[
    "notes",
    ".gitconfig",
    ".gitconfig-work",
    ".config/git/ignore",
    ".cargo/bin/a-tool",
    ".cargo/registry/crate",
    ".rustup/settings.toml",
    ".nvm/versions/node",
    ".pyenv/shims/python",
    ".m2/repository/a.jar",
    ".gradle/caches/a.jar",
    ".npm/_cacache/x",
    ".cache/pip/x",
    ".cache/huggingface/hub/model",
    ".local/bin/a-tool",
    ".local/lib/python3/site.py",
    ".local/share/uv/tools/x",
];

#[tokio::test(flavor = "multi_thread")]
async fn of_the_dot_files_of_a_home_only_what_tools_need_is_seen() {
    let home = home_of_its_own();
    for without in [&[], LANDLOCK] {
        let mut ground = Ground::at_home(home.path(), without);
        put(home.path(), SECRET, "content");
        put(home.path(), NEEDED, "content");
        assert_eq!(read(&ground, home.path(), SECRET).await, Vec::<String>::new());
        assert_eq!(read(&ground, home.path(), NEEDED).await, NEEDED);
        // What a person names is seen, but not the secrets in it.
        let named = ["an-unknown-program/token", "rclone/rclone.conf"].map(|name| format!(".config/{name}"));
        put(home.path(), &[&named[0]], "content");
        let both: Vec<&str> = named.iter().map(String::as_str).collect();
        assert_eq!(read(&ground, home.path(), &both).await, Vec::<String>::new());
        // Landlock cannot except anything from a folder that may be written.
        let folders = [(".config/rclone", &both[1..]), (".config", &both[..1])];
        for (folder, seen) in folders.into_iter().take(2 - without.len()) {
            ground.sandbox.writable = vec![home.path().join(folder)];
            assert_eq!(read(&ground, home.path(), &both).await, seen, "{folder}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_in_a_dot_folder_is_seen_and_the_rest_of_that_folder_is_not() {
    let home = home_of_its_own();
    put(home.path(), &[".config/program/token", ".an-unknown-program/token"], "content");
    for without in [&[], LANDLOCK] {
        for folder in [".config", ".an-unknown-program"] {
            let ground = Ground::beneath_home(home.path(), folder, without);
            git(&ground.path(""), &["init", "-q"]);
            assert_eq!(run(&ground, "echo content > file && git add file && cat file").await.1, "content\n");
            let beside = [".config/program/token", ".an-unknown-program/token"];
            assert_eq!(read(&ground, home.path(), &beside).await, Vec::<String>::new());
            let place = abide_tools::Place {
                workspace: ground.workspace(),
                environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
                cancel: tokio_util::sync::CancellationToken::new(),
            };
            assert!(ground.tools.checkpoints().can(&place).is_ok(), "{folder}");
        }
    }
}

/// Dot files are often links into a repository of them.
#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_git_are_found_through_a_link() {
    let home = home_of_its_own();
    put(home.path(), &[".dotfiles/gitconfig"], "[user]\n\tname = its me\n");
    put(home.path(), &[".dotfiles/git/config"], "[user]\n\temail = me@localhost\n");
    put(home.path(), &[".config/program/token"], "content");
    symlink(".dotfiles/gitconfig", home.path().join(".gitconfig")).unwrap();
    symlink("../.dotfiles/git", home.path().join(".config/git")).unwrap();
    for without in [&[], LANDLOCK] {
        let ground = Ground::at_home(home.path(), without);
        git(&ground.path(""), &["init", "-q"]);
        let at = home.path().display();
        let commit = format!(
            "export HOME={at}; echo x > file && git add . && git commit -qm first && git log --format='%an %ae'"
        );
        assert_eq!(run(&ground, &commit).await, (Some(0), "its me me@localhost\n".to_owned()));
        assert_eq!(read(&ground, home.path(), &[".config/program/token"]).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_hidden_at_each_place_where_it_is_mounted() {
    // Nobody else may mount.
    if !geteuid().is_root() {
        return;
    }
    let home = home_of_its_own();
    let places = ["whole", "part", "keys"].map(|name| home.path().join(name));
    let secrets = [".ssh/id", ".an-unknown-program/token", "abide/abide.db"];
    put(home.path(), &secrets, "content");
    put(home.path(), &["project/notes"], "content");
    let sources = [home.path().to_owned(), home.path().join(".ssh"), home.path().join("abide/abide.db")];
    fs::create_dir(&places[0]).unwrap();
    fs::create_dir(&places[1]).unwrap();
    fs::write(&places[2], "").unwrap();
    for (source, place) in sources.iter().zip(&places) {
        mount_bind(source, place).unwrap();
    }
    let mut seen = Vec::new();
    for without in [&[], LANDLOCK] {
        let ground = Ground::at_home(home.path(), without);
        let names =
            ["whole/.ssh/id", "whole/.an-unknown-program/token", "whole/abide/abide.db", "part/id", "keys"];
        seen.extend(read(&ground, home.path(), &names).await);
        seen.extend(read(&ground, home.path(), &["whole/project/notes"]).await);
    }
    for place in &places {
        unmount(place, UnmountFlags::DETACH).unwrap();
    }
    assert_eq!(seen, ["whole/project/notes"; 2]);
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

/// The helpers that wait for the next command do not know of it. (The table of sockets is not read again at
/// once.)
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

/// The file tools obey the rule anyway.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_denies_to_read_cannot_be_opened_by_a_command() {
    let mut ground = Ground::new();
    fs::create_dir_all(ground.path("a/b")).unwrap();
    for name in [".env", "a/b/.env", "a/key", "open"] {
        fs::write(ground.path(name), "secret\n").unwrap();
    }
    ground.sandbox.unreadable = vec!["read(**/.env)".to_owned(), "read(a/key)".to_owned()];
    for command in [
        "cat .env",
        "cat a/b/.env",
        "cat < a/key",
        "cp a/key copy && cat copy",
        "ln a/key link && cat link",
        "ln -s a/key link && cat link",
        "mv a c; cat c/key",
        "chmod 644 .env && cat .env",
        "rm -f .env && cat .env",
        "python3 -c \"print(open('.env').read())\"",
    ] {
        let finished = ground.call("shell", json!({ "command": command })).await;
        let text = finished.result.text();
        assert!(!finished.result.ok && !text.contains("secret"), "{command}: {text}");
    }
    let finished =
        ground.call("shell", json!({ "command": "cat open; mkdir -p d && echo new > d/.env" })).await;
    assert_eq!(data(&finished)["stdout"], "secret\n");
    // One that a command has made is closed to the next.
    assert!(!ground.call("shell", json!({ "command": "cat d/.env" })).await.result.ok);
    for name in [".env", "a/b/.env", "a/key"] {
        assert_eq!(ground.text(name), "secret\n", "{name}");
    }
}
