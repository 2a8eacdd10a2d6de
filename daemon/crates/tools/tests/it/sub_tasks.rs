//! Code that starts sub-tasks and waits for them, with real Python on one side and a fake on the other.

use crate::ground::{Ground, Running, data, wait_until};
use abide_protocol::{TaskId, message::CallOutcome};
use abide_tools::{Answer, SubTasks};
use serde_json::{Value, json};
use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Sub-tasks that end when the test says so.
#[derive(Default)]
struct Fake {
    forked: Mutex<Vec<String>>,
    /// Waits that are open.
    open: Arc<AtomicUsize>,
    ended: watch::Sender<bool>,
}

/// Counts a wait as open until its future ends or is dropped.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Fake {
    fn that_end() -> Arc<Self> {
        let fake = Self::default();
        fake.ended.send_replace(true);
        Arc::new(fake)
    }

    fn forked(&self) -> Vec<String> {
        self.forked.lock().unwrap().clone()
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl SubTasks for Fake {
    fn fork(&self, index: u32, prompt: String) -> Answer<'_, String> {
        let mut forked = self.forked.lock().unwrap();
        assert_eq!(forked.len(), index as usize);
        forked.push(prompt);
        Box::pin(async move { Ok(format!("handle {index}")) })
    }

    fn wait(&self, handle: String) -> Answer<'_, Value> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let open = Open(Arc::clone(&self.open));
        Box::pin(async move {
            let _open = open;
            if !handle.starts_with("handle ") {
                return Err(format!("there is no sub-task {handle}"));
            }
            self.ended.subscribe().wait_for(|ended| *ended).await.unwrap();
            Ok(json!({ "handle": handle, "status": "completed", "result": "Ä\n" }))
        })
    }

    fn read(&self) -> Vec<TaskId> {
        Vec::new()
    }
}

fn start(ground: &Ground, fake: &Arc<Fake>, code: &str, timeout_secs: u64) -> Running {
    let assessed = ground.assess_one("python", json!({ "code": code, "timeout_secs": timeout_secs }));
    ground.start_with(ground.run(assessed), Arc::clone(fake) as _)
}

/// What the code prints, if it ends without an error.
async fn prints(fake: &Arc<Fake>, code: &str) -> (String, Value) {
    let ground = Ground::new();
    let finished = start(&ground, fake, code, 60).end().await;
    let data = data(&finished);
    assert!(finished.result.ok, "{data}");
    (data["stdout"].as_str().unwrap().to_owned(), json!([data["forked"], finished.result.diagnostics]))
}

