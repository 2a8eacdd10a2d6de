use super::*;

/// Name and models.
type Local<'a> = &'a [(&'a str, &'a [&'a str])];

fn of(toml: &str, env: &[&str], stored: &[&str], local: Local<'_>) -> Providers {
    let config = Config::parse(toml).unwrap();
    let local: Vec<_> = local
        .iter()
        .map(|(name, models)| {
            let config =
                ProviderConfig::new(*name, Api::OpenaiChat, "http://127.0.0.1:1/v1", "found on loopback");
            (config, models.iter().map(|model| format!("{name}/{model}")).collect())
        })
        .collect();
    let key = |name: &str| {
        if env.contains(&name) {
            Some(KeyOrigin::Environment(format!("{}_API_KEY", name.to_uppercase())))
        } else {
            stored.contains(&name).then_some(KeyOrigin::File)
        }
    };
    Providers::of(Facts { config: &config, openai_base_url: None, key: &key, local: &local })
}

#[test]
fn the_first_available_model_is_the_default() {
    const CONFIG: &str = "[model]\ndefault = \"ollama/qwen\"\n";
    let ollama: Local<'_> = &[("ollama", &["qwen", "llama"])];
    for (toml, env, stored, local, model, why) in [
        (CONFIG, &["anthropic"][..], &[][..], ollama, "ollama/qwen", "default of [model] in config.toml"),
        (
            CONFIG,
            &["anthropic"],
            &[],
            &[],
            "ollama/qwen",
            "default of [model] in config.toml, but there is no provider \"ollama\"",
        ),
        ("", &["openai", "anthropic"], &[], ollama, "anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY is set"),
        ("", &["openai"], &[], ollama, "openai/gpt-5.5", "OPENAI_API_KEY is set"),
        ("", &[], &["openai"], ollama, "openai/gpt-5.5", "its key is in the daemon's key file"),
        ("", &[], &[], ollama, "ollama/qwen", "ollama was found on this machine"),
        (
            "",
            &[],
            &[],
            &[("ollama", &[]), ("llama-server", &["all-minilm", "m"])],
            "llama-server/m",
            "llama-server was found on this machine",
        ),
        ("", &[], &[], &[], "demo/demo", "nothing else is there: it is scripted, and no model"),
        (
            "[providers.gateway]\napi = \"openai-chat\"\nbase_url = \"http://10.0.0.1/v1\"\n",
            &[],
            &[],
            &[],
            "demo/demo",
            "it is scripted, and no model; you have set up gateway: `abide config set model.default gateway/MODEL` makes a model of it \
             the default",
        ),
        (
            "[providers.openai]\napi = \"openai-responses\"\n",
            &[],
            &[],
            &[],
            "demo/demo",
            "nothing else is there: it is scripted, and no model",
        ),
    ] {
        let default = of(toml, env, stored, local).default;
        assert_eq!((default.model.as_str(), default.why.as_str()), (model, why));
    }
}

#[test]
fn the_tasks_model_then_the_conversations_then_the_default_is_chosen() {
    let providers = of("", &[], &[], &[]);
    let choose = |task, conversation| providers.choose(task, conversation).map(|c| c.model);
    assert_eq!(choose(Some("openai/a/b"), Some("anthropic/b")), Ok("openai/a/b".to_owned()));
    assert_eq!(choose(None, Some("anthropic/b")), Ok("anthropic/b".to_owned()));
    assert_eq!(choose(None, None), Ok("demo/demo".to_owned()));
    assert_eq!(choose(Some("gpt"), None), Err(NoSuchModel::NotAName("gpt".to_owned())));
    let known = ["anthropic", "openai", "demo"].map(str::to_owned).to_vec();
    assert_eq!(
        choose(Some("closed/x"), None),
        Err(NoSuchModel::NoProvider { provider: "closed".to_owned(), known })
    );
}

#[test]
fn a_configured_provider_replaces_the_built_in_one() {
    let toml = "[providers.openai]\napi = \"openai-chat\"\nmax_parallel = 3\nstall_timeout_secs = 9\n\
                [providers.tape]\napi = \"scripted\"\nscript = \"/s.json\"\n";
    let providers = of(toml, &["anthropic"], &[], &[]);
    let list: Vec<_> = providers
        .configs
        .iter()
        .map(|c| (c.name.as_str(), c.api, c.base_url.as_str(), c.source.as_str()))
        .collect();
    assert_eq!(
        list,
        [
            ("openai", Api::OpenaiChat, OPENAI.base_url, "config"),
            ("tape", Api::Scripted, "", "config"),
            ("anthropic", Api::Anthropic, ANTHROPIC.base_url, "environment"),
            ("demo", Api::Scripted, "", "built in"),
        ]
    );
    assert_eq!((providers.configs[0].max_parallel, providers.configs[0].stall_timeout.as_secs()), (3, 9));
    assert_eq!(providers.configs[1].script.as_deref(), Some(std::path::Path::new("/s.json")));

    // OpenAI itself over its other API.
    let openai = of("[providers.openai]\napi = \"openai-responses\"\n", &[], &[], &[]).configs.remove(0);
    assert_eq!(
        (openai.api, openai.base_url.as_str(), openai.wants_key),
        (Api::OpenaiResponses, OPENAI.base_url, true)
    );
}

#[test]
fn openai_base_url_sets_the_address() {
    let config = Config::default();
    let facts =
        Facts { config: &config, openai_base_url: Some("http://proxy/v1"), key: &|_| None, local: &[] };
    let openai = Providers::of(facts).configs.into_iter().find(|c| c.name == "openai").unwrap();
    assert_eq!((openai.base_url.as_str(), openai.source.as_str()), ("http://proxy/v1", "environment"));
}

/// A gateway at another address may need no key, so it is asked without one.
#[test]
fn only_a_vendors_own_address_needs_a_key() {
    const CONFIG: &str = "[providers.gateway]\napi = \"openai-chat\"\nbase_url = \"https://llm.example/v1\"\n\
        [providers.named]\napi = \"openai-chat\"\nbase_url = \"https://llm.example/v1\"\napi_key_env = \"MY_KEY\"\n\
        [providers.second]\napi = \"anthropic\"\n\
        [providers.quick]\napi = \"openai-chat\"\nbase_url = \"https://api.groq.com/openai/v1\"\n\
        [providers.lmstudio]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1234/v1\"\n";
    let providers = of(CONFIG, &[], &[], &[("ollama", &["qwen"])]);
    let wanting: Vec<_> =
        providers.configs.iter().filter(|c| c.wants_key).map(|config| config.name.as_str()).collect();
    assert_eq!(wanting, ["named", "quick", "second", "anthropic", "openai"]);
}

/// A model that runs here takes longer than a vendor's, whether it was found or set up.
#[test]
fn a_provider_of_this_machine_has_time() {
    const CONFIG: &str = "[providers.lmstudio]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1234/v1\"\n\
        [providers.ollama]\napi = \"openai-chat\"\nbase_url = \"http://10.0.0.7:11434/v1\"\nmax_parallel = 2\n";
    let configs = of(CONFIG, &[], &[], &[]).configs;
    let limits: Vec<_> =
        configs.iter().take(2).map(|c| (c.max_parallel, c.stall_timeout.as_secs())).collect();
    assert_eq!(limits, [(4, 600), (2, 600)]);
}

#[test]
fn what_is_known_of_providers_fits_their_apis() {
    use abide_model::LocalPorts;
    use abide_protocol::provider::KNOWN;
    for known in KNOWN {
        assert!(
            known.api.parse::<Api>().is_ok_and(|api| api.location() != ServerLocation::File),
            "{known:?}"
        );
    }
    let LocalPorts { ollama, llama_server } = LocalPorts::default();
    for (name, port) in [("ollama", ollama), ("llama-server", llama_server)] {
        let known = KnownProvider::named(name).map(|known| known.base_url.to_owned());
        assert_eq!(known, Some(format!("http://127.0.0.1:{port}/v1")));
    }
}
