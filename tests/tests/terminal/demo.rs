//! `abide demo` in a real terminal, from an empty home to its end, answered and approved by keys.

use abide_tests::{
    daemon::{Config, TestDaemon},
    skip::skip,
    terminal::Terminal,
};

#[tokio::test]
async fn from_an_empty_home_to_the_end_by_keys() {
    if !Terminal::exists().await {
        return skip("from_an_empty_home_to_the_end_by_keys", "tmux is not installed");
    }
    let daemon = TestDaemon::new(&Config::new());
    std::fs::remove_dir_all(daemon.abide_home()).expect("the home can be emptied");
    let terminal = Terminal::run(&daemon, "abide demo").await;
    let screen = terminal.shows("scripted").await;
    assert!(!screen.contains('\u{1b}'), "{screen}");
    terminal.shows("?").await;
    panic!("to be written against the real demo:\n{}", terminal.screen().await);
}
