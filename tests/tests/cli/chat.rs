//! `abide chat` in a real terminal.

use abide_client::protocol::{
    message::Role,
    method::{ListConversations, ListTasks, conversation::ListConversationsParams, task::ListTasksParams},
    task::{EndReason, Mode, Status},
};
use abide_tests::{
    model_server::{Gate, Turn},
    skip::skip,
    terminal::Terminal,
    wait,
    world::World,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt as _};

/// Ctrl-C reaches the shell of the test's terminal too, which must go on.
const CHAT: &str = "trap : INT; abide chat";
/// A prompt on a line of its own.
const PROMPT: &str = "\n>";

/// The person's messages in the conversation that began with this key.
async fn said(world: &World, key: &str) -> Vec<String> {
    let listed = world.client.call::<ListConversations>(ListConversationsParams::default()).await.unwrap();
    let conversation = listed.conversations.iter().find(|c| c.title.contains(&format!("[k:{key}]"))).unwrap();
    let (messages, _) = world.messages(conversation.id).await;
    messages.into_iter().filter(|m| m.role == Role::User).map(|m| m.text).collect()
}

#[tokio::test]
async fn a_line_is_edited_a_paste_is_one_message_and_commands_are_not_sent() {
    if !Terminal::exists().await {
        return skip("a_line_is_edited", "tmux is not installed");
    }
    let world = World::start().await;
    world.model.script("chat", [Turn::say("Reply one."), Turn::say("Reply two."), Turn::say("Reply three.")]);
    world.model.script("other", [Turn::done("Reply four.")]);
    let terminal = Terminal::run(&world.daemon, "abide chat").await;
    terminal.shows(PROMPT).await;
    terminal.type_text("[k:chat] helo").await;
    terminal.press(&["Left"]).await;
    terminal.type_text("l").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply one.\n\n>").await;
    terminal.paste("a\n/help\nb").await;
    terminal.shows("\nb").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply two.\n\n>").await;
    for (command, answer) in [
        ("/nope", "there is no command /nope; commands: /help /model"),
        ("/help", "/model [PROVIDER/MODEL]"),
        ("/mode agent", "mode: agent"),
    ] {
        terminal.type_text(command).await;
        terminal.press(&["Enter"]).await;
        terminal.shows(answer).await;
    }
    let listed = world.client.call::<ListConversations>(ListConversationsParams::default()).await.unwrap();
    assert_eq!(listed.conversations[0].mode, Some(Mode::Agent));
    terminal.type_text("/mode chat").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("mode: chat").await;
    terminal.type_text("c").await;
    terminal.press(&["M-Enter"]).await;
    terminal.type_text("d\\").await;
    terminal.press(&["Enter"]).await;
    terminal.type_text("/e").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply three.\n\n>").await;
    assert_eq!(said(&world, "chat").await, ["[k:chat] hello", "a\n/help\nb", "c\nd\n/e"]);

    // Completed to `/mode agent`.
    terminal.type_text("/mode ag").await;
    terminal.press(&["Tab", "Enter"]).await;
    terminal.type_text("/new").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("begins a new conversation").await;
    terminal.type_text("[k:other] hi").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply four.\n\n>").await;
    let listed = world.client.call::<ListConversations>(ListConversationsParams::default()).await.unwrap();
    let modes: Vec<_> = listed.conversations.iter().map(|c| c.mode).collect();
    assert_eq!(modes, [Some(Mode::Agent), Some(Mode::Agent)], "the mode goes on into the new conversation");
    terminal.press(&["C-d"]).await;
    assert_eq!(terminal.ended().await, 0);
    world.model.assert_no_violations();
}

