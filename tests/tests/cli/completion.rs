//! Completion in a shell.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    skip::skip,
    terminal::Terminal,
    wait,
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

/// Waits until they contain all of this. Nothing is offered while the daemon does not answer at once, and a
/// person presses Tab again.
async fn offers(daemon: &TestDaemon, words: &[&str], expected: &[&str]) {
    wait::wait_seeing(&format!("{expected:?} among the completions of {words:?}"), async || {
        let lines = offered(daemon, words).await;
        if expected.iter().all(|part| lines.contains(*part)) { Ok(()) } else { Err(lines) }
    })
    .await;
}

#[tokio::test]
async fn ids_and_models_are_offered_with_descriptions() {
    let world = World::start().await;
    let task = world.run_asking("tab", [Turn::ask("Red or blue?")]).await;
    world.wait("the question", task, |t| !t.pending.is_empty()).await;
    let (id, conversation) = (task.task_id.short(), task.conversation_id.short());
    let daemon = &world.daemon;
    for verb in ["show", "stop", "watch", "messages"] {
        offers(daemon, &["abide", verb, ""], &[format!("{id}:needs you").as_str(), "[k:tab]"]).await;
    }
    let conversation = format!("{conversation}:");
    offers(daemon, &["abide", "conversations", "delete", ""], &[conversation.as_str()]).await;
    offers(daemon, &["abide", "answer", ""], &[":Red or blue?"]).await;
    assert!(!offered(daemon, &["abide", "approve", ""]).await.contains("Red or blue?"));
    offers(daemon, &["abide", "run", "--model", "te"], &["test/scripted-1"]).await;
    offers(daemon, &["abide", "run", "--persona", "rev"], &["reviewer:Reviews code"]).await;
    offers(daemon, &["abide", "run", "--tools", "read,li"], &["read,list"]).await;
    let whole = task.task_id.to_string();
    offers(daemon, &["abide", "show", &whole[..30]], &[whole.as_str()]).await;
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
    // Again while the daemon does not answer at once, as a person presses Tab again. Options come without the
    // daemon.
    let script = "source <(abide completions bash); COMP_WORDS=(abide stop \"\"); COMP_CWORD=2; COMP_TYPE=9; \
                  until [[ ${COMPREPLY[0]:--} != -* ]]; do _clap_complete_abide abide \"\" stop; done; \
                  echo \"reply: ${COMPREPLY[*]}\"";
    let terminal = Terminal::run(&world.daemon, &format!("bash --norc -c '{script}'")).await;
    terminal.shows(&format!("reply: {}", task.task_id.short())).await;
}
