//! The time of a checkpoint of 10,000 files, beside what git itself takes in the person's repository. It is
//! off a step's path: the model is asked meanwhile.

use crate::{
    floor,
    table::{Aim, Figure, Value::Time, median},
};
use abide_client::protocol::{ConversationId, TaskId, Timestamp, checkpoint::SavedTree};
use abide_tests::daemon::program;
use abide_tools::{CheckpointFolders, Options, Place, Ran, Take, Taken, Tools, Window};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const FOLDERS: usize = 100;
const FILES: usize = 100;
const RUNS: usize = 30;

pub(crate) async fn figures() -> Vec<Figure> {
    let figures = tokio::task::spawn_blocking(measure).await;
    figures.expect("the measurement")
}

fn measure() -> Vec<Figure> {
    let folder = tempfile::tempdir().expect("a folder");
    let work_tree = folder.path().join("w");
    fill(&work_tree);
    let tools = tools(folder.path());
    let environment = ["PATH", "HOME"].map(|name| (name.to_owned(), env::var(name).unwrap_or_default()));
    let place = Place {
        workspace: work_tree.to_str().expect("a path").to_owned(),
        environment: BTreeMap::from(environment),
        cancel: CancellationToken::new(),
    };
    let take = |previous: Option<SavedTree>| {
        let (conversation, task) = (ConversationId(Uuid::from_u128(1)), TaskId(Uuid::from_u128(2)));
        let window = Window { from: Timestamp(0), until: Timestamp(i64::MAX) };
        let ran = Some(Ran { window, edits: Vec::new(), commands: true });
        let take = Take { conversation, task, previous, ran, label: "a step".to_owned() };
        let began = Instant::now();
        let taken = tools.checkpoints().take(&place, &take).expect("a checkpoint");
        (began.elapsed(), taken)
    };
    let saved = |taken: Taken| match taken {
        Taken::Changed(taken) => Some(taken.saved),
        Taken::Unchanged => None,
    };
    let (first, taken) = take(None);
    let mut previous = saved(taken);
    assert!(previous.is_some(), "the first checkpoint is made");

    let (mut unchanged, mut status) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (time, taken) = take(previous.clone());
        assert_eq!(taken, Taken::Unchanged);
        unchanged.push(time);
        status.push(git(&work_tree, &["status", "--porcelain"]));
    }
    let (mut changed, mut committed) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        fs::write(work_tree.join("d7/f7"), format!("changed {run}\n")).expect("a file");
        let (time, taken) = take(previous.clone());
        previous = saved(taken).or(previous);
        changed.push(time);
        let added = git(&work_tree, &["add", "d7/f7"]);
        committed.push(added + git(&work_tree, &["commit", "-q", "-m", "a step"]));
    }
    let ms = |ms| Aim::AtMost(Time(Duration::from_millis(ms)));
    vec![
        Figure::new("first checkpoint of 10,000 files in a work tree", Time(first)),
        Figure::new("checkpoint of 10,000 files, unchanged; floor `git status`", Time(median(&unchanged)))
            .floor(Time(median(&status)))
            .aim(ms(20)),
        Figure::new(
            "checkpoint of 10,000 files, one changed; floor `git add` and `git commit`",
            Time(median(&changed)),
        )
        .floor(Time(median(&committed)))
        .aim(ms(60)),
    ]
}

fn tools(folder: &Path) -> Tools {
    let at = |name: &str| folder.join(name);
    let options = Options {
        helper: vec![program().into(), "tool-helper".into()],
        spool_dir: at("spool"),
        own_dirs: vec![at("spool"), at("kept")],
        home: at("home"),
        checkpoints: CheckpointFolders { kept: at("kept"), scratch: at("scratch") },
        hidden_dirs: Vec::new(),
        sandbox_dir: at("sandbox"),
        worktrees_dir: at("worktrees"),
    };
    Tools::new(options).expect("the tools")
}

fn fill(work_tree: &Path) {
    for folder in 0..FOLDERS {
        let path = work_tree.join(format!("d{folder}"));
        fs::create_dir_all(&path).expect("a folder");
        for file in 0..FILES {
            let content = format!("{folder} {file}\n{}", "x".repeat(500));
            fs::write(path.join(format!("f{file}")), content).expect("a file");
        }
    }
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        git(work_tree, arguments);
    }
}

/// Runs git in the work tree, with its hooks off.
pub(crate) fn git(work_tree: &Path, arguments: &[&str]) -> Duration {
    let folder = work_tree.to_str().expect("a path");
    let who = [
        "-C",
        folder,
        "-c",
        "user.name=P",
        "-c",
        "user.email=p@localhost",
        "-c",
        "commit.gpgSign=false",
        "-c",
        "core.hooksPath=/dev/null",
    ];
    floor::process(&PathBuf::from("git"), &[&who[..], arguments].concat())
}