#[tokio::test(flavor = "multi_thread")]
async fn code_forks_and_waits() {
    let fake = Fake::that_end();
    let code = r#"
handles = [fork("Option A"), fork("Option B")]; results = [wait(h) for h in handles]
print(handles, [result["status"] for result in results], repr(results[1]["result"]))
print(fork("Ü" * 1000 + "\ud800"), wait(handles[0]) == results[0])
"#;
    let (printed, said) = prints(&fake, code).await;
    let shown = "['handle 0', 'handle 1'] ['completed', 'completed'] 'Ä\\n'\nhandle 2 True\n";
    assert_eq!(printed, shown);
    assert_eq!(fake.forked(), ["Option A".to_owned(), "Option B".to_owned(), "Ü".repeat(1000) + "?"]);
    assert_eq!(said, json!([["handle 0", "handle 1", "handle 2"], []]), "the result names them");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_exceptions_and_the_line_goes_on() {
    let ground = Ground::new();
    fs::write(ground.path("json.py"), "raise Exception('this is not the module')").unwrap();
    let code = r#"
for act in [lambda: fork(5), lambda: wait(None), lambda: wait("nobody"), lambda: fork("x" * 10_000_000)]:
    try:
        act()
    except Exception as error:
        print(type(error).__name__, error)
for n in range(33):
    last = fork(str(n))
"#;
    let fake = Fake::that_end();
    let finished = start(&ground, &fake, code, 60).end().await;
    let data = data(&finished);
    let expected = "TypeError fork takes a string, not int\n\
                    TypeError wait takes a string, not NoneType\n\
                    RuntimeError there is no sub-task nobody\n\
                    ValueError fork takes at most 256 KiB\n";
    assert_eq!(data["stdout"], expected, "{data}");
    assert_eq!(finished.result.message, "exit code 1");
    let stderr = data["stderr"].as_str().unwrap();
    assert!(stderr.starts_with("Traceback (most recent call last):\n  File \"<code>\", line 8"), "{stderr}");
    assert!(stderr.ends_with("RuntimeError: this call has asked for 32 sub-tasks, and that is the limit\n"));
    assert_eq!(data["forked"].as_array().unwrap().len(), 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_wait_side_by_side() {
    let fake = Arc::new(Fake::default());
    let ground = Ground::new();
    let code = r#"
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    waits = [pool.submit(wait, fork(str(n))) for n in range(8)]
    print(fork("one more"))
    print(sorted(future.result()["handle"] for future in waits))
"#;
    let running = start(&ground, &fake, code, 60);
    wait_until("a fork is answered while threads wait", || running.output().contains("handle 8\n")).await;
    wait_until("all of them wait", || fake.open() == 8).await;
    fake.ended.send_replace(true);
    let finished = running.end().await;
    assert!(finished.result.ok, "{}", data(&finished));
    assert_eq!(fake.forked().len(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_stands_still_while_the_code_waits() {
    let (ground, fake) = (Ground::new(), Arc::new(Fake::default()));
    let code = "import time\nwait(fork('A'))\nprint('went on', flush=True)\ntime.sleep(600)";
    // Python needs some of it to start.
    let running = start(&ground, &fake, code, 4);
    wait_until("it waits", || fake.open() == 1).await;
    let began = Instant::now();
    wait_until("the limit to pass", || began.elapsed() > Duration::from_secs(5)).await;
    assert_eq!(fake.open(), 1);
    fake.ended.send_replace(true);
    let finished = running.end().await;
    assert_eq!(finished.result.message, "timed out after 4 s and was ended; what it did until then is done");
    assert_eq!(data(&finished)["stdout"], "went on\n");
    assert_eq!(data(&finished)["forked"], json!(["handle 0"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_is_stopped_or_dies_while_it_waits_gives_the_wait_up() {
    let (ground, fake) = (Ground::new(), Arc::new(Fake::default()));
    let running = start(&ground, &fake, "wait(fork('A'))", 600);
    wait_until("it waits", || fake.open() == 1).await;
    let finished = running.cancel().await;
    assert_eq!(finished.outcome, CallOutcome::Cancelled);
    assert_eq!((fake.open(), &data(&finished)["forked"]), (0, &json!(["handle 0"])));

    let fake = Arc::new(Fake::default());
    let code = r#"
import os, pathlib, signal, threading, time
threading.Thread(target=lambda: wait(fork('A')), daemon=True).start()
while not pathlib.Path('go').exists():
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"#;
    let running = start(&ground, &fake, code, 600);
    wait_until("it waits", || fake.open() == 1).await;
    fs::write(ground.path("go"), "").unwrap();
    let finished = running.end().await;
    assert_eq!(finished.result.message, "killed by signal 9 (SIGKILL)");
    assert_eq!(fake.open(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_code_starts_cannot_speak_on_the_line() {
    let (ground, fake) = (Ground::new(), Fake::that_end());
    let speak = r#"
import os, sys
print(repr(sys.stdin.read()), os.readlink("/proc/self/fd/0"), sorted(os.listdir("/proc/self/fd"), key=int)[:-1])
for n in range(3, 64):
    try:
        print(n, os.write(n, b'{"id":99,"fork":"by a child"}\n'))
    except OSError:
        pass
"#;
    fs::write(ground.path("speak.py"), speak).unwrap();
    let code = r#"
import os, subprocess, sys
subprocess.run([sys.executable, "speak.py"], close_fds=False)
child = os.fork()
if child == 0:
    for act in [lambda: fork("by a child"), lambda: wait("handle 0")]:
        try:
            act()
        except RuntimeError as error:
            print(error)
    exec(open("speak.py").read())
    os._exit(0)
os.waitpid(child, 0)
print(fork("by the code"))
"#;
    let finished = start(&ground, &fake, code, 60).end().await;
    let empty = "'' /dev/null ['0', '1', '2']\n";
    let refused = "only the first process of a call can use sub-tasks\n";
    assert_eq!(data(&finished)["stdout"], format!("{empty}{refused}{refused}{empty}handle 0\n"));
    assert_eq!(fake.forked(), ["by the code"]);
}

/// Code that speaks on the line past the functions that it is given.
const RAW: &str = r#"
import os
LINE = next(n for n in range(3, 64) if os.path.lexists("/proc/self/fd/%d" % n) and "socket" in os.readlink("/proc/self/fd/%d" % n))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_closes_the_line_and_not_the_call() {
    for (nonsense, why) in [
        ("b'nonsense\\n'", "a line was no request"),
        ("b'{\"id\":1,\"fork\":5}\\n'", "a line was no request"),
        ("b'x' * 10_000_000", "a line was longer than 256 KiB"),
    ] {
        let fake = Fake::that_end();
        let code = format!(
            r#"{RAW}
fork("before")
try:
    os.write(LINE, {nonsense})
except OSError:
    pass
for n in range(2):
    try:
        fork("after")
    except RuntimeError as error:
        print(error)
"#
        );
        let (printed, said) = prints(&fake, &code).await;
        assert_eq!(printed, format!("the line to Abide is closed, because {why}\n").repeat(2), "{nonsense}");
        let diagnostic = format!("its line to Abide was closed, because {why}");
        assert_eq!(said, json!([["handle 0"], [diagnostic]]), "{nonsense}");
        assert_eq!(fake.forked(), ["before"], "{nonsense}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_requests_that_reads_no_reply_ends_with_the_call() {
    let (ground, fake) = (Ground::new(), Fake::that_end());
    let code = format!("{RAW}\nwhile True: os.write(LINE, b'{{\"id\":1,\"fork\":\"A\"}}\\n' * 10_000)");
    let finished = start(&ground, &fake, &code, 4).end().await;
    assert!(finished.result.message.starts_with("timed out after 4 s"), "{}", finished.result.message);
    assert_eq!(fake.forked(), ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_ends_before_its_answer_starts_nothing_afterwards() {
    let (ground, fake) = (Ground::new(), Arc::new(Fake::default()));
    let code = format!("{RAW}\nos.write(LINE, b'{{\"id\":1,\"wait\":\"handle 0\"}}\\n')");
    let finished = start(&ground, &fake, &code, 60).end().await;
    assert!(finished.result.ok, "{}", data(&finished));
    assert_eq!(fake.open(), 0, "the wait is given up");
    assert_eq!(data(&finished)["forked"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_are_no_sub_tasks_the_code_is_told() {
    let code = "try:\n    fork('A')\nexcept RuntimeError as error:\n    print(error)";
    let finished = Ground::new().call("python", json!({ "code": code })).await;
    assert_eq!(data(&finished)["stdout"], "sub-tasks are not available\n");
}
