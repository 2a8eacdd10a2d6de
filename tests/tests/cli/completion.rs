//! Completion in a shell.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    skip::skip,
    terminal::Terminal,
    world::World,
};

/// The completions that zsh gets for the last of these words.
async fn offered(daemon: &TestDaemon, words: &[&str]) -> String {
    let index = (words.len() - 1).to_string();
    let cli =
        daemon.cli().env("_ABIDE_COMPLETE", "zsh").env("_CLAP_COMPLETE_INDEX", &index).env("_CLAP_IFS", "\n");
    let output = cli.run(&[&["--"], words].concat()).await;
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    output.stdout
}

#[tokio::test]
async fn ids_and_models_are_offered_with_descriptions() {
    let world = World::start().await;
    let task = world.run_asking("tab", [Turn::ask("Red or blue?")]).await;
    world.wait("the question", task, |t| !t.pending.is_empty()).await;
    let (id, conversation) = (task.task_id.short(), task.conversation_id.short());
    let daemon = &world.daemon;
    for verb in ["show", "stop", "watch", "messages"] {
        let lines = offered(daemon, &["abide", verb, ""]).await;
        assert!(lines.contains(&format!("{id}:needs you")) && lines.contains("[k:tab]"), "{verb}: {lines}");
    }
    let lines = offered(daemon, &["abide", "conversations", "delete", ""]).await;
    assert!(lines.contains(&format!("{conversation}:")), "{lines}");
    assert!(offered(daemon, &["abide", "answer", ""]).await.contains(":Red or blue?"));
    assert!(!offered(daemon, &["abide", "approve", ""]).await.contains("Red or blue?"));
    assert!(offered(daemon, &["abide", "run", "--model", "te"]).await.contains("test/scripted-1"));
    assert!(offered(daemon, &["abide", "run", "--persona", "rev"]).await.contains("reviewer:Reviews code"));
    let tools = offered(daemon, &["abide", "run", "--tools", "read,li"]).await;
    assert!(tools.contains("read,list"), "{tools}");
    let whole = task.task_id.to_string();
    assert!(offered(daemon, &["abide", "show", &whole[..30]]).await.contains(&whole));
}

#[tokio::test]
async fn without_a_daemon_nothing_is_offered_and_none_is_started() {
    let daemon = TestDaemon::new(&Config::new());
    let lines = offered(&daemon, &["abide", "stop", ""]).await;
    assert!(lines.lines().all(|line| line.starts_with("--") || line.is_empty()), "{lines}");
    assert!(!daemon.home().lock_file().exists());
}

#[tokio::test]
async fn bash_is_offered_the_id_of_a_task() {
    if !Terminal::exists().await {
        return skip("bash_is_offered_the_id_of_a_task", "tmux is not installed");
    }
    let world = World::start().await;
    let task = world.run_asking("tab", [Turn::ask("Red or blue?")]).await;
    world.wait("the question", task, |t| !t.pending.is_empty()).await;
    let script = "source <(abide completions bash); COMP_WORDS=(abide stop \"\"); COMP_CWORD=2; COMP_TYPE=9; \
                  _clap_complete_abide abide \"\" stop; echo \"reply: ${COMPREPLY[*]}\"";
    let terminal = Terminal::run(&world.daemon, &format!("bash --norc -c '{script}'")).await;
    terminal.shows(&format!("reply: {}", task.task_id.short())).await;
}
