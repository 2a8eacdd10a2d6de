//! What a confined command can and cannot do, at each level.

use crate::ground::{CONVERSATION, Ground, block, data, home_of_its_own, wait_until};
use abide_protocol::{
    JsonText,
    inbox::Rule,
    message::CallOutcome,
    record::{CallAssessed, Permission},
    sandbox::SandboxLevel,
    task::Approvals,
};
use abide_rules::{Book, Effect, Source, Standing};
use abide_tools::{Run, Unasked};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Runs git in a folder, as a person does.
#[expect(clippy::disallowed_methods, reason = "a person's git, which no sandbox confines")]
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A ground whose workspace is a git work tree with a commit.
pub(crate) fn repository() -> Ground {
    commit_in(Ground::new())
}

fn commit_in(ground: Ground) -> Ground {
    git(&ground.path(""), &["init", "-q"]);
    git(&ground.path(""), &["config", "user.name", "me"]);
    git(&ground.path(""), &["config", "user.email", "me@localhost"]);
    fs::write(ground.path("file"), "one\n").unwrap();
    git(&ground.path(""), &["add", "."]);
    git(&ground.path(""), &["commit", "-qm", "first"]);
    ground
}

/// A ground whose workspace is too large for a checkpoint.
fn without_undo() -> Ground {
    let ground = Ground::new();
    fs::File::create(ground.path("large")).unwrap().set_len(201 << 20).unwrap();
    ground
}

/// Runs a command, which must be allowed; its exit code and its output.
pub(crate) async fn run(ground: &Ground, command: &str) -> (Option<i64>, String) {
    let finished = ground.call("shell", json!({ "command": command })).await;
    assert_eq!(finished.outcome, CallOutcome::Done, "{command}: {}", finished.result.message);
    assert!(data(&finished)["exit_code"].is_i64(), "{command}: {}", finished.result.message);
    let data = data(&finished);
    let output =
        format!("{}{}", data["stdout"].as_str().unwrap_or(""), data["stderr"].as_str().unwrap_or(""));
    (data["exit_code"].as_i64(), format!("{output}{}", finished.result.diagnostics.join("\n")))
}

/// Runs commands of which each must fail, or print nothing but what is said.
pub(crate) async fn all_refused(ground: &Ground, commands: &[&str]) {
    for command in commands {
        let (code, output) = run(ground, command).await;
        assert!(code.is_some_and(|code| code != 0), "{command}: {code:?} {output}");
    }
}

/// With a task that was started without `--yes`.
fn asking(mut ground: Ground) -> Ground {
    ground.approvals = Approvals::Ask;
    ground
}

