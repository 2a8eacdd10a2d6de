use super::*;
use abide_client::protocol::task::Mode;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

fn command(line: &str) -> Command {
    parse(line).unwrap_or_else(|e| panic!("{line}: {e}")).command
}

#[test]
fn the_definition_is_sound() {
    use clap::CommandFactory as _;
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
        "abide chat",
        "abide chat --mode agent --continue",
        "abide demo",
        "abide ps --all --json",
        "abide show 1",
        "abide watch 1 --since 7",
        "abide messages 1 -n 5 --before 9",
        "abide search cargo test --conversation 1 -n 5 --before 9",
        "abide gui",
        "abide config check",
        "abide config reference",
        "abide config show --json",
        "abide config set model.default a/b",
        "abide config set notify.enabled off",
        "abide rules",
        "abide rules forget beef0071",
        "abide doctor",
        "abide doctor --rebuild --json",
        "abide doctor --backup copy.db",
        "abide inbox",
        "abide answer 1 yes of course",
        "abide answer 1 --decline",
        "abide approve 1 --always --note fine",
        "abide reject 1 --always --note no",
        "abide stop 1",
        "abide pause 1",
        "abide resume 1",
        "abide conversations",
        "abide conversations --archived",
        "abide conversations rename 1 a new title",
        "abide conversations archive 1 --undo",
        "abide conversations delete 1 --yes",
        "abide models --offline",
        "abide models --check local/m",
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
        "abide run --mode roa x",
        "abide run -c -C 12 x",
        "abide show",
        "abide answer 1 yes --decline",
        "abide key set",
        "abide key set anthropic sk-secret",
        "abide conversations rename 1",
        "abide messages 1 -n 0",
        "abide watch 1 --since x",
        "abide man",
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
