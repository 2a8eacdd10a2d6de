//! A real user manager.

use crate::{daemon::CliOutput, process, wait};
use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};
use tempfile::TempDir;

/// Runs as the first process of its namespaces: control groups and `/run` of its own, a bus, and the manager.
const INIT: &str = r#"
set -e
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$1"
echo $$ >"/sys/fs/cgroup/$1/cgroup.procs"
mount -t tmpfs none /run
mkdir -p /run/systemd/system
dbus-daemon --session --address="$DBUS_SESSION_BUS_ADDRESS" --fork --nopidfile
# As the first process it would be a system's manager.
/lib/systemd/systemd --user --log-target=console &
wait $!
"#;

/// A user with a real user manager. When it is dropped, all its processes end.
pub struct UserManager {
    root: TempDir,
    session: Session,
}

/// From a login to the logout.
struct Session {
    program: tokio::process::Child,
    /// The namespaces' first process, as this machine numbers it.
    first: u32,
}

impl Session {
    /// `None`: it has ended at once, because this machine does not allow one.
    async fn begin(root: &Path) -> Option<Self> {
        let runtime = root.join("r");
        fs::create_dir(&runtime).expect("a folder for the session");
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).expect("a private folder");
        let log = fs::File::create(root.join("manager.log")).expect("the log's file");
        let mut unshare = process::program("unshare");
        unshare.args(["--cgroup", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]);
        unshare.args(["sh", "-c", INIT, "sh"]).arg(root.file_name().expect("a name"));
        unshare.env_clear().envs(variables(root)).current_dir(root);
        unshare.stdin(Stdio::null()).stdout(log.try_clone().expect("a second handle")).stderr(log);
        let mut program = unshare.spawn().expect("unshare can be started");
        let id = program.id().expect("it has not been waited for");
        let children = format!("/proc/{id}/task/{id}/children");
        let first = wait::wait_for("the first process of the namespaces, or the end", async || {
            if program.try_wait().expect("unshare can be waited for").is_some() {
                return Some(None);
            }
            fs::read_to_string(&children).ok()?.split_whitespace().next()?.parse().ok().map(Some)
        })
        .await?;
        let answers = wait::wait_for("the user manager to answer, or to end", async || {
            if program.try_wait().expect("unshare can be waited for").is_some() {
                return Some(false);
            }
            let said = run(root, first, &["systemctl", "--user", "show", "--property=Version"]).await;
            (said.code == Some(0)).then_some(true)
        })
        .await;
        answers.then_some(Self { program, first })
    }
}

impl UserManager {
    /// Logs the user in. `None`: this machine does not allow it, or has no systemd.
    ///
    /// # Panics
    /// The manager is started and does not answer.
    pub async fn start() -> Option<Self> {
        let programs =
            ["/lib/systemd/systemd", "/usr/bin/systemctl", "/usr/bin/dbus-daemon", "/usr/bin/unshare"];
        let has_programs = programs.iter().all(|program| Path::new(program).exists());
        if !has_programs || !rustix::process::geteuid().is_root() {
            return None;
        }
        let root =
            tempfile::Builder::new().prefix("abide-").tempdir_in("/tmp").expect("a folder for the test");
        for dir in ["h", "w"] {
            fs::create_dir(root.path().join(dir)).expect("a folder for the test");
        }
        let session = Session::begin(root.path()).await?;
        Some(Self { root, session })
    }

    /// Logs the user out, which ends all units and removes the folder of the session, and in again.
    ///
    /// # Panics
    /// The manager does not end, or does not start again.
    pub async fn log_out_and_in(&mut self) {
        // The connection ends with the manager, so the reply says nothing.
        let _ = self.systemctl(&["exit"]).await;
        let ended = wait::within("the user manager to end", self.session.program.wait()).await;
        ended.expect("unshare can be waited for");
        fs::remove_dir_all(self.runtime()).expect("the session's folder can be removed");
        self.session = Session::begin(self.root.path()).await.expect("it was possible before");
    }

    /// Runs the real `abide` in the session, to its end.
    pub async fn abide(&self, arguments: &[&str]) -> CliOutput {
        self.run(&[&["abide"], arguments].concat()).await
    }

    /// Runs `systemctl --user` in the session, to its end.
    pub async fn systemctl(&self, arguments: &[&str]) -> CliOutput {
        self.run(&[&["systemctl", "--user", "--no-pager"], arguments].concat()).await
    }

    /// Runs a program in the session, to its end.
    ///
    /// # Panics
    /// It does not end.
    pub async fn run(&self, words: &[&str]) -> CliOutput {
        run(self.root.path(), self.session.first, words).await
    }

    /// The folder that `HOME` names.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.path().join("h")
    }

    /// The folder that `XDG_RUNTIME_DIR` names.
    #[must_use]
    pub fn runtime(&self) -> PathBuf {
        self.root.path().join("r")
    }
}

impl Drop for UserManager {
    fn drop(&mut self) {
        // The first process takes all others of its namespaces with it.
        drop(self.session.program.start_kill());
        let root = self.root.path().to_owned();
        if !process::wait_blocking(wait::limit(), || process::belonging_to(&root).is_empty()) {
            eprintln!("processes outlived the user manager: {:?}", process::belonging_to(&root));
        }
        let name = root.file_name().unwrap_or_default();
        let groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(|groups| Path::new(groups).join(name));
        let is_gone = |group: &PathBuf| !group.exists() || remove_groups(group).is_ok();
        // A process leaves its group a moment after it has ended.
        if !process::wait_blocking(wait::limit(), || groups.iter().all(is_gone)) {
            eprintln!("control groups are left: {groups:?}");
        }
    }
}

async fn run(root: &Path, first: u32, words: &[&str]) -> CliOutput {
    let mut command = process::program("nsenter");
    command.arg(format!("--target={first}")).args(["--cgroup", "--mount", "--pid", "--"]).args(words);
    command.env_clear().envs(variables(root)).current_dir(root.join("w")).stdin(Stdio::null());
    let output = process::finished(&mut command).await.expect("nsenter can be started");
    CliOutput {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Removes a control group and those beneath it.
fn remove_groups(group: &Path) -> io::Result<()> {
    for entry in fs::read_dir(group)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_groups(&entry.path())?;
        }
    }
    fs::remove_dir(group)
}

fn variables(root: &Path) -> Vec<(&'static str, String)> {
    let binaries = process::built("abide");
    let folder = binaries.parent().expect("binaries lie in a folder");
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    let runtime = root.join("r");
    vec![
        ("PATH", format!("{}:{path}", folder.display())),
        ("HOME", root.join("h").display().to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("XDG_RUNTIME_DIR", runtime.display().to_string()),
        ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", runtime.join("bus").display())),
    ]
}