fn shell(ground: &Ground, command: &str) -> CallAssessed {
    ground.assess_one("shell", json!({ "command": command }))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_machine_gets_the_best_level_that_it_allows() {
    for (ground, expected) in [
        (Ground::new(), SandboxLevel::Full),
        (Ground::with_landlock_only(), SandboxLevel::Landlock),
        (Ground::unconfined(), SandboxLevel::None),
    ] {
        let (level, why_not) = ground.tools.sandbox();
        assert_eq!(level, expected, "{why_not:?}");
        assert_eq!(why_not.len(), SandboxLevel::Full as usize - expected as usize);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_writes_to_its_workspace_and_nowhere_else() {
    for ground in [repository(), commit_in(Ground::with_landlock_only())] {
        fs::write(ground.root().join("beside"), "one\n").unwrap();
        let outside = ground.root().join("beside").display().to_string();
        let (code, output) =
            run(&ground, "echo two > new && mkdir -p a/b && mv file a/b/ && cat a/b/file").await;
        assert_eq!((code, output.as_str()), (Some(0), "one\n"));
        for command in [
            format!("echo two > {outside}"),
            format!("rm {outside}"),
            format!("mv {outside} here"),
            format!("ln {outside} here && echo two > here"),
            format!("ln -s {outside} link && echo two > link"),
            format!("truncate -s 0 {outside}"),
            "touch /usr/bin/abide-test /etc/abide-test /root/abide-test /abide-test".to_owned(),
            "echo x > ~/.profile".to_owned(),
        ] {
            let _ = run(&ground, &command).await;
            assert_eq!(fs::read_to_string(&outside).unwrap(), "one\n", "{command}");
        }
        for path in ["/usr/bin/abide-test", "/etc/abide-test", "/root/abide-test", "/abide-test"] {
            assert!(!Path::new(path).exists(), "{path}");
        }
    }
    // Landlock knows no right for this.
    let ground = repository();
    fs::write(ground.root().join("beside"), "").unwrap();
    let chmod = format!("chmod 777 {}", ground.root().join("beside").display());
    // The second changes nothing, in case that it can.
    all_refused(&ground, &[&chmod, "chmod 666 /dev/null", "touch /dev/new", "touch /dev/pts/new"]).await;
    let devices = "echo x > /dev/null && head -c 3 /dev/zero | wc -c && touch /dev/shm/new && ls /dev";
    let names = "fd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n";
    assert_eq!(run(&ground, devices).await, (Some(0), format!("3\n{names}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_what_belongs_to_abide_are_hidden() {
    let home = home_of_its_own();
    for ground in [Ground::at_home(home.path(), &[]), Ground::at_home(home.path(), &["without-namespaces"])] {
        let secrets = [".ssh/id", ".netrc", ".config/gh/hosts.yml", "abide/data/abide.db"];
        for secret in secrets {
            let path = home.path().join(secret);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a secret").unwrap();
        }
        fs::write(home.path().join("notes"), "not secret").unwrap();
        let (_, output) = run(&ground, &format!("cat {}/notes", home.path().display())).await;
        assert_eq!(output, "not secret");
        for secret in secrets {
            let path = home.path().join(secret).display().to_string();
            for command in [
                format!("cat {path}"),
                format!("cp {path} here; cat here"),
                format!("ln {path} hard; cat hard"),
                format!("ln -s {path} soft; cat soft"),
                format!("cat /proc/self/root{path} /proc/1/root{path} /proc/1/cwd{path}"),
                format!("grep -r secret {}", home.path().join(secret).parent().unwrap().display()),
            ] {
                let (_, output) = run(&ground, &command).await;
                assert!(!output.contains("a secret"), "{command}: {output}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_network_but_loopback_of_its_own() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let abstract_name = format!("abide-test-{}", std::process::id());
    let address = <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
        &abstract_name,
    );
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&address.unwrap()).unwrap();
    let _beside =
        |ground: &Ground| std::os::unix::net::UnixListener::bind(ground.root().join("socket")).unwrap();
    for ground in [repository(), commit_in(Ground::with_landlock_only())] {
        let _socket = _beside(&ground);
        let socket = ground.root().join("socket").display().to_string();
        let connect = |family: &str, address: &str| {
            format!(
                "python3 -c \"import socket; s = socket.socket(socket.{family}); s.settimeout(2); s.connect({address})\""
            )
        };
        all_refused(
            &ground,
            &[
                &format!("echo > /dev/tcp/127.0.0.1/{port}"),
                &connect("AF_INET", &format!("('127.0.0.1', {port})")),
                &connect("AF_INET", "('1.1.1.1', 53)"),
                &connect("AF_INET6", "('2606:4700:4700::1111', 53)"),
                &connect("AF_UNIX", &format!("'\\\\0{abstract_name}'")),
                &connect("AF_UNIX", &format!("'{socket}'")),
                "python3 -c 'import socket; socket.socket(socket.AF_VSOCK)'",
                "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
            ],
        )
        .await;
    }
    let own = "python3 -c 'import socket; l = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(l.getsockname())'";
    assert_eq!(run(&repository(), own).await, (Some(0), String::new()));
}

/// A read-only folder does not keep anybody from connecting to a socket in it.
#[tokio::test(flavor = "multi_thread")]
async fn what_other_programs_listen_on_cannot_be_reached() {
    let home = home_of_its_own();
    // The last one's workspace lies in `/tmp`, of which a command sees nothing else.
    for ground in [
        Ground::at_home(home.path(), &[]),
        Ground::at_home(home.path(), &["without-namespaces"]),
        Ground::new(),
    ] {
        let paths = [home.path().join("agent.sock"), ground.path("dev.sock")];
        let listeners: Vec<_> =
            paths.iter().map(|path| std::os::unix::net::UnixListener::bind(path).unwrap()).collect();
        for path in &paths {
            let connect = format!(
                "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}')\"",
                path.display()
            );
            all_refused(&ground, &[&connect]).await;
        }
        drop(listeners);
        paths.iter().for_each(|path| fs::remove_file(path).unwrap());
    }
    // Some come and go all the time.
    let ground = Ground::at_home(home.path(), &[]);
    let (is_over, path) = (AtomicBool::new(false), home.path().join("busy.sock"));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
                fs::remove_file(&path).unwrap();
            }
        });
        let mut codes = Vec::new();
        let runs = async {
            for _ in 0..100 {
                codes.push(ground.call("shell", json!({ "command": "echo x" })).await.result);
            }
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(runs));
        is_over.store(true, Ordering::Relaxed);
        let failed: Vec<_> = codes.iter().filter(|result| !result.ok).collect();
        assert!(failed.is_empty(), "{failed:?}");
    });
    // Its own work.
    let own = "python3 -c \"import socket; l = socket.socket(socket.AF_UNIX); l.bind('own.sock'); l.listen(); socket.socket(socket.AF_UNIX).connect('own.sock')\"";
    assert_eq!(run(&ground, own).await, (Some(0), String::new()));
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "the person's terminal")]
async fn terminals_of_the_user_cannot_be_read() {
    let open = "import os, pty, sys; print(os.ttyname(pty.openpty()[1]), flush=True); sys.stdin.read()";
    let mut terminal = Command::new("python3")
        .args(["-c", open])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut name = String::new();
    BufReader::new(terminal.stdout.take().unwrap()).read_line(&mut name).unwrap();
    for ground in [repository(), commit_in(Ground::with_landlock_only())] {
        all_refused(&ground, &[&format!("exec < {}", name.trim())]).await;
    }
    drop(terminal.stdin.take());
    terminal.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_process_can_be_seen_signalled_or_traced() {
    let ground = repository();
    let me = std::process::id();
    let (_, output) = run(&ground, "ls -d /proc/[0-9]*").await;
    assert!(!output.contains(&format!("/proc/{me}")), "{output}");
    all_refused(
        &ground,
        &[
            &format!("kill -0 {me}"),
            // Its own helper, which is the first process there.
            "kill -9 1; sleep 0.1; readlink /proc/1/fd/0 /proc/1/exe /proc/1/root",
            "cat /proc/1/environ /proc/1/mem",
            "cat /proc/1/maps",
            "python3 -c 'import ctypes; c = ctypes.CDLL(None); exit(0 if c.ptrace(16, 1, 0, 0) == 0 else 1)'",
        ],
    )
    .await;
    // Landlock does not hide processes, but they cannot be looked into or signalled.
    let ground = commit_in(Ground::with_landlock_only());
    all_refused(
        &ground,
        &[
            &format!("kill -0 {me}"),
            &format!("cat /proc/{me}/environ"),
            &format!("readlink /proc/{me}/fd/0"),
            &format!("python3 -c 'import ctypes; c = ctypes.CDLL(None); exit(0 if c.ptrace(16, {me}, 0, 0) == 0 else 1)'"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_cannot_be_taken_off() {
    for ground in [repository(), commit_in(Ground::with_landlock_only())] {
        all_refused(
            &ground,
            &[
                "unshare -U true",
                "unshare -m true",
                "unshare -n true",
                "mount -t tmpfs none /mnt",
                "mount --bind . /mnt",
                "mount -o remount,rw /",
                "umount /tmp || umount -l /run",
                "chroot / true",
                "nsenter -t 1 -m true",
                "mknod device b 8 0",
                "echo 1 > /proc/sys/kernel/panic",
                "echo '|/bin/false' > /proc/sys/kernel/core_pattern",
                "echo b > /proc/sysrq-trigger",
                "echo 100 > /proc/sys/user/max_user_namespaces",
                "echo 0 > /proc/1/oom_score_adj",
                // The loopback device, and what the kernel would remember of a network.
                "python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sH14x\", b\"lo\", 0))'",
                "echo 9 > /proc/sys/net/ipv4/tcp_max_tw_buckets",
                "python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); exit(0 if c.syscall(425, 1, 0) >= 0 else 1)'",
                "python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); exit(0 if c.syscall(321, 0, 0, 0) >= 0 else 1)'",
                "python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); exit(0 if c.syscall(0x40000000 + 39) >= 0 else 1)'",
                // clone3 with CLONE_NEWUSER.
                "python3 -c 'import ctypes, struct; c = ctypes.CDLL(None); a = struct.pack(\"8Q\", 0x10000000, 0, 0, 0, 17, 0, 0, 0); exit(0 if c.syscall(435, a, 64) >= 0 else 1)'",
            ],
        )
        .await;
        let (_, output) =
            run(&ground, "grep -h -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status").await;
        let privileges: Vec<&str> = output.split_whitespace().filter(|word| !word.ends_with(':')).collect();
        let capabilities = privileges.split_last().unwrap();
        assert_eq!(*capabilities.0, "1", "no program gains rights: {output}");
        if ground.tools.sandbox().0 == SandboxLevel::Full {
            assert!(capabilities.1.iter().all(|set| set.chars().all(|c| c == '0')), "{output}");
        }
    }
}

/// What programs outside of the sandbox would run or obey.
const PROTECTED: &[&str] = &[
    ".git/hooks/post-commit",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".envrc",
    ".vscode/tasks.json",
    ".idea/x",
    ".mcp.json",
    ".claude/settings.json",
    ".husky/pre-commit",
    ".abide/x",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_other_programs_run_cannot_be_changed_or_made() {
    let ground = repository();
    fs::create_dir(ground.path(".vscode")).unwrap();
    fs::write(ground.path(".vscode/tasks.json"), "{}").unwrap();
    let config = ground.text(".git/config");
    for path in PROTECTED {
        let folder = Path::new(path).parent().unwrap().display();
        for command in [
            format!("mkdir -p ./{folder}; echo evil > {path}"),
            format!("rm -rf {path}; mkdir -p ./{folder}; echo evil > {path}"),
            format!("mv {path} away; echo evil > {path}"),
            format!("ln -sf /bin/true {path}"),
            format!("rmdir {path}; mkdir {path}; echo evil > {path}/evil"),
            format!("python3 -c \"import os; os.rename('evil', '{path}')\" || cp evil {path}"),
        ] {
            fs::write(ground.path("evil"), "evil\n").unwrap();
            let _ = ground.call("shell", json!({ "command": command })).await;
        }
    }
    // Above them, too.
    for command in [
        "mv .git git && mkdir .git",
        "mv .git/hooks hooks",
        "mv .vscode code",
        "git config core.fsmonitor ./evil",
        "git config --worktree core.fsmonitor ./evil",
    ] {
        let _ = ground.call("shell", json!({ "command": command })).await;
    }
    assert_eq!(ground.text(".git/config"), config);
    assert_eq!(ground.text(".vscode/tasks.json"), "{}");
    for path in PROTECTED.iter().filter(|path| ![".git/config", ".vscode/tasks.json"].contains(path)) {
        assert!(!ground.path(path).exists(), "{path}");
    }
    assert_eq!(git(&ground.path(""), &["log", "--format=%s"]), "first\n", "the repository is whole");
    // Files that the configuration includes, there or not.
    git(&ground.path(""), &["config", "include.path", "../shared.gitconfig"]);
    git(&ground.path(""), &["config", "--add", "include.path", "../deep/er/more"]);
    git(&ground.path(""), &["config", "--add", "include.path", "inside"]);
    fs::write(ground.path("shared.gitconfig"), "").unwrap();
    for path in ["shared.gitconfig", "deep/er/more", ".git/inside"] {
        let evil = format!("mkdir -p deep/er; printf '[alias]\\n\\tst = !touch evil\\n' > {path}");
        let _ = ground.call("shell", json!({ "command": evil })).await;
        assert!(fs::read_to_string(ground.path(path)).unwrap_or_default().is_empty(), "{path}");
        let edit = ground.assess_one("write", json!({ "path": path, "content": "" }));
        let is_leaving = edit.why.as_ref().is_some_and(|why| why.contains("other programs"));
        assert!(is_leaving || matches!(edit.permission, Permission::Denied(_)), "{path}: {edit:?}");
    }
    let config = ground.text(".git/config");
    // Its history can be destroyed, but not replaced by one that runs something.
    let _ = run(
        &ground,
        "cp -r .git copy; rm -rf .git; echo evil > copy/hooks/post-commit; mv copy .git; cp -r copy/. .git/",
    )
    .await;
    assert_eq!(ground.text(".git/config"), config);
    assert!(!ground.path(".git/hooks/post-commit").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn git_works_in_a_work_tree_a_linked_one_and_a_submodule() {
    let ground = repository();
    let all = "git status --short && echo two > file && git add . && git commit -qm second && git branch topic && git stash list \
               && git gc -q && git tag t && git rebase -q HEAD && git log --oneline | wc -l && git worktree list >/dev/null";
    assert_eq!(run(&ground, all).await, (Some(0), "2\n".to_owned()));
    // A linked work tree whose git folder lies outside of the workspace.
    let main = ground.root().join("main");
    fs::rename(ground.path(""), &main).unwrap();
    git(&main, &["worktree", "add", "-q", ground.path("").to_str().unwrap(), "topic"]);
    let linked = "echo three > file && git commit -qam third && git log --format=%s -1";
    assert_eq!(run(&ground, linked).await, (Some(0), "third\n".to_owned()));
    let hook = main.join(".git/hooks/post-commit").display().to_string();
    all_refused(
        &ground,
        &[&format!("echo evil > {hook}"), "git config core.fsmonitor ./evil", "rm .git", "echo x > .git"],
    )
    .await;
    assert_eq!(git(&main, &["log", "--format=%s", "-1", "topic"]), "third\n");
    // A submodule of a repository.
    let ground = repository();
    let outer = ground.root().join("outer");
    fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q"]);
    git(&outer, &["submodule", "--quiet", "add", ground.path("").to_str().unwrap(), "inner"]);
    let inner = outer.join("inner").display().to_string();
    let output = async |command: &str| {
        let call = block("shell", &json!({ "command": command }).to_string());
        let assessed = ground.assess_in(&inner, &[call], &|_| None).pop().unwrap();
        let run = Run { workspace: inner.clone(), ..ground.run(assessed) };
        let data = data(&ground.start_run(run).end().await);
        (data["exit_code"].as_i64(), data["stdout"].as_str().unwrap_or_default().to_owned())
    };
    let commit = "echo four > file && git -c user.name=me -c user.email=m@e commit -qam fourth && git log --format=%s -1";
    assert_eq!(output(commit).await, (Some(0), "fourth\n".to_owned()));
    let hook = outer.join(".git/modules/inner/hooks/post-commit").display().to_string();
    for command in [&*format!("echo evil > {hook}"), "git config core.fsmonitor ./evil"] {
        assert_ne!(output(command).await.0, Some(0), "{command}");
    }
}

/// Makes a work tree of the ground's workspace; its git folder, if hooks and configuration of that are to be
/// protected.
type Shape = fn(&Ground) -> PathBuf;

/// With a commit, and a name for the next ones.
fn begin_in(folder: &Path) {
    git(folder, &["config", "user.name", "me"]);
    git(folder, &["config", "user.email", "me@localhost"]);
    fs::write(folder.join("file"), "one\n").unwrap();
    git(folder, &["add", "file"]);
    git(folder, &["commit", "-qm", "first"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn git_works_in_work_trees_of_every_shape() {
    let shapes: [(&str, Shape); 5] = [
        ("its git folder elsewhere", |ground| {
            git(&ground.path(""), &["init", "-q", "--separate-git-dir", "../elsewhere.git"]);
            ground.root().join("elsewhere.git")
        }),
        ("its git folder within it", |ground| {
            git(&ground.path(""), &["init", "-q", "--separate-git-dir", "store.git"]);
            ground.path("store.git")
        }),
        ("a link to its git folder", |ground| {
            git(&ground.path(""), &["init", "-q"]);
            fs::rename(ground.path(".git"), ground.root().join("elsewhere.git")).unwrap();
            symlink(ground.root().join("elsewhere.git"), ground.path(".git")).unwrap();
            ground.root().join("elsewhere.git")
        }),
        ("a link to its git folder within it", |ground| {
            git(&ground.path(""), &["init", "-q"]);
            fs::rename(ground.path(".git"), ground.path("store.git")).unwrap();
            symlink("store.git", ground.path(".git")).unwrap();
            ground.path("store.git")
        }),
        ("a bare one beside its work trees", |ground| {
            git(ground.root(), &["init", "-q", "--bare", ".bare"]);
            let bare = ground.root().join(".bare");
            let tree = git(&bare, &["hash-object", "-t", "tree", "-w", "--stdin"]);
            let commit = git(&bare, &["commit-tree", "-m", "x", tree.trim()]);
            fs::remove_dir(ground.path("")).unwrap();
            git(&bare, &["worktree", "add", "-q", ground.path("").to_str().unwrap(), commit.trim()]);
            bare
        }),
    ];
    for (shape, make) in shapes {
        let ground = asking(Ground::new());
        let folder = make(&ground);
        begin_in(&ground.path(""));
        let assessed = shell(&ground, "make");
        assert_eq!((assessed.permission, assessed.why), (Permission::Sandbox, None), "{shape}");
        let work = "git status --short file && echo two > file && git add file && git commit -qm second && git log --format=%s -1";
        assert_eq!(run(&ground, work).await, (Some(0), "second\n".to_owned()), "{shape}");
        assert_eq!(git(&ground.path(""), &["log", "--format=%s", "-1"]), "second\n", "{shape}");
        let hook = folder.join("hooks/post-commit").display().to_string();
        let config = fs::read_to_string(folder.join("config")).unwrap();
        for command in [
            format!("mkdir -p {0}; echo evil > {hook}; chmod +x {hook}", folder.join("hooks").display()),
            "git config core.fsmonitor ./evil".to_owned(),
        ] {
            let _ = ground.call("shell", json!({ "command": command })).await;
            assert!(!Path::new(&hook).exists(), "{shape}");
            assert_eq!(fs::read_to_string(folder.join("config")).unwrap(), config, "{shape}");
        }
    }
}

/// Those that a work tree holds are worked on from without, too.
#[tokio::test(flavor = "multi_thread")]
async fn git_works_in_repositories_within_a_work_tree() {
    let ground = asking(repository());
    let other = repository();
    let at = |ground: &Ground| ground.path("").to_str().unwrap().to_owned();
    git(&ground.path(""), &["clone", "-q", &at(&other), "clone"]);
    git(&ground.path(""), &["submodule", "--quiet", "add", &at(&other), "module"]);
    git(&ground.path(""), &["worktree", "add", "-q", "inner"]);
    fs::create_dir(ground.path("sub")).unwrap();
    for folder in ["clone", "module", "inner", "sub"] {
        let command = format!(
            "cd {folder} && git status --short && echo {folder} > new && git add new && git -c user.name=a -c user.email=a@b commit -qm {folder} && git log --format=%s -1"
        );
        let assessed = shell(&ground, &command);
        assert_eq!((&assessed.permission, &assessed.why), (&Permission::Sandbox, &None), "{folder}");
        let finished = ground.finish(assessed).await;
        assert_eq!(data(&finished)["exit_code"], 0, "{folder}: {finished:?}");
        assert_eq!(git(&ground.path(folder), &["log", "--format=%s", "-1"]).trim(), folder);
    }
    // What a command makes by git's own means stays, and can be worked with.
    for made in [
        "git worktree add -q made && git -C made status",
        "cd made && echo x > x && git add x && git commit -qm made",
    ] {
        let finished = ground.call("shell", json!({ "command": made })).await;
        assert_eq!(
            (data(&finished)["exit_code"].as_i64(), finished.result.diagnostics.len()),
            (Some(0), 0),
            "{finished:?}"
        );
    }
    assert_eq!(git(&ground.path("made"), &["log", "--format=%s", "-1"]), "made\n");
}

/// A command could lead git to a repository of the person's, so that the next one may write there.
#[tokio::test(flavor = "multi_thread")]
async fn a_git_folder_to_which_a_command_leads_cannot_be_written() {
    for lead in ["echo gitdir: VICTIM > .git", "ln -s VICTIM .git"] {
        let home = home_of_its_own();
        let ground = Ground::beneath_home(home.path(), "work", &[]);
        let victim = ground.root().join("victim");
        fs::create_dir(&victim).unwrap();
        git(&victim, &["init", "-q"]);
        begin_in(&victim);
        let head = victim.join(".git/refs/heads/main").display().to_string();
        let lead = lead.replace("VICTIM", victim.join(".git").to_str().unwrap());
        let running = ground.start(&format!("{lead}; touch begun; while [ ! -e go ]; do :; done"));
        wait_until("the command has begun", || ground.path("begun").exists()).await;
        // Another command while it runs, and one after it.
        let attack = format!("echo {} > {head}", "0".repeat(40));
        assert_ne!(run(&ground, &attack).await.0, Some(0), "{lead}");
        fs::write(ground.path("go"), "").unwrap();
        let finished = running.end().await;
        assert!(
            finished.result.diagnostics.join("\n").contains("`.git` was taken away"),
            "{lead}: {finished:?}"
        );
        assert_ne!(run(&ground, &attack).await.0, Some(0), "{lead}");
        assert_eq!(git(&victim, &["log", "--format=%s"]), "first\n");
    }
    // By what is on the way of a link that a person has made. The folder cannot be moved, so the link is made
    // in it.
    let home = home_of_its_own();
    let ground = Ground::beneath_home(home.path(), "work", &[]);
    let victim = ground.root().join("victim");
    fs::create_dir(&victim).unwrap();
    git(&victim, &["init", "-q"]);
    begin_in(&victim);
    git(&ground.path(""), &["init", "-q", "--separate-git-dir", "store.git"]);
    let away = format!("mv store.git away; ln -s {} store.git", victim.join(".git").display());
    let finished = ground.call("shell", json!({ "command": away })).await;
    assert!(
        finished.result.diagnostics.join("\n").contains("`store.git/.git` was taken away"),
        "{finished:?}"
    );
    fs::remove_file(ground.path(".git")).unwrap();
    symlink("store.git", ground.path(".git")).unwrap();
    let attack = format!("touch {}", victim.join(".git/mark").display());
    assert_ne!(run(&ground, &attack).await.0, Some(0));
    // A person has led there.
    fs::remove_file(ground.path(".git")).unwrap();
    symlink(victim.join(".git"), ground.path(".git")).unwrap();
    assert_eq!(run(&ground, &attack).await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_files_and_caches_are_the_conversations_own() {
    let home = home_of_its_own();
    fs::create_dir_all(home.path().join(".cargo/registry")).unwrap();
    fs::write(home.path().join(".cargo/registry/crate"), "of the user").unwrap();
    let ground = Ground::at_home(home.path(), &[]);
    let cache = home.path().join(".cargo/registry").display().to_string();
    let command = format!(
        "echo mine > /tmp/abide-test && echo mine > /dev/shm/abide-test && echo poison > {cache}/crate && echo new > {cache}/new"
    );
    assert_eq!(run(&ground, &command).await, (Some(0), String::new()));
    let (_, output) =
        run(&ground, &format!("cat /tmp/abide-test {cache}/crate {cache}/new; ls /dev/shm")).await;
    assert_eq!(output, "mine\npoison\nnew\n", "they stay for the next command, but for memory");
    assert!(!Path::new("/tmp/abide-test").exists() && !Path::new("/dev/shm/abide-test").exists());
    assert_eq!(fs::read_to_string(home.path().join(".cargo/registry/crate")).unwrap(), "of the user");
    assert_eq!(ground.tools.kept_conversations(), [CONVERSATION]);
    ground.tools.forget_conversation(CONVERSATION);
    assert_eq!(ground.tools.kept_conversations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_called_a_possible_one() {
    for ground in [repository(), commit_in(Ground::with_landlock_only())] {
        let hint = async |command: &str| {
            let finished = ground.call("shell", json!({ "command": command })).await;
            finished.result.diagnostics.join(" ").contains("the sandbox may have refused this")
        };
        assert!(hint("touch /usr/abide-test").await);
        assert!(!hint("touch /usr/abide-test || true").await, "it did not fail");
        assert!(!hint("echo well; exit 3").await);
        assert_eq!(run(&ground, "f=$(mktemp) && echo x > $f && cat $f").await, (Some(0), "x\n".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_working_folder_does_not_lead_out() {
    let ground = repository();
    fs::create_dir(ground.path("sub")).unwrap();
    fs::write(ground.root().join("beside"), "outside").unwrap();
    let finished = ground
        .call("shell", json!({ "command": "pwd; cat ../../beside; ls ../..", "working_dir": "sub" }))
        .await;
    let text = finished.result.text();
    assert!(text.contains("workspace/sub") && !text.contains("outside"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn python_runs_in_it_and_can_ask_for_sub_tasks() {
    let ground = repository();
    let code = "import os\nprint(os.getpid() < 10, open('file').read())\ntry:\n    open('/etc/x', 'w')\nexcept OSError as e:\n    print(e.errno)\n\
                try:\n    fork('x')\nexcept RuntimeError as e:\n    print(e)";
    let finished = ground.call("python", json!({ "code": code })).await;
    let text = data(&finished)["stdout"].as_str().unwrap().to_owned();
    assert!(text.starts_with("True one\n\n30\n") || text.starts_with("True one\n\n13\n"), "{text}");
    assert!(text.ends_with("sub-tasks are not available\n"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_without_asking_and_what_asks() {
    let mut ground = asking(repository());
    let permission = |ground: &Ground, tool: &str, arguments| {
        let assessed = ground.assess_one(tool, arguments);
        (assessed.permission, assessed.sandbox, assessed.why)
    };
    let unasked = (Permission::Sandbox, "full".to_owned(), None);
    assert_eq!(permission(&ground, "shell", json!({ "command": "make" })), unasked);
    assert_eq!(permission(&ground, "python", json!({ "code": "1" })), unasked);
    let edit = json!({ "path": "new", "content": "x" });
    assert_eq!(permission(&ground, "write", edit.clone()).0, Permission::Sandbox);
    for (tool, arguments, sandbox, why) in [
        (
            "shell",
            json!({ "command": "git push" }),
            "none",
            "it must leave the sandbox: `git push` reaches another machine",
        ),
        ("shell", json!({ "command": "git reset --hard" }), "full", "throws away"),
        ("shell", json!({ "command": "rm -rf src" }), "full", "deletes"),
        (
            "shell",
            json!({ "command": "make", "outside": true, "reason": "npm needs\nthe network" }),
            "none",
            "“npm needs\\nthe network”",
        ),
        ("write", json!({ "path": ".envrc", "content": "x" }), "none", "other programs"),
        ("write", json!({ "path": ".git/hooks/x", "content": "x" }), "none", "other programs"),
    ] {
        let (permission, found, words) = permission(&ground, tool, arguments.clone());
        assert_eq!((permission, found.as_str()), (Permission::Ask, sandbox), "{arguments}");
        assert!(words.as_deref().unwrap_or_default().contains(why), "{words:?}");
    }
    let denied = permission(&ground, "shell", json!({ "command": "make", "outside": true })).0;
    assert!(matches!(denied, Permission::Denied(why) if why.contains("reason")));
    ground.sandbox.shell = Unasked::Nothing;
    ground.sandbox.edits = Unasked::Nothing;
    assert_eq!(permission(&ground, "shell", json!({ "command": "make" })).0, Permission::Ask);
    assert_eq!(permission(&ground, "write", edit.clone()).0, Permission::Ask);
    // Where it could not be undone, or not protected.
    let plain = asking(without_undo());
    let cannot = |command: &str| {
        let assessed = shell(&plain, command);
        (assessed.permission, assessed.for_task, assessed.why.unwrap_or_default())
    };
    let (found, for_task, why) = cannot("make");
    assert_eq!((found, for_task), (Permission::Ask, true));
    assert!(why.contains("could not be undone") && why.contains("200 MiB"), "{why}");
    let (found, for_task, why) = cannot("git clean -fd");
    assert_eq!((found, for_task), (Permission::Ask, false), "it asks for another reason, too");
    assert!(why.contains("deletes") && why.contains("could not be undone"), "{why}");
    let rule = Arc::new(abide_rules::Rule::parse("shell(make)", Effect::Ask).unwrap());
    let standing = Standing { rule, effect: Effect::Ask, source: Source::Policy };
    let mut ruled = asking(without_undo());
    ruled.rules = Book::new(vec![standing]);
    assert!(!shell(&ruled, "make").for_task, "a rule asks");
    assert_eq!(shell(&asking(Ground::new()), "make").permission, Permission::Sandbox, "a small folder");
    let landlock = asking(commit_in(Ground::with_landlock_only()));
    assert_eq!(permission(&landlock, "shell", json!({ "command": "make" })).0, Permission::Ask);
}

/// As from a notification.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_may_decide_in_passing() {
    let in_passing = |ground: &Ground, tool: &str, arguments: Value| {
        let assessed = ground.assess_one(tool, arguments);
        assert_eq!(assessed.permission, Permission::Ask, "{assessed:?}");
        assessed.in_passing
    };
    let command = |command: &str| json!({ "command": command });
    let edit = |path: &str| json!({ "path": path, "content": "x" });
    // What is done here could not be undone, so that all of it asks.
    let ground = asking(without_undo());
    let out = json!({ "command": "ls", "outside": true, "reason": "to see it" });
    let long = format!("mkdir {}", "a-folder ".repeat(20));
    for (tool, arguments, expected) in [
        ("shell", command("mkdir a"), true),
        ("write", edit("new"), true),
        // They leave or undermine the sandbox.
        ("shell", out, false),
        ("write", edit(".envrc"), false),
        // Its risk is high.
        ("shell", command("make"), false),
        ("shell", command("git push --force"), false),
        ("shell", command("git clean -f"), false),
        // The summary does not tell all of it.
        ("shell", command(&long), false),
        ("python", json!({ "code": "print(1)" }), false),
    ] {
        assert_eq!(in_passing(&ground, tool, arguments.clone()), expected, "{tool} {arguments}");
    }
    // No sandbox, or one that protects too little; the file tools need none.
    for weak in [asking(Ground::unconfined()), asking(Ground::with_landlock_only())] {
        assert!(!in_passing(&weak, "shell", command("mkdir a")));
        assert!(in_passing(&weak, "write", edit("new")));
    }
    let mut networked = asking(without_undo());
    networked.sandbox.host_network = true;
    assert!(!in_passing(&networked, "shell", command("mkdir a")));
    let mut required = asking(Ground::with_landlock_only());
    required.sandbox.require = SandboxLevel::Full;
    assert!(!in_passing(&required, "shell", command("mkdir a")));
    // A call that does not ask has nothing to decide.
    assert!(!shell(&repository(), "mkdir a").in_passing);
}

#[tokio::test(flavor = "multi_thread")]
async fn yes_is_not_about_leaving_the_sandbox_and_below_what_is_required_everything_asks() {
    let mut ground = repository();
    let out = json!({ "command": "make", "outside": true, "reason": "it needs the network" });
    for (approvals, expected) in [
        (Approvals::Ask, Permission::Ask),
        (Approvals::Allow, Permission::Ask),
        (Approvals::AllowAll, Permission::Yes),
    ] {
        ground.approvals = approvals;
        assert_eq!(ground.assess_one("shell", out.clone()).permission, expected, "{approvals:?}");
    }
    ground.approvals = Approvals::Allow;
    assert_eq!(shell(&ground, "git push").permission, Permission::Ask);
    assert_eq!(shell(&ground, "git clean -f").permission, Permission::Yes);
    ground.sandbox.host_network = true;
    assert_eq!(
        (shell(&ground, "make").permission, &*shell(&ground, "make").sandbox),
        (Permission::Ask, "full, network")
    );
    assert_eq!(shell(&ground, "git push").sandbox, "none");
    let mut none = Ground::unconfined();
    assert_eq!(shell(&none, "make").permission, Permission::Yes);
    // There is nothing to leave.
    assert_eq!(shell(&none, "git push").permission, Permission::Yes);
    none.sandbox.require = SandboxLevel::Landlock;
    none.approvals = Approvals::AllowAll;
    assert_eq!(shell(&none, "make").permission, Permission::Ask);
}

/// What was remembered of it while it could not leave does not let it out.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_must_leave_is_assessed_as_if_it_were_marked_to() {
    let ground = asking(repository());
    let marked = json!({ "reason": "to publish", "command": "git push", "outside": true });
    let rule = |assessed: &CallAssessed| {
        let arguments = JsonText::parse(assessed.arguments.clone()).unwrap();
        Rule::of("shell", &arguments, &ground.workspace())
    };
    for unmarked in [json!({ "command": "git push" }), json!({ "outside": false, "command": "git push" })] {
        let assessed = ground.assess_one("shell", unmarked.clone());
        assert_eq!(rule(&assessed), rule(&ground.assess_one("shell", marked.clone())));
        let plain = Rule::of("shell", &(&unmarked).into(), &ground.workspace());
        let call = [block("shell", &unmarked.to_string())];
        let permission = |remembered: &Rule, allows: bool| {
            let decide = |asked: &Rule| (asked == remembered).then_some(allows);
            ground.assess_in(&ground.workspace(), &call, &decide).remove(0).permission
        };
        assert_eq!(permission(&rule(&assessed), true), Permission::Rule);
        assert_eq!(permission(&plain, true), Permission::Ask);
        for remembered in [&plain, &rule(&assessed)] {
            assert!(matches!(permission(remembered, false), Permission::Denied(_)));
        }
    }
    // It can do what the sandbox does not let it do, with the files that the person was asked about.
    let beside = ground.root().join("beside").display().to_string();
    let pushes = format!("git push {beside} HEAD:main; cat file");
    git(ground.root(), &["init", "-q", "--bare", "beside"]);
    let finished = ground.finish(shell(&ground, &pushes)).await;
    assert!(finished.result.ok, "{}", finished.result.text());
    assert!(git(Path::new(&beside), &["log", "--format=%s", "main"]).contains("first"));
    let asked = shell(&ground, &pushes);
    fs::write(ground.path("file"), "two\n").unwrap();
    let finished = ground.finish(asked).await;
    assert!(finished.result.text().contains("`file` was changed"), "{}", finished.result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_runs_in_the_sandbox_that_it_was_planned_for_or_not_at_all() {
    let planned = shell(&repository(), "touch ran");
    assert_eq!(planned.sandbox, "full");
    for ground in [Ground::with_landlock_only(), Ground::unconfined()] {
        let finished = ground.finish(planned.clone()).await;
        assert!(!finished.result.ok);
        assert!(finished.result.message.contains("nothing ran"), "{}", finished.result.message);
        assert!(!ground.path("ran").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_changed_since_the_last_command_is_planned_anew() {
    let ground = Ground::new();
    assert_eq!(run(&ground, "true").await.0, Some(0));
    // A helper waits now whose view knows of no repository.
    git(&ground.path(""), &["init", "-q"]);
    all_refused(&ground, &["echo evil > .git/hooks/post-commit", "git config core.fsmonitor ./evil"]).await;
    git(&ground.path(""), &["config", "user.name", "replaced the file"]);
    all_refused(&ground, &["git config core.fsmonitor ./evil"]).await;
}
