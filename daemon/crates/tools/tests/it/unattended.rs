//! What a command gets of a task's environment, and that nobody sits in front of it.

use crate::{
    ground::{Ground, data},
    sandbox::{repository, run},
};
use abide_tools::Finished;
use serde_json::{Value, json};

fn leaving(command: &str) -> Value {
    json!({ "command": command, "outside": true, "reason": "to test it" })
}

async fn with_variables(ground: &Ground, arguments: Value) -> Finished {
    let mut run = ground.run(ground.assess_one("shell", arguments));
    run.environment.extend(
        ["SSH_AUTH_SOCK", "MY_FLAG", "MY_TOKEN", "EDITOR"].map(|name| (name.to_owned(), "given".to_owned())),
    );
    ground.start_run(run).end().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_outside_of_the_sandbox_has_the_tasks_environment_without_secrets() {
    let mut ground = Ground::new();
    let shows = "echo [$SSH_AUTH_SOCK] [$MY_FLAG] [$MY_TOKEN]; echo $npm_config_fetch_retries";
    let printed = async |ground: &Ground, arguments| {
        data(&with_variables(ground, arguments).await)["stdout"].as_str().unwrap().to_owned()
    };
    assert_eq!(printed(&ground, leaving(shows)).await, "[given] [given] []\n\n");
    assert_eq!(printed(&ground, json!({ "command": shows })).await, "[] [] []\n0\n");
    ground.sandbox.environment = vec!["MY_*".to_owned()];
    assert_eq!(printed(&ground, json!({ "command": shows })).await, "[] [given] []\n0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_fails_and_says_what_to_do_instead() {
    let ground = repository();
    let words = "no terminal, so no editor: give the text with -m";
    let amend = "git commit --amend";
    for arguments in [
        json!({ "command": amend }),
        leaving(amend),
        leaving("eval \"$VISUAL\""),
        leaving("eval \"$EDITOR\""),
    ] {
        let finished = with_variables(&ground, arguments.clone()).await;
        assert!(
            !finished.result.ok && finished.result.text().contains(words),
            "{arguments}: {}",
            finished.result.text()
        );
    }
    // What the line names comes first, whatever the configuration says.
    for command in [
        "git -c core.editor=true commit --amend",
        "GIT_EDITOR=true git commit --amend",
        "git commit --amend --no-edit",
        "git commit --amend -m second",
        "GIT_EDITOR=true git rebase -i --root",
    ] {
        let (code, output) = run(&ground, command).await;
        assert_eq!(code, Some(0), "{command}: {output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_wants_a_terminal_or_an_answer_has_none_and_a_hint() {
    let ground = Ground::new();
    let hint = "it may have wanted a terminal";
    for arguments in [json!({ "command": "cat /dev/tty" }), leaving("cat /dev/tty")] {
        let finished = ground.call("shell", arguments).await;
        assert!(
            finished.result.diagnostics.iter().any(|said| said.starts_with(hint)),
            "{:?}",
            finished.result
        );
    }
    let (code, output) = run(&ground, "read answer; echo $?").await;
    assert_eq!((code, output.as_str()), (Some(0), "1\n"));
}
