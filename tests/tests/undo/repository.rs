//! A person's repository that an agent works in.

use abide_client::protocol::method::task::StartTaskReply;
use abide_tests::{daemon::TestDaemon, ledger, world::World};
use std::{fs, path::PathBuf, process::Command};

/// The daemon's workspace as a repository.
pub(crate) struct Repository {
    pub(crate) folder: PathBuf,
}

impl Repository {
    /// With a commit, an ignored file, a staged file, a stash and a second branch.
    pub(crate) fn new(daemon: &TestDaemon) -> Self {
        let repository = Self { folder: daemon.workspace() };
        for (name, content) in [
            ("a.txt", "a\n"),
            ("b.txt", "b\n"),
            ("d/c.txt", "c\n"),
            (".gitignore", "*.log\nbuild/\n"),
            ("x.log", "log\n"),
        ] {
            repository.write(name, content);
        }
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "-m", "a commit"]);
        repository.write("stashed.txt", "stashed");
        repository.git(&["stash", "-q", "-u"]);
        repository.git(&["branch", "other"]);
        repository.write("staged.txt", "staged\n");
        repository.git(&["add", "staged.txt"]);
        repository
    }

    #[expect(clippy::disallowed_methods, reason = "the person's git")]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=P", "-c", "user.email=p@localhost"])
            .args(arguments)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Index, branches, stash and ignored files: what an undo may not touch.
    pub(crate) fn of_the_person(&self) -> [String; 5] {
        [
            self.git(&["for-each-ref"]),
            self.git(&["ls-files", "-s"]),
            self.git(&["stash", "list"]),
            self.git(&["symbolic-ref", "HEAD"]),
            self.text("x.log").unwrap_or_default(),
        ]
    }
}

/// Waits until what an ended task has changed is kept and the time of files has gone on, so that a change
/// made now is a later one. (A task's end does not wait for its last checkpoint. `getTask` does.)
pub(crate) async fn later(world: &World, task: StartTaskReply) {
    let home = world.daemon.home();
    abide_tests::wait::wait_until("the last checkpoint", async || {
        let lines = ledger::of(&home, task.conversation_id);
        let last = |kind: &str| lines.iter().rposition(|line| line.kind == kind);
        last("checkpointed") > last("call_started")
    })
    .await;
    time_goes_on(world).await;
}

/// Waits until the time of files has gone on by more than a tick of the kernel's clock, so that a change made
/// before this and one made after it can be told apart. (Two requests may take less.)
async fn time_goes_on(world: &World) {
    let probe = world.daemon.workspace().join("build");
    fs::create_dir_all(&probe).unwrap();
    let now = || {
        fs::write(probe.join("probe"), "x").unwrap();
        fs::metadata(probe.join("probe")).unwrap().modified().unwrap()
    };
    let began = now();
    abide_tests::wait::wait_until("the time of files to go on", async || {
        now().duration_since(began).is_ok_and(|gone| gone.as_millis() > 40)
    })
    .await;
}
