//! What is typed decides nothing that the person has not read, and high risk takes more than a key.

use abide_client::protocol::task::Status;
use abide_tests::{model_server::Turn, skip::skip, terminal::Terminal, wait, world::World};
use serde_json::json;

#[tokio::test]
async fn a_high_risk_is_approved_by_a_whole_word_only() {
    if !Terminal::exists().await {
        return skip("a_high_risk_is_approved_by_a_whole_word_only", "tmux is not installed");
    }
    let world = World::start().await;
    let witness = world.witness();
    let task = world.run_asking("risky", [Turn::shell(&witness.command("ran")), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let terminal = Terminal::run(&world.daemon, &format!("abide watch {}", task.task_id)).await;
    let prompt = "high risk: write yes";
    let screen = terminal.shows(prompt).await;
    assert!(screen.contains("Approve shell, high risk?"), "{screen}");
    // What is typed before a prompt is shown decides nothing at it.
    for (times, keys) in [(2, &["y", "Enter"][..]), (3, &["a", "Enter"]), (4, &["Enter"])] {
        terminal.press(keys).await;
        terminal.shows_times(prompt, times).await;
    }
    terminal.shows("whole word").await;
    assert_eq!(world.inbox().await.len(), 1, "nothing is decided");
    assert_eq!(witness.count("ran"), 0);
    terminal.type_text("yes").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("allowed").await;
    assert_eq!(terminal.ended().await, 0);
    assert_eq!(witness.count("ran"), 1);
}

/// Some people finish every answer with Enter; it comes in one piece with the key.
#[tokio::test]
async fn a_key_with_enter_counts_once_the_prompt_is_there() {
    if !Terminal::exists().await {
        return skip("a_key_with_enter_counts_once_the_prompt_is_there", "tmux is not installed");
    }
    let world = World::start().await;
    let task = world.run_asking("low", [Turn::shell("ls"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let terminal = Terminal::run(&world.daemon, &format!("abide watch {}", task.task_id)).await;
    terminal.shows("y allow once · A always · n reject · d detach:").await;
    terminal.type_text("y\r").await;
    terminal.shows("allowed").await;
    assert_eq!(terminal.ended().await, 0);
}

/// What is below the screen may be anything.
#[tokio::test]
async fn what_is_not_shown_is_viewed_or_approved_by_a_word() {
    if !Terminal::exists().await {
        return skip("what_is_not_shown_is_viewed_or_approved_by_a_word", "tmux is not installed");
    }
    let world = World::start().await;
    let lines: Vec<String> = (1..=400).map(|n| format!("echo line {n}")).collect();
    let long = || {
        let command = format!("{}\n{}", lines.join("\n"), "touch ran");
        Turn::new().call("shell", json!({ "command": command, "outside": true, "reason": "Why not?" }))
    };
    let task = world.run_asking("long", [long(), long(), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let watch = format!("PAGER=cat abide watch {}", task.task_id);
    let terminal = Terminal::sized(&world.daemon, &watch, 80, 24).await;
    let prompt = "not all is shown (v views): write yes";
    let screen = terminal.shows(prompt).await;
    assert!(screen.contains("Approve shell") && screen.contains("more lines: v views"), "{screen}");
    assert!(screen.contains("sandbox:") && !screen.contains("touch ran"), "{screen}");
    terminal.press(&["y", "Enter"]).await;
    terminal.shows("takes a whole word").await;
    assert_eq!(world.inbox().await.len(), 1, "nothing is decided");
    terminal.shows_times(prompt, 2).await;
    terminal.type_text("yes").await;
    terminal.press(&["Enter"]).await;
    terminal.shows_times(prompt, 3).await;
    terminal.press(&["v", "Enter"]).await;
    terminal.shows("touch ran").await;
    // All of it was shown.
    terminal.shows("high risk: write yes").await;
    terminal.type_text("yes").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Done.").await;
    assert_eq!(terminal.ended().await, 0);
}

#[tokio::test]
async fn what_waits_in_a_task_is_shown_and_allowed_by_one_word() {
    if !Terminal::exists().await {
        return skip("what_waits_in_a_task_is_shown_and_allowed_by_one_word", "tmux is not installed");
    }
    let world = World::start().await;
    let witness = world.witness();
    let long = format!("{}\n{}", "echo more\n".repeat(200), witness.command("long"));
    let both = Turn::shell(&witness.command("short")).call("shell", json!({ "command": long }));
    let task = world.run_asking("both", [both, Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    wait::wait_until("both approvals", async || world.inbox().await.len() == 2).await;
    let without = world.daemon.cli().run(&["approve", "last", "--all-shown"]).await;
    assert!(without.code == Some(2) && without.stderr.contains("no terminal to ask on"), "{without:?}");
    let terminal = Terminal::run(&world.daemon, "abide approve last --all-shown").await;
    terminal.shows("Enter leaves it out").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("left out, and still waits").await;
    terminal.shows("write yes to allow the 1 call shown whole").await;
    assert_eq!(witness.count("short"), 0);
    terminal.type_text("yes").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("allowed: ").await;
    assert_eq!(terminal.ended().await, 0);
    assert_eq!(witness.count("long"), 0, "what was not shown is not allowed");
}

/// Somebody who writes the next message has not read the question.
#[tokio::test]
async fn what_is_typed_before_a_question_does_not_answer_it() {
    if !Terminal::exists().await {
        return skip("what_is_typed_before_a_question_does_not_answer_it", "tmux is not installed");
    }
    let world = World::start().await;
    let turns = [
        Turn::shell("until test -e go-on; do sleep 0.05; done"),
        Turn::ask("Delete it?"),
        Turn::done("Done."),
    ];
    let task = world.run("asks", turns).await;
    world.wait_status(task, Status::ToolExecuting).await;
    let terminal = Terminal::run(&world.daemon, &format!("abide watch {}", task.task_id)).await;
    terminal.shows("go-on").await;
    terminal.type_text("yes but later").await;
    std::fs::write(world.daemon.workspace().join("go-on"), "").expect("the workspace can be written");
    terminal.shows("not used: yes but later").await;
    terminal.shows("Ctrl-D declines").await;
    assert_eq!(world.inbox().await.len(), 1);
    terminal.type_text("no").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("answered: no").await;
    assert_eq!(terminal.ended().await, 0);
}

/// The id of a task, as it stands in a shell's history, names whatever waits there now.
#[tokio::test]
async fn the_id_of_a_task_approves_no_high_risk_that_was_not_shown() {
    if !Terminal::exists().await {
        return skip("the_id_of_a_task_approves_no_high_risk_that_was_not_shown", "tmux is not installed");
    }
    let world = World::start().await;
    let witness = world.witness();
    let task = world.run_asking("risky", [Turn::shell(&witness.command("ran")), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let again = format!("abide approve {}", task.task_id);
    for (word, words) in [("y", "nothing is decided"), ("yes", "allowed: ")] {
        let terminal = Terminal::run(&world.daemon, &again).await;
        let screen = terminal.shows("high risk: write yes").await;
        assert!(screen.contains("Approve shell, high risk?"), "{screen}");
        assert_eq!((world.inbox().await.len(), witness.count("ran")), (1, 0));
        terminal.type_text(word).await;
        terminal.press(&["Enter"]).await;
        terminal.shows(words).await;
    }
    world.wait_end(task).await;
    assert_eq!(witness.count("ran"), 1);
}
