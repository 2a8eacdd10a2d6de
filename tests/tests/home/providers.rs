//! A provider is set up, tested and removed by commands, without an editor.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    world::World,
};
use serde_json::{Value, json};
use std::fs;

const KEY: &str = "sk-canary-of-corp";

/// A daemon without a provider, and a model server that wants [`KEY`].
async fn world() -> World {
    let model = ModelServer::start().await;
    model.require_key(KEY);
    model.script_for_all([Turn::say("OK")]);
    World::of(model, TestDaemon::new(&Config::new())).await
}

#[tokio::test]
async fn a_provider_is_set_up_by_flags_used_at_once_and_removed() {
    let world = world().await;
    let cli = world.daemon.cli();
    let file = world.daemon.home().config_file();
    let before = format!("# Mine.\n{}", fs::read_to_string(&file).unwrap());
    fs::write(&file, &before).unwrap();

    let url = world.model.openai_url();
    let add =
        ["provider", "add", "corp", "--base-url", &url, "--key-stdin", "--model", "scripted-1", "--default"];
    let added = cli.run_with_input(&add, &format!("{KEY}\n")).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    for part in
        ["corp is set up", "key stored in", "default model: corp/scripted-1", "try it: abide run \"hello\""]
    {
        assert!(added.stdout.contains(part), "{part}: {added:?}");
    }
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# Mine.\n") && !text.contains(KEY), "{text}");
    let listed = cli.ok(&["provider", "list"]).await;
    assert!(listed.contains("corp") && listed.contains(&url), "{listed}");

    world.model.script("used", [Turn::done("Done.")]);
    cli.ok(&["run", "[k:used] Do what the script says."]).await;
    let request = world.model.last_request("used").unwrap();
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));

    let removed = cli.ok(&["provider", "remove", "corp"]).await;
    for part in ["corp is removed, and its stored key", "now it is demo/demo"] {
        assert!(removed.contains(part), "{part}: {removed}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap().trim_end(), before.trim_end().to_owned() + "\n\n[model]");
    assert!(!fs::read_to_string(world.daemon.home().key_file()).unwrap().contains(KEY));
    let again = cli.run(&["provider", "remove", "corp"]).await;
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("corp is not set up"), "{again:?}");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_not_set_up_and_the_reason_is_named() {
    let world = world().await;
    let cli = world.daemon.cli();
    let file = world.daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    let url = world.model.openai_url();
    let root = url.trim_end_matches("/v1");
    let pasted = format!("{url}/chat/completions");
    let hint = format!("try `--base-url {url}`");
    for (address, key, more, words) in [
        (url.as_str(), "sk-wrong", &[][..], &["does not accept the key", "no such key"][..]),
        (root, KEY, &[], &["no list of models", &hint]),
        (&pasted, KEY, &[], &["no list of models", &hint]),
        ("http://127.0.0.1:1/v1", KEY, &[], &["nobody listens at http://127.0.0.1:1/v1"]),
        ("llm.example", KEY, &[], &["is not an http:// or https:// address"]),
        (root, KEY, &["--model", "scripted-1"], &["no list of models", &hint]),
    ] {
        let add = [&["provider", "add", "corp", "--key-stdin", "--base-url", address][..], more].concat();
        let refused = cli.run_with_input(&add, key).await;
        assert_eq!(refused.code, Some(1), "{address}: {refused:?}");
        for word in words {
            assert!(refused.stderr.contains(word), "{address}: {word}: {refused:?}");
        }
        assert!(!refused.stderr.contains(KEY), "{refused:?}");
    }
    let unset = cli.run(&["provider", "add", "corp", "--base-url", &url, "--key-env", "CORP_KEY"]).await;
    assert_eq!(unset.code, Some(1), "{unset:?}");
    assert!(unset.stderr.contains("environment has no CORP_KEY"), "{unset:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(!world.daemon.home().key_file().exists(), "no key is stored for a provider that is not there");
}

#[tokio::test]
async fn without_a_terminal_what_is_missing_is_named() {
    let world = world().await;
    let cli = world.daemon.cli();
    let url = world.model.openai_url();
    for (arguments, words) in [
        (&[][..], "NAME is missing"),
        (&["corp"], "--base-url is missing"),
        (&["groq"], "--key-stdin or --key-env is missing"),
        (&["no name"], "a provider's name has"),
        (&["corp", "--base-url", &url, "--api", "grpc"], "--api"),
    ] {
        let refused = cli.run(&[&["provider", "add"][..], arguments].concat()).await;
        assert_eq!(refused.code, Some(2), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(words), "{arguments:?}: {refused:?}");
    }
}

/// The key of the daemon's environment is used, and a second `add` changes what it names.
#[tokio::test]
async fn a_provider_is_changed_by_adding_it_again() {
    let model = ModelServer::start().await;
    model.require_key(KEY);
    let mut daemon = TestDaemon::new(&Config::new());
    daemon.set_env("CORP_KEY", KEY);
    let world = World::of(model, daemon).await;
    let cli = world.daemon.cli();
    let (openai, anthropic) = (world.model.openai_url(), world.model.anthropic_url());
    let added = cli.json(&["provider", "add", "corp", "--base-url", &openai, "--key-env", "CORP_KEY"]).await;
    assert_eq!((&added["models"], &added["key"]), (&json!(["corp/scripted-1"]), &Value::Null), "{added}");
    cli.ok(&["provider", "add", "corp", "--api", "anthropic", "--base-url", &anthropic]).await;
    let text = fs::read_to_string(world.daemon.home().config_file()).unwrap();
    let entry = format!(
        "[providers.corp]\napi = \"anthropic\"\nbase_url = \"{anthropic}\"\napi_key_env = \"CORP_KEY\"\n"
    );
    assert!(text.contains(&entry), "{text}");
}
