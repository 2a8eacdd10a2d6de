use super::*;

fn problem(text: &str) -> Problem {
    Config::parse(text).expect_err("a problem")
}

#[test]
fn an_empty_file_is_the_default() {
    let config = Config::parse("").unwrap();
    assert_eq!(config, Config::default());
    assert!(config.notify.enabled);
    assert_eq!(config.task.limits(Mode::Agent), Limits::default());
}

#[test]
fn every_key_is_read() {
    let config = Config::parse(
        r#"
[model]
default = "local/smollm2"
[providers.local]
api = "openai-chat"
base_url = "http://127.0.0.1:8089/v1"
api_key_env = "LOCAL_API_KEY"
max_parallel = 2
stall_timeout_secs = 30
[providers.tape]
api = "scripted"
script = "/tmp/replies.json"
[task]
max_steps = 7
max_duration_secs = 0
step_delay_ms = 5
max_tokens = 1000
max_cost_micros = 2000
question_timeout_secs = 60
max_depth = 2
max_children = 4
max_tasks = 20
restart = "pause"
compact_at_tokens = 8000
[task.roa]
max_steps = 4
[policy]
deny = ["shell(git push *)"]
ask = ["shell(/rm/)"]
allow = ["shell(cargo test *)", "edit(src/**)"]
[memory]
embedder = "local/embed"
[notify]
enabled = false
quiet = "22:00-07:00"
[prices."local/smollm2"]
input = 3
output = 0.15
cache_read = 0.3
[personas.reviewer]
prompt = "You review."
tools = ["read", "list"]
[templates.review]
prompt = "Review {input}"
limits.max_steps = 3
"#,
    )
    .unwrap();
    assert_eq!(config.model.default.as_deref(), Some("local/smollm2"));
    assert_eq!(
        config.providers["local"],
        Provider {
            api: Api::OpenaiChat,
            base_url: Some("http://127.0.0.1:8089/v1".to_owned()),
            api_key_env: Some("LOCAL_API_KEY".to_owned()),
            max_parallel: Some(2),
            script: None,
            stall_timeout_secs: Some(30),
        }
    );
    assert_eq!(config.providers["tape"].script.as_deref(), Some(Path::new("/tmp/replies.json")));
    let limits = Limits {
        max_steps: 7,
        max_duration_secs: 0,
        step_delay_ms: 5,
        max_tokens: 1000,
        max_cost_micros: 2000,
        question_timeout_secs: 60,
        max_depth: 2,
        max_children: 4,
        max_tasks: 20,
    };
    assert_eq!(config.task.limits(Mode::Chat), limits);
    assert_eq!(config.task.limits(Mode::Roa), Limits { max_steps: 4, ..limits });
    assert_eq!(config.task.restart, Some(RestartPolicy::Pause));
    assert_eq!(config.task.compact_at_tokens(), 8000);
    assert_eq!(config.memory.embedder, EmbedderConfig::Model("local/embed".to_owned()));
    assert!(!config.notify.enabled);
    assert_eq!(config.notify.quiet, "22:00-07:00".parse().ok());
    let price = Price { input: 3_000_000, output: 150_000, cache_read: Some(300_000), cache_write: None };
    assert_eq!(config.prices["local/smollm2"], price);
    let known = config.price_table().get("local", "smollm2", "127.0.0.1").unwrap();
    assert_eq!((known.output, known.cache_write), (150_000, 3_000_000));
    assert_eq!(config.templates["review"].limits.max_steps, Some(3));
    assert_eq!(config.personas["reviewer"].tools.as_deref().unwrap(), ["read", "list"]);
}

#[test]
fn the_step_limit_of_the_other_modes_is_not_that_of_roa() {
    let task = Config::parse("[task]\nmax_steps = 100\n").unwrap().task;
    assert_eq!((task.limits(Mode::Plan).max_steps, task.limits(Mode::Roa).max_steps), (100, 10));
}

#[test]
fn problems_name_no_type_of_rust() {
    for (text, says) in [
        ("model = \"a/b\"\n", "invalid type: string \"a/b\", expected a table, as `[model]`"),
        ("providers = 1\n", "invalid type: integer `1`, expected a table, as `[providers]`"),
        ("[providers]\nx = 1\n", "invalid type: integer `1`, expected a table, as `[providers.x]`"),
        (
            "[task]\nmax_steps = \"few\"\n",
            "invalid type: string \"few\", expected a whole number, at least 0",
        ),
        ("[task]\nmax_steps = -1\n", "invalid value: integer `-1`, expected a whole number, at least 0"),
        ("[notify]\nenabled = 1\n", "invalid type: integer `1`, expected a boolean"),
        (
            "[memory]\nembedder = \"on\"\n",
            "\"on\" is neither \"auto\", \"off\" nor \"builtin\", and not PROVIDER/MODEL",
        ),
        ("[policy]\ndeny = 1\n", "invalid type: integer `1`, expected a list, as `[\"…\"]`"),
        ("[prices.\"a/b\"]\ninput = \"x\"\noutput = 1\n", "invalid type: string \"x\", expected a number"),
    ] {
        let error = Config::parse(text).unwrap_err();
        assert_eq!(error.what, says, "{text}");
    }
}

