use super::*;
use abide_client::protocol::task::Mode;
use clap::CommandFactory as _;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

fn command(line: &str) -> Command {
    parse(line).unwrap_or_else(|e| panic!("{line}: {e}")).command
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_is_understood() {
    for line in [
        "abide run do it",
        "abide run --detach --yes --mode agent --model a/b --max-steps 3 --json do it",
        "abide run -c more",
        "abide run --question-timeout 10m ask me",
        "abide run -C 1234 more",
        "abide run --memory private x",
        "abide chat",
        "abide chat --mode agent --continue",
        "abide demo",
        "abide ps --all --json",
        "abide show 1",
        "abide watch 1 --since 7",
        "abide messages 1 -n 5 --before 9",
        "abide search cargo test --conversation 1 -n 5 --before 9",
        "abide gui",
        "abide daemon install --linger",
        "abide daemon uninstall --purge --yes",
        "abide config check",
        "abide config reference",
        "abide config show --json",
        "abide config set model.default a/b",
        "abide config set notify.enabled off",
        "abide rules",
        "abide prompts",
        "abide personas",
        "abide personas --write",
        "abide tools --json",
        "abide run --persona reviewer --template house --tools read,list x",
        "abide run --tools none x",
        "abide prompts --write --json",
        "abide rules forget beef0071",
        "abide doctor",
        "abide doctor --rebuild --json",
        "abide doctor --backup copy.db",
        "abide inbox",
        "abide answer 1 yes of course",
        "abide answer 1 --decline",
        "abide approve 1 --always --note fine",
        "abide reject 1 --always --note no",
        "abide reject 1 --reason no",
        "abide stop 1 @2",
        "abide kill last",
        "abide ls -a",
        "abide attach 1",
        "abide approve 1 2 --note fine",
        "abide approve last --all-shown",
        "abide reject 1 2",
        "abide run --max-cost 0.50 --max-tokens 200k --max-duration 10m x",
        "abide chat --max-cost 2",
        "abide usage",
        "abide usage --since 2026-11-01 --json",
        "abide diff 1 --step 3",
        "abide undo 1",
        "abide undo 1 --step 3 --yes",
        "abide undo 1 --redo --json",
        "abide pause 1",
        "abide resume 1",
        "abide conversations",
        "abide conversations --archived",
        "abide conversations rename 1 a new title",
        "abide conversations archive 1 --undo",
        "abide conversations mute 1 --undo",
        "abide conversations delete 1 --yes",
        "abide models --offline",
        "abide models --check local/m",
        "abide provider add",
        "abide provider add groq --key-stdin",
        "abide provider add corp --api anthropic --base-url http://h --key-env K --model m --default",
        "abide provider list --json",
        "abide provider remove corp",
        "abide config edit",
        "abide key set anthropic",
        "abide key unset anthropic",
        "abide daemon start",
        "abide daemon stop",
        "abide daemon restart",
        "abide daemon status --json",
        "abide daemon logs -f -n 10",
        "abide completions zsh",
        "abide man folder",
        "abide --color never ps",
    ] {
        command(line);
    }
}

#[test]
fn invalid_command_lines_are_refused() {
    for line in [
        "abide",
        "abide frobnicate",
        "abide run --mode fast x",
        "abide run -c -C 12 x",
        "abide run -c --memory off x",
        "abide undo 1 --step 2 --redo",
        "abide diff 1 --step 0",
        "abide show",
        "abide answer 1 yes --decline",
        "abide key set",
        "abide key set anthropic sk-secret",
        "abide provider add groq sk-secret",
        "abide provider add groq --key-env K --key-stdin",
        "abide provider add corp --api scripted",
        "abide provider remove",
        "abide conversations rename 1",
        "abide messages 1 -n 0",
        "abide watch 1 --since x",
        "abide man",
        "abide stop",
        "abide approve 1 --all-shown --always",
        "abide run --max-cost much x",
        "abide usage --since yesterday",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn words_and_flags_of_run() {
    let Command::Run(run) = command("abide run fix the --yes tests --mode chat") else { panic!("not run") };
    assert_eq!(run.prompt, ["fix", "the", "tests"]);
    assert!(run.agent.yes && !run.detach);
    assert_eq!(run.agent.mode, Some(Mode::Chat));
}

#[test]
fn json_is_understood_everywhere() {
    assert!(parse("abide --json ps").unwrap().json);
    assert!(parse("abide conversations rename 1 x --json").unwrap().json);
}

#[test]
fn an_empty_name_is_refused_wherever_one_is_taken() {
    for line in [
        &["abide", "run", "--model", "", "x"][..],
        &["abide", "run", "-C", " ", "x"],
        &["abide", "chat", "--model", "a\nb"],
        &["abide", "show", ""],
        &["abide", "stop", ""],
        &["abide", "watch", " "],
        &["abide", "messages", ""],
        &["abide", "search", "word", "--conversation", ""],
        &["abide", "answer", "", "yes"],
        &["abide", "approve", ""],
        &["abide", "reject", ""],
        &["abide", "conversations", "rename", "", "title"],
        &["abide", "conversations", "archive", ""],
        &["abide", "conversations", "delete", "\u{1b}"],
        &["abide", "key", "unset", ""],
    ] {
        let refused = Cli::try_parse_from(line).expect_err(&line.join(" "));
        assert_eq!(refused.kind(), clap::error::ErrorKind::ValueValidation, "{line:?}: {refused}");
    }
}

/// The help page of every command, as it is printed 100 columns wide. `INSTA_UPDATE=always` writes the files.
#[test]
fn help_pages() {
    let mut command = Cli::command().term_width(100);
    command.build();
    help_pages_of(&mut command, "abide");
}

fn help_pages_of(command: &mut clap::Command, path: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let page = command.render_long_help().to_string();
    settings.bind(|| insta::assert_snapshot!(path.replace(' ', "-"), page));
    let subcommands =
        command.get_subcommands_mut().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    for sub in subcommands {
        let path = format!("{path} {}", sub.get_name());
        help_pages_of(sub, &path);
    }
}
