//! The output of commands, wherever it is printed.

use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn a_commands_output_is_printed_live_and_afterwards() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let command = r"seq 1 300 | sed 's/^/out /'; printf 'went \033[31mwrong\n' >&2; exit 3";
    world.model.script("seen", [Turn::shell(command), Turn::done("Done.")]);
    let run = cli.run(&["run", "--yes", "[k:seen]"]).await;
    assert_eq!(run.stdout.trim(), "Done.", "the output of a command is no word of the agent");
    let task = cli.json(&["ps", "--all"]).await[0].clone();
    let (task, conversation) = (task["id"].as_str().unwrap(), task["conversationId"].as_str().unwrap());
    let shows = [&["show", task][..], &["watch", task], &["messages", conversation]];
    for arguments in shows {
        let seen = cli.run(arguments).await;
        let text = if arguments[0] == "watch" { seen.stderr } else { seen.stdout };
        assert_tail(&text);
        let whole = cli.run(&[arguments, &["--output"]].concat()).await;
        let text = if arguments[0] == "watch" { whole.stderr } else { whole.stdout };
        assert!(text.contains("    out 1\n") && text.contains("    out 300\n"), "{arguments:?}: {text}");
    }
    assert_tail(&run.stderr);
}

/// The last ten lines of the command above.
fn assert_tail(text: &str) {
    assert!(text.contains("exit code 3"), "{text}");
    assert!(text.contains("    … 291 lines more: --output\n"), "{text}");
    assert!(text.contains("    out 292\n") && text.contains("    went \\x1b[31mwrong\n"), "{text}");
    assert!(!text.contains("out 291\n") && !text.contains('\u{1b}'), "{text:?}");
}
