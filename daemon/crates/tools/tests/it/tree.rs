//! Nothing that a command started outlives it.

use crate::ground::{Ground, call_id, process, processes, token, wait_until};
use abide_protocol::{CallId, message::CallOutcome};
use abide_tools::NoSubTasks;
use std::process::{Child, ExitStatus, Stdio};

/// Ways to start processes that escape (`@` is how long they sleep), and how many each starts.
const ESCAPES: &[(&str, usize, &str)] = &[
    ("plain", 1, "sleep @"),
    ("in the background", 1, "sleep @ & wait"),
    ("a session of its own", 1, "setsid sleep @ & wait; sleep 600"),
    ("a double fork", 1, "( ( setsid sleep @ & ) & ); sleep 600"),
    ("no hang-up", 1, "nohup sleep @ >/dev/null 2>&1 & sleep 600"),
    ("no SIGTERM", 1, "trap '' TERM; sleep @; sleep @"),
    ("closed descriptors", 1, "setsid sleep @ <&- >&- 2>&- & exec >&- 2>&-; sleep 600"),
    ("no environment", 1, "env -i setsid sleep @ & wait; sleep 600"),
    ("halted", 1, "sleep @ & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; sleep 600"),
    ("a hundred", 100, "for i in $(seq 100); do setsid sleep @ & done; sleep 600"),
    (
        "a chain",
        20,
        "n=0; f() { n=$((n+1)); if [ $n -gt 20 ]; then sleep 600; else sleep @ & ( f ); fi; }; f",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_the_whole_tree() {
    let ground = Ground::new();
    for (name, count, command) in ESCAPES {
        let token = token();
        let running = ground.start(&command.replace('@', &token));
        wait_until(name, || processes(&token).len() == *count).await;
        let finished = running.cancel().await;
        assert_eq!(finished.outcome, CallOutcome::Cancelled, "{name}");
        assert_eq!(processes(&token), Vec::<u32>::new(), "{name} survived");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_death_of_the_daemon_ends_the_whole_tree() {
    for (name, count, command) in ESCAPES {
        let (ground, token) = (Ground::new(), token());
        let daemon = Daemon::start(&ground, call_id(), &command.replace('@', &token));
        wait_until(name, || processes(&token).len() == *count).await;
        daemon.kill();
        wait_until(&format!("{name} is gone"), || processes(&token).is_empty()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_keeps_starting_processes_is_ended() {
    let (ground, token) = (Ground::new(), token());
    let running = ground.start(&format!("while :; do setsid sleep {token} & done"));
    wait_until("there are many", || processes(&token).len() > 50).await;
    let finished = running.cancel().await;
    assert_eq!(finished.outcome, CallOutcome::Cancelled);
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_left_behind_end_with_their_command() {
    let (ground, token) = (Ground::new(), token());
    let finished =
        ground.start(&format!("setsid sleep {token} & setsid sleep {token} & echo done")).end().await;
    assert_eq!(processes(&token), Vec::<u32>::new());
    assert!(finished.result.ok);
    assert_eq!(finished.result.diagnostics, ["2 processes it had left running ended with it"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_command_may_clean_up() {
    let ground = Ground::new();
    let running =
        ground.start("trap 'echo clean > cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done");
    wait_until("the trap is set", || running.output().contains("ready")).await;
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
    assert_eq!(ground.text("cleaned"), "clean\n");
}

/// Outside of the sandbox it may be in the middle of an installation. What it does meanwhile is done when the
/// call ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_command_outside_of_the_sandbox_has_time_to_clean_up() {
    let ends = async |stop: &str| {
        let (ground, token) = (Ground::new(), token());
        let command = format!(
            "trap 'read -t 1 <> <(:); echo clean > cleaned; exit' TERM; (trap '' TERM; exec sleep {token}) & echo ready; while :; do \
             read -t 0.05 <> <(:); done"
        );
        let timeout = if stop == "timeout" { 3 } else { 600 };
        let leaving = serde_json::json!({ "command": command, "outside": true, "reason": "to test it", "timeout_secs": timeout });
        let running = ground.start_run(ground.run(ground.assess_one("shell", leaving)));
        wait_until("the trap is set", || running.output().contains("ready")).await;
        let finished = if stop == "timeout" { running.end().await } else { running.cancel().await };
        assert_eq!(ground.text("cleaned"), "clean\n", "{stop}: {:?}", finished.result);
        assert_eq!(processes(&token), Vec::<u32>::new(), "{stop}");
    };
    tokio::join!(ends("stop"), ends("timeout"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_helper_does_not_free_a_command() {
    let (ground, token) = (Ground::unconfined(), token());
    let finished = ground.start(&format!("setsid sleep {token} & kill -9 $PPID; sleep {token}")).end().await;
    assert!(!finished.result.ok);
    assert!(
        finished.result.message.contains("watched over the command was killed"),
        "{}",
        finished.result.message
    );
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn halting_the_helper_does_not_free_a_command() {
    let (ground, token) = (Ground::unconfined(), token());
    let running = ground.start(&format!("setsid sleep {token} & kill -STOP $PPID; sleep {token}"));
    wait_until("both run", || processes(&token).len() == 2).await;
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_call_ends_it() {
    let (ground, token) = (Ground::new(), token());
    let assessed = ground.assess_one(
        "shell",
        serde_json::json!({ "command": format!("setsid sleep {token} & sleep {token}") }),
    );
    let cancel = tokio_util::sync::CancellationToken::new();
    let run = ground.tools.prepare(ground.run(assessed), &ground.sandbox).await.run(
        cancel,
        Box::new(|_| ()),
        &NoSubTasks,
    );
    tokio::select! {
        _ = run => panic!("it does not end by itself"),
        () = wait_until("both run", || processes(&token).len() == 2) => {}
    }
    wait_until("both are gone", || processes(&token).is_empty()).await;
}

/// A process that plays the daemon and runs a command. Killed when dropped.
pub(crate) struct Daemon(Child);

impl Daemon {
    #[expect(clippy::disallowed_methods, reason = "the process under test")]
    pub(crate) fn start(ground: &Ground, call: CallId, command: &str) -> Self {
        let arguments = serde_json::json!({ "command": command, "timeout_secs": 600 }).to_string();
        let child = std::process::Command::new(process())
            .arg("daemon")
            .arg(ground.root())
            .args([call.to_string(), arguments])
            .args(&ground.without)
            .stdin(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    /// As `kill -9` does.
    pub(crate) fn kill(self) {}

    pub(crate) async fn wait(mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the command to end", || {
            status = self.0.try_wait().unwrap();
            status.is_some()
        })
        .await;
        status.unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
