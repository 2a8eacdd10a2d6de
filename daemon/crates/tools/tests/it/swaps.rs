//! A folder of the workspace that becomes a link out of it and back, all the time, while calls go through it
//! (R36).

use crate::ground::{Ground, data};
use abide_protocol::message::CallOutcome;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::{
    env, fs, hint,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// How many calls go through the link; more by `ABIDE_TEST_SWAPS`.
const CALLS: usize = 2000;

/// Exchanges a folder and a link until it is dropped.
struct Swapper {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn between(folder: PathBuf, link: PathBuf) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            // Some exchanges follow each other at once, some leave a call the time to get through.
            for round in 0_u32.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                (0..(round % 97) * 64).for_each(|_| hint::spin_loop());
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_gets_out_through_a_folder_that_becomes_a_link() {
    let calls = env::var("ABIDE_TEST_SWAPS").map_or(CALLS, |calls| calls.parse().unwrap());
    let ground = Ground::new();
    let outside = ground.root().join("outside");
    for folder in [&ground.path("sub"), &outside] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
    }
    fs::write(outside.join("file"), "a secret").unwrap();
    symlink(&outside, ground.path("link")).unwrap();
    let swapper = Swapper::between(ground.path("sub"), ground.path("link"));
    let (mut done, mut refused) = (0, 0);
    for number in 0..calls {
        let call = match number % 5 {
            0 if number % 2 == 0 => ("write", json!({ "path": "sub/new", "content": "x" })),
            0 => ("write", json!({ "path": format!("sub/a{number}/b/new"), "content": "x" })),
            1 => ("patch", json!({ "path": "sub/file", "old": "x", "new": "x" })),
            2 => ("create_dir", json!({ "path": format!("sub/dir{number}") })),
            3 => ("read", json!({ "path": "sub/file" })),
            _ => ("shell", json!({ "command": "cat file; echo x > new", "working_dir": "sub" })),
        };
        let finished = ground.call(call.0, call.1).await;
        assert!(!finished.result.text().contains("a secret"), "{finished:?}");
        match finished.outcome == CallOutcome::Done && finished.result.ok {
            true => done += 1,
            false => refused += 1,
        }
        if finished.outcome == CallOutcome::Done && call.0 == "shell" && finished.result.ok {
            assert_eq!(data(&finished)["stdout"], "x", "{finished:?}");
        }
    }
    drop(swapper);
    let mut there: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    there.sort();
    assert_eq!(there, ["file"], "nothing is put outside");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "a secret");
    assert!(done > 0 && refused > 0, "the calls met both: {done} {refused}");
    eprintln!("{calls} calls: {done} done, {refused} refused");
}