#[tokio::test]
async fn what_is_typed_while_the_agent_works_is_said_to_it() {
    if !Terminal::exists().await {
        return skip("what_is_typed_while_the_agent_works_is_said_to_it", "tmux is not installed");
    }
    let world = World::start().await;
    let waits = Turn::shell("until test -e go-on; do sleep 0.05; done");
    world.model.script("chat", [waits, Turn::done("All is done.")]);
    let terminal = Terminal::run(&world.daemon, "abide chat --mode agent --yes").await;
    terminal.shows(PROMPT).await;
    terminal.type_text("[k:chat] go").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("runs shell").await;
    terminal.type_text("mind the docs, too").await;
    terminal.shows("> mind the docs, too").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("said; the agent reads it before its next request").await;
    // A command alone would end the task.
    terminal.type_text("delete").await;
    terminal.press(&["Enter"]).await;
    terminal.shows_times("said; the agent reads it", 2).await;
    terminal.type_text("/cost").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("the conversation: ").await;
    terminal.type_text("!touch go-on").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("All is done.\n\n>").await;
    let heard = world.model.last_request("chat").unwrap().text();
    assert!(heard.contains("mind the docs, too") && heard.contains("“delete”"), "{heard}");
    assert!(!heard.contains("touch go-on"), "what the person runs is not sent: {heard}");
    terminal.press(&["C-d"]).await;
    assert_eq!(terminal.ended().await, 0);
    world.model.assert_no_violations();
}

#[tokio::test]
async fn lines_of_an_unmarked_paste_are_one_message() {
    if !Terminal::exists().await {
        return skip("lines_of_an_unmarked_paste_are_one_message", "tmux is not installed");
    }
    let world = World::start().await;
    world.model.script("chat", [Turn::say("Reply one."), Turn::say("Reply two.")]);
    let lines: Vec<String> = (1..=40).map(|n| format!("{n} of forty lines that came at once")).collect();
    let text = format!("[k:chat] {}", lines.join("\n"));
    let terminal = Terminal::run(&world.daemon, "abide chat").await;
    terminal.shows(PROMPT).await;
    terminal.paste_unmarked(&format!("{text}\n")).await;
    terminal.shows("Reply one.\n\n>").await;
    // Without the line editor, too.
    terminal.press(&["C-d"]).await;
    terminal.ended().await;
    let terminal = Terminal::run(&world.daemon, "TERM=dumb abide chat --continue").await;
    terminal.shows(PROMPT).await;
    terminal.paste_unmarked("one\ntwo\n").await;
    terminal.shows("Reply two.").await;
    assert_eq!(said(&world, "chat").await, [text, "one\ntwo".to_owned()]);
}

#[tokio::test]
async fn files_are_completed_and_a_command_of_the_persons_own_is_run() {
    if !Terminal::exists().await {
        return skip("files_are_completed", "tmux is not installed");
    }
    let world = World::start().await;
    world.model.script("chat", [Turn::say("Reply one.")]);
    fs::create_dir(world.daemon.workspace().join("deep")).unwrap();
    fs::write(world.daemon.workspace().join("deep/file.txt"), "").unwrap();
    let terminal = Terminal::run(&world.daemon, "abide chat").await;
    terminal.shows(PROMPT).await;
    terminal.type_text("!echo sum-$((20+22)); ls deep; exit 3").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("sum-42\nfile.txt\nexit code 3\n>").await;
    terminal.type_text("[k:chat] look at @de").await;
    terminal.press(&["Tab", "Tab"]).await;
    terminal.shows("@deep/file.txt").await;
    terminal.type_text("now").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply one.\n\n>").await;
    assert_eq!(said(&world, "chat").await, ["[k:chat] look at @deep/file.txt now"]);
}

#[tokio::test]
async fn a_chat_that_goes_on_shows_the_last_messages_and_takes_up_the_task_at_work() {
    if !Terminal::exists().await {
        return skip("a_chat_that_goes_on", "tmux is not installed");
    }
    let world = World::start().await;
    let waits = Turn::shell("until test -e go-on; do sleep 0.05; done");
    world.model.script("chat", [Turn::done("Reply one."), waits, Turn::done("All is done.")]);
    let cli = world.daemon.cli();
    cli.ok(&["run", "--mode", "agent", "[k:chat] hello"]).await;
    let terminal = Terminal::run(&world.daemon, "abide chat --continue").await;
    let screen = terminal.shows(PROMPT).await;
    assert!(screen.contains("[k:chat] hello\n") && screen.contains("Reply one.\n"), "{screen}");
    terminal.press(&["C-d"]).await;
    terminal.ended().await;

    cli.ok(&["run", "--continue", "--detach", "--yes", "--mode", "agent", "work"]).await;
    let terminal = Terminal::run(&world.daemon, "abide chat --continue").await;
    terminal.shows("works; what you type is said to it").await;
    terminal.shows("runs shell").await;
    terminal.type_text("hurry").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("said; the agent reads it").await;
    fs::write(world.daemon.workspace().join("go-on"), "").unwrap();
    terminal.shows("All is done.").await;
    assert!(world.model.last_request("chat").unwrap().text().contains("hurry"));
}