#[test]
fn problems_name_line_and_key() {
    for (text, line, key, says) in [
        ("[task]\nmax_step = 3\n", Some(2), "task.max_step", "unknown field `max_step`, expected one of"),
        ("[task]\n\nmax_steps = \"few\"\n", Some(3), "task.max_steps", "invalid type: string"),
        ("[tasks]\n", Some(1), "tasks", "unknown field `tasks`"),
        ("[providers.x]\napi = \"soap\"\n", Some(2), "providers.x.api", "it is one of `openai-chat`"),
        (
            "[prices.\"a/b\"]\ninput = -1\noutput = 1\n",
            Some(2),
            "prices.\"a/b\".input",
            "dollars per million",
        ),
        ("[model]\ndefault = \"gpt\"\n", Some(2), "model.default", "is not PROVIDER/MODEL"),
        ("[providers.x]\napi = \"openai-chat\"\n", Some(1), "providers.x.base_url", "is missing"),
        ("[providers.x]\napi = \"openai-responses\"\n", Some(1), "providers.x.base_url", "is missing"),
        ("[providers.x]\napi = \"scripted\"\n", Some(1), "providers.x.script", "is missing"),
        (
            "[providers.x]\napi = \"anthropic\"\nmax_parallel = 0\n",
            Some(3),
            "providers.x.max_parallel",
            "never ask",
        ),
        (
            "[providers.x]\napi = \"openai-chat\"\nbase_url = \"ftp://h\"\n",
            Some(3),
            "providers.x.base_url",
            "not an http",
        ),
        (
            "[providers.x]\napi = \"openai-chat\"\nbase_url = \"http://me:pw@h/v1\"\n",
            Some(3),
            "providers.x.base_url",
            "name or password",
        ),
        ("[providers.\"a/b\"]\napi = \"anthropic\"\n", Some(1), "providers.\"a/b\"", "1 to 64"),
        ("[personas.x]\nprompt = \" \"\n", Some(2), "personas.x.prompt", "is empty"),
        (
            "[personas.x]\nprompt = \"a\"\nprompt_file = \"b\"\n",
            Some(3),
            "personas.x.prompt_file",
            "beside `prompt`",
        ),
        ("[personas.x]\nmodel = \"a\"\n", Some(2), "personas.x.model", "PROVIDER/MODEL"),
        ("[personas.\"../x\"]\nprompt = \"a\"\n", Some(1), "personas.\"../x\"", "1 to 64"),
        ("[templates.x]\nprompt = \"a\"\n", Some(2), "templates.x.prompt", "has no {input}"),
        ("providers = { x = { api = \"scripted\" } }\n", Some(1), "providers.x.script", "is missing"),
        ("[task]\n[model]\n# Mine.\ndefault = \"gpt\"\n", Some(4), "model.default", "is not PROVIDER/MODEL"),
        ("[prices.gpt]\ninput = 1\noutput = 1\n", Some(1), "prices.\"gpt\"", "is not PROVIDER/MODEL"),
    ] {
        let found = problem(text);
        assert_eq!((found.line, found.key.as_deref()), (line, Some(key)), "{text}");
        assert!(found.what.contains(says), "{text}: {found}");
    }
}

#[test]
fn a_key_in_the_file_is_refused_and_never_quoted() {
    for text in [
        "[providers.x]\napi = \"anthropic\"\napi_key = \"sk-secret\"\n",
        "[providers.x]\napi = \"anthropic\"\napi_key_env = \"sk-secret\"\n",
    ] {
        let words = problem(text).to_string();
        assert!(words.contains("`abide key set"), "{words}");
        assert!(!words.contains("sk-secret"), "{words}");
    }
}

#[test]
fn a_missing_file_is_the_default_and_an_invalid_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    assert_eq!(Config::load(&path).unwrap(), Config::default());
    std::fs::write(&path, "[notify]\nenabled = 1\n").unwrap();
    let words = Config::load(&path).unwrap_err().to_string();
    assert!(words.starts_with(&format!("{}, line 2: `notify.enabled`: ", path.display())), "{words}");
    std::fs::write(&path, "[notify]\nquiet = \"22-7\"\n").unwrap();
    let words = Config::load(&path).unwrap_err().to_string();
    assert!(words.contains("line 2: `notify.quiet`: ") && words.contains("22:00-07:00"), "{words}");
    std::fs::write(&path, vec![b'#'; 1024 * 1024 + 1]).unwrap();
    assert!(matches!(Config::load(&path), Err(ConfigError::TooLarge { .. })));
}

#[test]
fn a_wrong_rule_is_refused_with_its_line_and_key() {
    let wrong = problem("[policy]\ndeny = [\n  \"shell(rm *)\",\n  \"shel(x = 1)\",\n]\n");
    assert_eq!((wrong.line, wrong.key.as_deref()), (Some(4), Some("policy.deny")));
    assert!(wrong.what.starts_with("`shel(x = 1)` is no rule"), "{wrong}");
    let allowed = problem("[policy]\nallow = [\"shell(/x/)\"]");
    assert_eq!((allowed.line, allowed.key.as_deref()), (Some(2), Some("policy.allow")));
    let unknown = problem("[policy]\nallowed = []");
    assert!(unknown.what.contains("unknown field"), "{unknown}");
}

#[test]
fn the_rules_of_the_policy_stand_in_its_order() {
    let config = Config::parse("[policy]\nallow = [\"shell(ls)\"]\ndeny = [\"shell(rm *)\"]").unwrap();
    let rules: Vec<String> =
        config.policy.rules().iter().map(|s| format!("{:?} {}", s.effect, s.rule)).collect();
    assert_eq!(rules, ["Deny shell(rm *)", "Allow shell(ls)"]);
}
