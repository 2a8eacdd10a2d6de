//! A rule wider than the very call, chosen at the prompt, and forgotten again.

use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    skip::skip,
    terminal::Terminal,
    world::World,
};

#[tokio::test]
async fn a_wider_rule_is_chosen_counts_for_the_next_command_and_is_forgotten() {
    if !Terminal::exists().await {
        return skip(
            "a_wider_rule_is_chosen_counts_for_the_next_command_and_is_forgotten",
            "tmux is not installed",
        );
    }
    let model = ModelServer::start().await;
    let config = Config::with(&model).policy("shell = \"ask\"");
    let world = World::configured(model, &config).await;
    let script = || [Turn::shell("ls -l"), Turn::shell("ls -a"), Turn::done("Both are listed.")];
    world.model.script("first", script());
    let terminal = Terminal::run(&world.daemon, "abide run '[k:first]'").await;
    // Keys that are typed before the prompt is there are dropped.
    let screen = terminal.shows("d detach:").await;
    assert!(screen.contains("shell(ls *)"), "{screen}");
    let is_wider = |line: &&str| line.contains("shell(ls *)");
    let number = screen.lines().find(is_wider).and_then(|line| line.split_whitespace().next());
    terminal.press(&["A"]).await;
    terminal.shows("remember which?").await;
    terminal.press(&["9", "Enter"]).await;
    terminal.shows("type the number of a rule").await;
    // The prompt is shown again; before that, Enter would begin another line.
    terminal.shows_times("remember which?", 2).await;
    // Back to the approval, which is not decided yet.
    terminal.press(&["n", "Enter"]).await;
    terminal.shows_times("d detach:", 2).await;
    terminal.press(&["A"]).await;
    terminal.shows_times("remember which?", 3).await;
    terminal.press(&[number.expect("its number"), "Enter"]).await;
    let screen = terminal.shows("Both are listed.").await;
    assert_eq!(screen.matches("Approve shell").count(), 1, "the second command does not ask: {screen}");
    assert_eq!(terminal.ended().await, 0);

    let cli = world.daemon.cli();
    let listed = cli.json(&["rules"]).await;
    let id = listed["rules"][0]["id"].as_str().expect("one rule").to_owned();
    assert!(cli.ok(&["rules", "forget", &id]).await.contains("shell(ls *)"));
    world.model.script("again", script());
    let terminal = Terminal::run(&world.daemon, "abide run '[k:again]'").await;
    terminal.shows("Approve shell").await;
}
