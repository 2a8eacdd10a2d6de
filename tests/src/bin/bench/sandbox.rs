//! What the sandbox adds to a step, beside the same command outside of it in the same task.

use crate::{
    beside::gaps,
    checkpoint,
    model::{self, Answer, Asked, Model},
    setup::{self, Setup},
    table::{Aim, Figure, Value::Time, median},
};
use abide_client::protocol::{method::task::StartTaskParams, task::Approvals};
use serde_json::json;
use std::{fs, path::Path, time::Duration};

/// The commands of the long task: every second one runs outside of the sandbox.
const STEPS: usize = 400;

/// Tasks of one command, each in a folder of its own, so that no helper waits for it; and as many with one
/// outside of the sandbox.
const FOLDERS: usize = 20;

/// Between two tasks.
const PAUSE: Duration = Duration::from_millis(100);

const KEY: &str = "sandbox";

/// The commands of a task whose model thinks, for so long.
const THOUGHTS: usize = 60;
const THINKING: Duration = Duration::from_millis(50);

/// The largest work tree: folders, and files in each.
const LARGE: (usize, usize) = (100, 50);

pub(crate) async fn figures() -> Vec<Figure> {
    let model = Model::start(|asked| match asked {
        Asked { key: KEY, number, .. } if *number < STEPS => step(*number, number % 2 == 1),
        Asked { key, number: 0, .. } if *key != KEY => step(0, key.starts_with("outside")),
        Asked { number, .. } => model::done(*number),
    });
    let setup = Setup::with(model).await;
    // Before the long tasks: ext4 does not use the inode of a removed file again for some minutes, and looks
    // at each of them whenever it makes another one. After a thousand removed files a new folder takes 0.3
    // ms, not 0.03.
    let (first_inside, first_outside) = first(&setup).await;
    let (inside, outside) = alternating(&setup).await;
    let (work_inside, work_outside) = (work(false).await, work(true).await);
    let (plain, empty, large) =
        (thinking(None).await, thinking(Some((0, 0))).await, thinking(Some(LARGE)).await);
    vec![
        over(
            "step in an empty work tree, the model thinks 50 ms; floor an empty folder",
            &empty,
            &plain,
            1000,
        ),
        over("step in a work tree of 5,000 files, likewise", &large, &plain, 2000),
        over("step in the sandbox; floor the same outside of it", &inside, &outside, 200),
        over("the first command of a workspace; floor the same outside", &first_inside, &first_outside, 400),
        Figure::new("processor time of a step in the sandbox, of the whole machine", Time(work_inside))
            .floor(Time(work_outside))
            .aim(Aim::AtMost(Time(work_outside + Duration::from_millis(1)))),
    ]
}

/// A figure that may be at most so many microseconds over its floor.
fn over(what: &str, ours: &[Duration], floor: &[Duration], micros: u64) -> Figure {
    let floor = median(floor);
    let aim = Aim::AtMost(Time(floor + Duration::from_micros(micros)));
    Figure::new(what, Time(median(ours))).floor(Time(floor)).aim(aim)
}

/// A command that does nothing.
fn step(number: usize, outside: bool) -> Answer {
    let command = format!("true {number}");
    let arguments = match outside {
        true => json!({ "command": command, "outside": true, "reason": "the benchmark" }),
        false => json!({ "command": command }),
    };
    model::call(number, "shell", &arguments)
}

fn task(setup: &Setup, key: &str) -> StartTaskParams {
    StartTaskParams { approvals: Approvals::AllowAll, ..setup.task(key) }
}

/// The times of the steps of one task, inside and outside.
async fn alternating(setup: &Setup) -> (Vec<Duration>, Vec<Duration>) {
    setup::begin(&setup.client, task(setup, KEY)).await;
    setup.idle().await;
    let gaps = gaps(&setup.model.exchanges(KEY));
    assert_eq!(gaps.len(), STEPS, "each step is one command");
    // The first two start the fork server and the first helpers.
    let of = |parity: usize| gaps.iter().skip(2 + parity).step_by(2).copied().collect();
    (of(0), of(1))
}

/// The times of the first commands of workspaces, inside and outside by turns.
async fn first(setup: &Setup) -> (Vec<Duration>, Vec<Duration>) {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for number in 0..=FOLDERS {
        for (kind, times) in [("inside", &mut inside), ("outside", &mut outside)] {
            let key = format!("{kind}-{number}");
            let workspace = setup.daemon.workspace().join(&key);
            fs::create_dir(&workspace).expect("a folder");
            let workspace = Some(workspace.display().to_string());
            setup::begin(&setup.client, StartTaskParams { workspace, ..task(setup, &key) }).await;
            setup.idle().await;
            // The first of each kind start the fork servers.
            if number > 0 {
                times.extend(gaps(&setup.model.exchanges(&key)));
            }
            // What ends after the task (helpers that waited, their namespaces) does not slow the next one.
            tokio::time::sleep(PAUSE).await;
        }
    }
    (inside, outside)
}

/// The times of the steps of a task whose model thinks, in a work tree with so many folders and files in
/// each; in no work tree if absent.
async fn thinking(files: Option<(usize, usize)>) -> Vec<Duration> {
    let model = Model::start(|asked| {
        #[expect(clippy::disallowed_methods, reason = "the model thinks")]
        std::thread::sleep(THINKING);
        if asked.number < THOUGHTS { step(asked.number, false) } else { model::done(asked.number) }
    });
    let setup = Setup::with(model).await;
    if let Some((folders, files)) = files {
        work_tree(&setup.daemon.workspace(), folders, files);
    }
    setup::begin(&setup.client, task(&setup, KEY)).await;
    setup.idle().await;
    // The first two start the fork server and the first helpers.
    gaps(&setup.model.exchanges(KEY)).into_iter().skip(2).collect()
}

fn work_tree(at: &Path, folders: usize, files: usize) {
    for folder in 0..folders {
        let folder = at.join(format!("d{folder}"));
        fs::create_dir_all(&folder).expect("a folder");
        (0..files).for_each(|file| fs::write(folder.join(format!("f{file}")), "a file\n").expect("a file"));
    }
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "--allow-empty", "-m", "all"]] {
        checkpoint::git(at, arguments);
    }
}

/// The processor time of a step, of all processes and of the kernel: the machine should do nothing else.
async fn work(outside: bool) -> Duration {
    let model = Model::start(move |asked| match asked.number {
        STEPS.. => model::done(asked.number),
        number => step(number, outside),
    });
    let setup = Setup::with(model).await;
    let before = busy();
    setup::begin(&setup.client, task(&setup, KEY)).await;
    setup.idle().await;
    (busy() - before) / u32::try_from(STEPS).unwrap_or(u32::MAX)
}

/// The time for which the machine's processors have worked, from the first line of `/proc/stat` (proc(5)): in
/// ticks of 10 ms, of which the fourth and the fifth number are idle time.
fn busy() -> Duration {
    let stat = fs::read_to_string("/proc/stat").expect("the kernel's times");
    let ticks = stat.lines().next().into_iter().flat_map(|line| line.split_whitespace().skip(1));
    let busy = ticks.enumerate().filter(|(index, _)| ![3, 4].contains(index)).take(6);
    Duration::from_millis(10 * busy.filter_map(|(_, ticks)| ticks.parse::<u64>().ok()).sum::<u64>())
}
