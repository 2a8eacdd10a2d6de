//! A task's output at a terminal.

use abide_tests::{
    model_server::{Gate, Turn},
    skip::skip,
    terminal::Terminal,
    wait,
    world::World,
};
use serde_json::json;

const MARKDOWN: &str = "# Title\n\nSome **bold** words and a long line that has to be wrapped somewhere, ";

/// Prints three lines; the third only when a file exists.
const COMMAND: &str =
    "printf 'line-%s\n' 1 2; until [ -e go ]; do sleep 0.05; done; printf 'line-%s\n' 3; exit 3";

/// Streams Markdown up to the gate, then runs the command.
fn script(gate: &Gate) -> [Turn; 2] {
    let first =
        Turn::say(MARKDOWN).gate(gate).text("that ends.\n").call("shell", json!({ "command": COMMAND }));
    [first, Turn::done("All **done**.")]
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[tokio::test]
async fn markdown_is_rendered_and_status_lines_are_replaced_by_results() {
    if !Terminal::exists().await {
        return skip(
            "markdown_is_rendered_and_status_lines_are_replaced_by_results",
            "tmux is not installed",
        );
    }
    let world = World::start().await;
    let gate = Gate::new("the rest of the words");
    world.model.script("look", script(&gate));
    let terminal = Terminal::sized(&world.daemon, "abide run --yes '[k:look]'", 80, 24).await;
    let screen = terminal.shows("Some bold words").await;
    assert!(screen.contains("Title\n\nSome bold words") && !screen.contains("**"), "{screen}");
    terminal.shows("thinking").await;
    // The resize has broken the lines at the bottom into more lines.
    terminal.resize(40, 12).await;
    gate.open();
    terminal.shows("line-2").await;
    terminal.shows("runs shell").await;
    std::fs::write(world.daemon.workspace().join("go"), "").unwrap();
    // The call's line is broken before it.
    terminal.shows("\n  code 3 (").await;
    assert_eq!(terminal.ended().await, 0);
    let screen = terminal.screen().await;
    for part in ["Title", "Some bold words", "that ends.", "line-1", "line-2", "line-3", "All done."] {
        assert_eq!(count(&screen, part), 1, "{part} is there once:\n{screen}");
    }
    assert!(screen.contains("Title\n\nSome bold words"), "no row is left of what was broken:\n{screen}");
    for gone in ["thinking", "runs shell", "**", "# "] {
        assert_eq!(count(&screen, gone), 0, "{gone} is gone:\n{screen}");
    }
    let styled = terminal.styled_screen().await;
    assert!(styled.contains("\u{1b}[1mbold\u{1b}["), "{styled:?}");
}

#[tokio::test]
async fn without_colours_the_output_is_plain_text() {
    if !Terminal::exists().await {
        return skip("without_colours_the_output_is_plain_text", "tmux is not installed");
    }
    let world = World::start().await;
    for (key, setting) in [("none", "NO_COLOR=1"), ("dumb", "TERM=dumb")] {
        world.model.script(key, [Turn::say("# Title\n\nSome **bold** words."), Turn::done("Done.")]);
        let command = format!("{setting} abide run --yes '[k:{key}]'");
        let terminal = Terminal::sized(&world.daemon, &command, 80, 24).await;
        assert_eq!(terminal.ended().await, 0);
        let styled = terminal.styled_screen().await;
        assert!(styled.contains("# Title\n\nSome **bold** words.\n"), "{styled:?}");
        assert!(!styled.contains('\u{1b}'), "{styled:?}");
    }
}

#[tokio::test]
async fn messages_shown_at_a_terminal_are_marked_read() {
    if !Terminal::exists().await {
        return skip("messages_shown_at_a_terminal_are_marked_read", "tmux is not installed");
    }
    let world = World::start().await;
    let cli = world.daemon.cli();
    let unread = async || cli.json(&["conversations"]).await[0]["unread"].clone();
    world.model.script("file", [Turn::done("Done.")]);
    cli.ok(&["run", "--yes", "[k:file]"]).await;
    assert_eq!(unread().await, 1, "nobody saw the summary that went to a file");
    let conversation = cli.json(&["conversations"]).await[0]["id"].as_str().unwrap().to_owned();
    let terminal = Terminal::run(&world.daemon, &format!("abide messages {conversation}")).await;
    assert_eq!(terminal.ended().await, 0);
    assert_eq!(unread().await, 0);
    drop(terminal);
    world.model.script("seen", [Turn::say("Hello."), Turn::done("Done.")]);
    let terminal = Terminal::run(&world.daemon, "abide run --yes '[k:seen]'").await;
    assert_eq!(terminal.ended().await, 0);
    assert_eq!(unread().await, 0);
    drop(terminal);
    world.model.script("asked", [Turn::ask("Red or blue?"), Turn::done("Done.")]);
    let terminal = Terminal::run(&world.daemon, "abide run --yes '[k:asked]'").await;
    terminal.shows("answer (Ctrl-D declines)").await;
    assert_eq!(unread().await, 0, "what stands above an open prompt was seen");
}

#[tokio::test]
async fn a_list_of_tasks_stays_up_to_date_while_the_daemon_dies() {
    if !Terminal::exists().await {
        return skip("a_list_of_tasks_stays_up_to_date_while_the_daemon_dies", "tmux is not installed");
    }
    let mut world = World::start().await;
    let terminal = Terminal::sized(&world.daemon, "abide ps --watch", 60, 12).await;
    terminal.shows("Nothing runs").await;
    let asking = world.run("asks", [Turn::ask("Which?"), Turn::done("Done.")]).await;
    terminal.shows("needs you: answer").await;
    world.daemon.kill();
    let cli = world.daemon.cli();
    wait::wait_for("the daemon to be started again", async || {
        (cli.run(&["daemon", "status"]).await.code == Some(0)).then_some(())
    })
    .await;
    cli.ok(&["answer", &asking.task_id.short(), "this"]).await;
    wait::wait_for("the list to be empty", async || {
        let screen = terminal.screen().await;
        (screen.contains("Nothing runs") && !screen.contains(&asking.task_id.short())).then_some(())
    })
    .await;
    terminal.press(&["C-c"]).await;
    assert_eq!(terminal.ended().await, 0);
    let screen = terminal.screen().await;
    assert_eq!(count(&screen, "Nothing runs"), 1, "it is drawn in place:\n{screen}");
    cli.ok(&["daemon", "stop"]).await;
}