#[tokio::test]
async fn earlier_messages_are_offered_in_a_later_chat_unless_no_history() {
    if !Terminal::exists().await {
        return skip("earlier_messages_are_offered", "tmux is not installed");
    }
    let world = World::start().await;
    let replies = ["Reply one.", "Reply two.", "Reply three.", "Reply four."].map(Turn::say);
    world.model.script("chat", replies);
    let file = world.daemon.home().state_dir.join("chat-history");
    let terminal = Terminal::run(&world.daemon, "abide chat --no-history").await;
    terminal.shows(PROMPT).await;
    terminal.type_text("[k:chat] in private").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply one.\n\n>").await;
    terminal.press(&["C-d"]).await;
    terminal.ended().await;
    assert!(!file.exists());

    let terminal = Terminal::run(&world.daemon, "abide chat --continue").await;
    terminal.shows(PROMPT).await;
    terminal.paste("kept\nlines").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply two.\n\n>").await;
    terminal.press(&["C-d"]).await;
    terminal.ended().await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "\"kept\\nlines\"\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let terminal = Terminal::run(&world.daemon, "abide chat --continue").await;
    terminal.shows(PROMPT).await;
    terminal.press(&["Up", "Enter"]).await;
    terminal.shows("Reply three.\n\n>").await;
    terminal.press(&["C-r"]).await;
    terminal.type_text("kept").await;
    terminal.shows("(reverse-i-search)`kept'").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply four.").await;
    assert_eq!(
        said(&world, "chat").await,
        ["[k:chat] in private", "kept\nlines", "kept\nlines", "kept\nlines"]
    );
}

#[tokio::test]
async fn ctrl_c_stops_the_reply_clears_a_line_and_twice_leaves() {
    if !Terminal::exists().await {
        return skip("ctrl_c_stops_the_reply", "tmux is not installed");
    }
    let world = World::start().await;
    let gate = Gate::new("the rest of a reply");
    world.model.script("chat", [Turn::say("Begun").gate(&gate).text(" and ended"), Turn::say("Reply two.")]);
    let terminal = Terminal::run(&world.daemon, CHAT).await;
    terminal.shows(PROMPT).await;
    terminal.type_text("[k:chat] go").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Begun").await;
    terminal.press(&["C-c"]).await;
    terminal.shows("stopped ·").await;
    let tasks = ListTasksParams { all: true, ..ListTasksParams::default() };
    let tasks = world.client.call::<ListTasks>(tasks).await.unwrap().tasks;
    assert_eq!((tasks[0].status, tasks[0].end_reason), (Status::Cancelled, Some(EndReason::Stopped)));

    terminal.type_text("half").await;
    terminal.shows("> half").await;
    terminal.press(&["C-c"]).await;
    terminal.type_text("whole").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("Reply two.\n\n>").await;
    assert_eq!(said(&world, "chat").await, ["[k:chat] go", "whole"]);
    terminal.press(&["C-c"]).await;
    terminal.shows("Ctrl-C again (or Ctrl-D) leaves\n>").await;
    terminal.press(&["C-c"]).await;
    assert_eq!(terminal.ended().await, 0);
}

