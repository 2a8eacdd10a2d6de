//! The daemon and its commands do not have what the program had that started the daemon: descriptors, umask,
//! priority, signals, limits.

use abide_client::protocol::method::{self, daemon::StatusParams};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    process, wait,
    world::World,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

/// A caller that has all of it: a locked file, a pipe, an own umask, signals that it ignores, a low priority
/// and few files.
fn caller(lock: &Path) -> String {
    format!(
        "exec 7>{} 8>&1; flock 7; umask 077; trap '' INT TERM HUP PIPE USR1; ulimit -S -n 64; renice -n 5 $$ >&2",
        lock.display()
    )
}

fn proc(pid: u32, name: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap()
}

/// The line of `/proc/PID/status` or `limits` that begins with this.
fn line(text: &str, begins: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(begins));
    line.unwrap_or_else(|| panic!("no {begins} in {text}")).split_whitespace().next().unwrap().to_owned()
}

/// The set of ignored signals, but for those that the C library keeps for itself (32 and above).
fn ignored(digits: &str) -> u64 {
    u64::from_str_radix(digits, 16).unwrap() & 0x7fff_ffff
}

/// What a process has open beneath this folder, or of pipes, from the fourth descriptor on.
fn foreign(pid: u32, folder: &Path) -> Vec<PathBuf> {
    let opened = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().map(|entry| entry.unwrap().path());
    opened
        .filter(|path| path.file_name().unwrap().to_str().unwrap().parse::<u32>().unwrap() > 2)
        .filter_map(|path| fs::read_link(path).ok())
        .filter(|target| target.starts_with(folder) || target.to_str().unwrap().starts_with("pipe:"))
        .collect()
}

#[tokio::test]
async fn a_daemon_that_a_client_starts_has_nothing_of_that_client() {
    let model = ModelServer::start().await;
    let daemon = TestDaemon::new(&Config::with(&model));
    let lock = daemon.workspace().join("lock");
    let mut sh = process::program("/bin/sh");
    sh.args(["-c", &format!("{}; exec \"$0\" ps", caller(&lock))]).arg(process::built("abide"));
    sh.env_clear().envs(daemon.variables()).current_dir(daemon.workspace()).stdin(Stdio::null());
    sh.stdout(Stdio::piped());
    // It ends when the last process has closed the pipe.
    let output = wait::within("the caller's pipe to be closed", sh.output()).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::File::open(&lock).unwrap().try_lock().expect("nobody holds the caller's lock");

    let client = daemon.client().await;
    let pid = client.call::<method::Status>(StatusParams::default()).await.unwrap().pid;
    let status = proc(pid, "status");
    assert_eq!(line(&status, "Umask:"), "0022");
    assert_eq!(line(&status, "SigBlk:"), "0000000000000000");
    // SIGPIPE, as all Rust programs.
    assert_eq!(ignored(&line(&status, "SigIgn:")), 0x1000);
    assert_eq!(line(&proc(pid, "limits"), "Max open files"), "4096");
    if rustix::process::geteuid().is_root() {
        let stat = proc(pid, "stat");
        let nice = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16).unwrap();
        assert_eq!(nice, "0");
    }
    daemon.cli().ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn a_daemon_that_a_script_starts_holds_nothing_of_it_and_its_commands_ignore_no_signal() {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    daemon.set_caller(&caller(&daemon.workspace().join("lock")));
    let world = World::of(model, daemon).await;
    let pid = world.daemon.pid();
    assert_eq!(foreign(pid, &world.daemon.workspace()), Vec::<PathBuf>::new());
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
    let task =
        world.run("signals", [Turn::shell("grep SigIgn /proc/self/status"), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let told = world.model.last_request("signals").unwrap().text();
    let digits = told.split_once("SigIgn:\\t").map(|(_, rest)| &rest[..16]);
    assert_eq!(digits.map(ignored), Some(0), "{told}");
}
