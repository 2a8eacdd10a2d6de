//! `abide demo` in a real terminal, from an empty home to its end, answered and approved with keys.

use abide_tests::{
    daemon::{Config, TestDaemon},
    skip::skip,
    terminal::Terminal,
};

const PROMPT: &str = "y allow once";

/// A home in which nothing was ever started.
fn empty_home() -> TestDaemon {
    let daemon = TestDaemon::new(&Config::new());
    std::fs::remove_dir_all(daemon.abide_home()).expect("the home can be emptied");
    daemon
}

/// The file that the demo wrote in its scratch folder.
async fn greeting(daemon: &TestDaemon) -> String {
    let tasks = daemon.cli().json(&["ps", "--all"]).await;
    let whole = daemon.cli().json(&["show", tasks[0]["id"].as_str().expect("a task")]).await;
    let workspace = whole["workspace"].as_str().expect("a workspace").to_owned();
    std::fs::read_to_string(format!("{workspace}/greeting.md")).expect("the demo writes a file")
}

#[tokio::test]
async fn the_demo_runs_from_an_empty_home_to_its_end_by_keys() {
    if !Terminal::exists().await {
        return skip("the_demo_runs_from_an_empty_home_to_its_end_by_keys", "tmux is not installed");
    }
    let daemon = empty_home();
    let terminal = Terminal::run(&daemon, "abide demo").await;
    terminal.shows("a script, not a model").await;
    terminal.shows("answer or number").await;
    terminal.press(&["2", "Enter"]).await;
    let screen = terminal.shows(PROMPT).await;
    assert!(screen.contains("asks:    it leaves the sandbox"), "the approval says why it asks:\n{screen}");
    terminal.press(&["y", "Enter"]).await;
    let screen = terminal.shows("The scripted demo is over").await;
    assert!(screen.contains("asked before it left its sandbox"), "{screen}");
    assert_eq!(terminal.ended().await, 0);
    assert!(greeting(&daemon).await.starts_with("# Hello, the night shift!"));
    daemon.cli().ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn the_demo_goes_on_when_its_terminal_is_closed() {
    if !Terminal::exists().await {
        return skip("the_demo_goes_on_when_its_terminal_is_closed", "tmux is not installed");
    }
    let daemon = empty_home();
    let terminal = Terminal::run(&daemon, "abide demo").await;
    terminal.shows("answer or number").await;
    drop(terminal);
    let open = daemon.cli().json(&["inbox"]).await;
    let task =
        open[0]["taskId"].as_str().unwrap_or_else(|| panic!("the question is still open: {open}")).to_owned();
    let terminal = Terminal::run(&daemon, &format!("abide watch {task}")).await;
    terminal.shows("answer or number").await;
    terminal.type_text("the moon").await;
    terminal.press(&["Enter"]).await;
    terminal.shows(PROMPT).await;
    terminal.press(&["n", "Enter"]).await;
    terminal.shows("why?").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("asked before it left its sandbox").await;
    assert_eq!(terminal.ended().await, 0);
    daemon.cli().ok(&["daemon", "stop"]).await;
}

async fn demo_by_itself(mode: &str) {
    let daemon = empty_home();
    let demo = daemon.cli().run(&["demo", "--mode", mode]).await;
    assert_eq!(demo.code, Some(0), "{mode}: {demo:?}");
    assert!(demo.stderr.contains("by itself"), "{mode}: {demo:?}");
    assert!(demo.stdout.contains("a script, not a model"), "{mode}: {demo:?}");
    assert!(!demo.stdout.contains('\u{1b}'), "{mode}: {demo:?}");
    let greeting = greeting(&daemon).await;
    assert!(greeting.starts_with("# Hello, the world!"), "{mode}: {greeting}");
    daemon.cli().ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn without_a_terminal_the_demo_answers_and_approves_by_itself() {
    tokio::join!(demo_by_itself("roa"), demo_by_itself("plan"));
}

/// Three sub-tasks: one is answered and allowed, one is corrected from another terminal, and the sum has what
/// all three report.
#[tokio::test]
async fn the_demo_of_tree_is_answered_and_corrected_while_three_work() {
    if !Terminal::exists().await {
        return skip("the_demo_of_tree_is_answered_and_corrected_while_three_work", "tmux is not installed");
    }
    let daemon = empty_home();
    let terminal = Terminal::run(&daemon, "abide demo --mode tree").await;
    let screen = terminal.shows("answer or number").await;
    assert!(screen.contains("Part 2: ask the user"), "the sub-task that asks is named:\n{screen}");
    let tree = daemon.cli().json(&["tree"]).await;
    let agents = tree.as_object().expect("the live tasks");
    let third = agents
        .values()
        .find(|agent| agent["title"].as_str().is_some_and(|title| title.starts_with("Part 3")));
    let third = third.unwrap_or_else(|| panic!("the third is at work: {tree}"))["task"]["id"].clone();
    daemon.cli().ok(&["intervene", third.as_str().expect("an id"), "--comment", "Good night."]).await;
    terminal.press(&["2", "Enter"]).await;
    terminal.shows(PROMPT).await;
    terminal.press(&["y", "Enter"]).await;
    let screen = terminal.shows("completed · 1 step").await;
    for report in [
        "The workspace has been looked at.",
        "greeting.md greets the night shift.",
        "As you corrected it: Good night.",
    ] {
        assert!(screen.contains(report), "{screen}");
    }
    assert!(
        screen.contains("My own part is small: I wait for the three."),
        "no prompt cuts a reply:\n{screen}"
    );
    assert_eq!(terminal.ended().await, 0);
    assert!(greeting(&daemon).await.starts_with("# Hello, the night shift!"));
    daemon.cli().ok(&["daemon", "stop"]).await;
}
