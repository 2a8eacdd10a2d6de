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
    assert!(
        screen.contains("+# Hello, the night shift!"),
        "the approval shows what would be written:\n{screen}"
    );
    terminal.press(&["y"]).await;
    let screen = terminal.shows("The scripted demo is over").await;
    assert!(screen.contains("with your approval"), "{screen}");
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
    terminal.press(&["n"]).await;
    terminal.shows("why?").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Nothing was written").await;
    assert_eq!(terminal.ended().await, 0);
    daemon.cli().ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn without_a_terminal_the_demo_answers_and_approves_by_itself() {
    let daemon = empty_home();
    let demo = daemon.cli().run(&["demo"]).await;
    assert_eq!(demo.code, Some(0), "{demo:?}");
    assert!(demo.stderr.contains("by itself"), "{demo:?}");
    assert!(demo.stdout.contains("a script, not a model") && !demo.stdout.contains('\u{1b}'), "{demo:?}");
    assert!(greeting(&daemon).await.starts_with("# Hello, the world!"));
    daemon.cli().ok(&["daemon", "stop"]).await;
}
