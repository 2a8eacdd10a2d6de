//! `abide provider add` asks at a terminal for what is not given.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Turn},
    skip::skip,
    terminal::Terminal,
    world::World,
};
use std::fs;

const KEY: &str = "sk-canary-typed";

async fn world() -> World {
    let model = ModelServer::start().await;
    model.require_key(KEY);
    model.script_for_all([Turn::say("OK")]);
    World::of(model, TestDaemon::new(&Config::new())).await
}

async fn answer(terminal: &Terminal, prompt: &str, typed: &str) {
    terminal.shows(prompt).await;
    terminal.type_text(typed).await;
    terminal.press(&["Enter"]).await;
}

#[tokio::test]
async fn a_provider_is_set_up_by_answers() {
    if !Terminal::exists().await {
        return skip("a_provider_is_set_up_by_answers", "tmux is not installed");
    }
    let world = world().await;
    let url = world.model.openai_url();
    let terminal = Terminal::run(&world.daemon, "abide provider add").await;
    let screen = terminal.shows("Which provider?").await;
    assert!(screen.contains("3.   openrouter ") && screen.contains("11.  other "), "{screen}");
    answer(&terminal, "Which provider?", "11").await;
    answer(&terminal, "Its name", "corp").await;
    answer(&terminal, "Its address", url.trim_end_matches("/v1")).await;
    answer(&terminal, "number or name [openai-chat]", "").await;
    answer(&terminal, "API key of corp, not shown [none]", "sk-wrong").await;
    answer(&terminal, "t try again", "k").await;
    terminal.shows_times("API key of corp, not shown [none]", 2).await;
    terminal.type_text(KEY).await;
    terminal.press(&["Enter"]).await;
    answer(&terminal, &format!("{url} answers. Take that address? [Y/n]"), "").await;
    answer(&terminal, "Which model? number, name or a part of it [scripted-1]", "").await;
    answer(&terminal, "Make corp/scripted-1 the default model? It is demo/demo now. [Y/n]", "").await;
    let screen = terminal.shows("try it: abide run \"hello\"").await;
    assert_eq!(terminal.ended().await, 0);
    assert!(screen.contains("does not accept the key") && !screen.contains(KEY), "{screen}");
    let text = fs::read_to_string(world.daemon.home().config_file()).unwrap();
    let entry = format!("[providers.corp]\napi = \"openai-chat\"\nbase_url = \"{url}\"\n");
    assert!(text.contains(&entry) && text.contains("default = \"corp/scripted-1\"\n"), "{text}");
    let checked = world.daemon.cli().ok(&["models", "--check", "corp"]).await;
    assert!(checked.starts_with("corp/scripted-1 answers"), "{checked}");
}

#[tokio::test]
async fn who_leaves_has_changed_nothing() {
    if !Terminal::exists().await {
        return skip("who_leaves_has_changed_nothing", "tmux is not installed");
    }
    let world = world().await;
    let file = world.daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    let add = format!("abide provider add corp --base-url {} --api openai-chat", world.model.openai_url());
    for last in ["API key of corp", "Which model?", "Make corp/scripted-1 the default"] {
        let terminal = Terminal::run(&world.daemon, &add).await;
        for (prompt, typed) in [("API key of corp", KEY), ("Which model?", "1")] {
            if prompt == last {
                break;
            }
            answer(&terminal, prompt, typed).await;
        }
        terminal.shows(last).await;
        terminal.press(&["C-c"]).await;
        terminal.shows("nothing is changed").await;
        assert_eq!(terminal.ended().await, 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        assert!(!world.daemon.home().key_file().exists());
    }
}