#[tokio::test]
async fn a_question_is_answered_with_arrow_keys_or_settled_elsewhere() {
    if !Terminal::exists().await {
        return skip("a_question_is_answered_with_arrow_keys", "tmux is not installed");
    }
    let world = World::start().await;
    let script = [Turn::ask("Who goes?"), Turn::ask("Which colour?"), Turn::done("All is done.")];
    world.model.script("chat", script);
    let terminal = Terminal::run(&world.daemon, "abide chat --mode agent").await;
    terminal.shows(PROMPT).await;
    terminal.type_text("[k:chat] ask me").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("declines):").await;
    let inbox = world.daemon.cli().json(&["inbox"]).await;
    let task = inbox[0]["taskId"].as_str().expect("a task").to_owned();
    world.daemon.cli().ok(&["answer", &task, "the others"]).await;
    wait::wait_seeing("the prompt of the next question", async || {
        let screen = terminal.screen().await;
        let is_shown =
            screen.split_once("Which colour?").is_some_and(|(_, rest)| rest.contains("declines):"));
        if is_shown { Ok(()) } else { Err(screen) }
    })
    .await;
    terminal.type_text("ble").await;
    terminal.press(&["Left"]).await;
    terminal.type_text("u").await;
    terminal.press(&["Enter"]).await;
    terminal.shows("All is done.").await;
    let answered = world.model.last_request("chat").unwrap().text();
    assert!(answered.contains("the others") && answered.contains("blue"), "{answered}");
    assert!(terminal.screen().await.contains("settled elsewhere"));
}

#[tokio::test]
async fn a_prompt_in_which_something_is_typed_is_withdrawn_when_another_client_settles_it() {
    if !Terminal::exists().await {
        return skip("a_prompt_in_which_something_is_typed_is_withdrawn", "tmux is not installed");
    }
    let world = World::start().await;
    let outside =
        Turn::new().call("shell", json!({ "command": "true", "outside": true, "reason": "Why not?" }));
    world.model.script("run", [Turn::ask("Who goes?"), outside, Turn::done("All is done.")]);
    let terminal = Terminal::run(&world.daemon, "abide run '[k:run] go'").await;
    terminal.shows("declines):").await;
    terminal.type_text("the wrong one").await;
    terminal.shows("declines): the wrong one").await;
    // It waits for the rest of a longer key then.
    terminal.press(&["Escape"]).await;
    let cli = world.daemon.cli();
    let inbox = cli.json(&["inbox"]).await;
    let task = inbox[0]["taskId"].as_str().expect("a task").to_owned();
    cli.ok(&["answer", &task, "the others"]).await;
    terminal.shows("settled elsewhere; not sent: the wrong one").await;
    // The label of the prompt: what is typed before it is dropped.
    terminal.shows("then Enter:").await;
    terminal.type_text("n").await;
    terminal.shows("then Enter: n").await;
    cli.ok(&["approve", &task]).await;
    terminal.shows("settled elsewhere; not sent: n").await;
    // Nobody presses Enter.
    assert_eq!(terminal.ended().await, 0);
    let screen = terminal.screen().await;
    assert!(screen.contains("All is done.") && !screen.contains("why?"), "{screen}");
}

#[tokio::test]
async fn a_chat_that_gets_sigterm_restores_the_terminal() {
    if !Terminal::exists().await {
        return skip("a_chat_that_gets_sigterm", "tmux is not installed");
    }
    let world = World::start().await;
    let command = "sh -c 'echo pid=$$; exec abide chat'; echo code=$?; stty -a; true";
    let terminal = Terminal::run(&world.daemon, command).await;
    let screen = terminal.shows(PROMPT).await;
    terminal.type_text("being typed").await;
    terminal.shows("> being typed").await;
    let pid = screen.split_once("pid=").and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
    let pid = pid.and_then(Pid::from_raw).expect("the shell says its number");
    kill_process(pid, Signal::TERM).unwrap();
    terminal.ended().await;
    let screen = terminal.screen().await;
    assert!(screen.contains("code=143"), "{screen}");
    let modes: Vec<_> = screen.split_whitespace().collect();
    for mode in ["icanon", "echo", "isig", "icrnl"] {
        assert!(modes.contains(&mode), "no {mode} in:\n{screen}");
    }
}

#[tokio::test]
async fn from_a_pipe_each_line_is_a_message() {
    let world = World::start().await;
    world.model.script("pipe", [Turn::say("Reply one."), Turn::say("Reply two."), Turn::say("never")]);
    let cli = world.daemon.cli();
    let chat = cli.run_with_input(&["chat"], "[k:pipe] one\n\n/help\n/exit\nthree\n").await;
    assert_eq!((chat.code, chat.stdout.as_str()), (Some(0), "Reply one.\nReply two.\n"), "{chat:?}");
    assert_eq!(said(&world, "pipe").await, ["[k:pipe] one", "/help"]);
    assert!(!world.daemon.home().state_dir.join("chat-history").exists());
}
