use super::*;
use crate::config::{
    Config, HttpConfig, ModelConfig, NotifyConfig, Price, PromptsConfig, Provider, RoaConfig, SandboxConfig,
    TaskConfig, TemplateConfig, TemplateLimits, ToolsConfig, WorktreeConfig,
};
use crate::persona::PersonaConfig;
use abide_model::{Api, ProviderConfig};
use abide_protocol::task::{Limits, Mode, RestartPolicy};
use serde::{
    Deserialize, Deserializer,
    de::{Visitor, value::Error},
    forward_to_deserialize_any,
};
use std::{collections::BTreeSet, fs, path::PathBuf, sync::LazyLock};

/// A deserializer that notes the fields of a struct and yields none of them.
#[derive(Default)]
struct Keys(BTreeSet<&'static str>);

impl<'de> Deserializer<'de> for &mut Keys {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn accepted<'de, T: Deserialize<'de>>() -> BTreeSet<&'static str> {
    let mut keys = Keys::default();
    assert!(T::deserialize(&mut keys).is_err());
    keys.0
}

/// The name of a table, without the placeholder in its header.
fn name_of(table: &Table) -> String {
    let is_name = |part: &&str| part.chars().all(|c| c.is_ascii_lowercase());
    table.header.split('.').filter(is_name).collect::<Vec<_>>().join(".")
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| tables().unwrap());

fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|table| name_of(table) == name).expect(name)
}

/// The keys of a table and the tables in it.
fn keys_of(name: &str) -> BTreeSet<String> {
    let within = format!("{name}.");
    let tables = TABLES.iter().filter_map(|table| name_of(table).strip_prefix(&within).map(str::to_owned));
    table(name).keys.iter().map(|key| key.name.clone()).chain(tables).collect()
}

fn key(of: &str, name: &str) -> &'static Key {
    table(of).keys.iter().find(|key| key.name == name).expect(name)
}

fn default(of: &str, name: &str) -> &'static str {
    &key(of, name).default
}

#[test]
fn every_key_that_the_parser_accepts_is_in_the_reference_and_no_other() {
    let tables: BTreeSet<_> = TABLES.iter().filter_map(|table| table.header.split('.').next()).collect();
    assert_eq!(tables, accepted::<Config>());
    for (name, accepted) in [
        ("model", accepted::<ModelConfig>()),
        ("providers", accepted::<Provider>()),
        ("task", accepted::<TaskConfig>()),
        ("task.roa", accepted::<RoaConfig>()),
        ("sandbox", accepted::<SandboxConfig>()),
        ("tools", accepted::<ToolsConfig>()),
        ("notify", accepted::<NotifyConfig>()),
        ("prices", accepted::<Price>()),
        ("personas", accepted::<PersonaConfig>()),
        ("templates", accepted::<TemplateConfig>()),
        ("templates.limits", accepted::<TemplateLimits>()),
        ("prompts", accepted::<PromptsConfig>()),
        ("worktree", accepted::<WorktreeConfig>()),
        ("http", accepted::<HttpConfig>()),
    ] {
        let accepted: BTreeSet<String> = accepted.into_iter().map(str::to_owned).collect();
        assert_eq!(keys_of(name), accepted, "[{name}]");
    }
}

#[test]
fn the_example_is_valid_and_has_no_default_value() {
    let example = example(&TABLES);
    Config::parse(&example).unwrap_or_else(|e| panic!("{e}\n{example}"));
    for key in TABLES.iter().flat_map(|table| &table.keys) {
        assert_ne!(key.example, key.default, "{}", key.name);
    }
}

#[test]
fn the_defaults_match_the_code() {
    let lines: String =
        table("task").keys.iter().map(|key| format!("{} = {}\n", key.name, key.default)).collect();
    let task = Config::parse(&format!("[task]\n{lines}")).unwrap().task;
    assert_eq!(task.limits(Mode::Agent), Limits::default());
    assert_eq!((task.restart, task.mode), (Some(RestartPolicy::default()), Some(Mode::Auto)));
    assert_eq!(default("task.roa", "max_steps"), task.limits(Mode::Roa).max_steps.to_string());
    let limits = abide_tools::CommandLimits::default();
    assert_eq!(default("sandbox", "max_processes"), limits.processes.to_string());
    assert_eq!(default("sandbox", "max_tmp"), (limits.tmp >> 20).to_string());
    let notify = format!("[notify]\nenabled = {}\n", default("notify", "enabled"));
    assert_eq!(Config::parse(&notify).unwrap(), Config::default());
    let provider = ProviderConfig::new("x", Api::OpenaiChat, "", "");
    assert_eq!(default("providers", "max_parallel"), provider.max_parallel.to_string());
    assert_eq!(default("providers", "stall_timeout_secs"), provider.stall_timeout.as_secs().to_string());
    let scripted = ProviderConfig::scripted("x", None, "").max_parallel;
    let parallel = &key("providers", "max_parallel").meaning;
    assert!(parallel.ends_with(&format!(" for `scripted` is {scripted}.")), "{parallel}");
    let local = ProviderConfig::new("x", Api::OpenaiChat, "", "").of_this_machine();
    assert!(parallel.contains(&format!("`lmstudio` is {},", local.max_parallel)), "{parallel}");
    let stall = &key("providers", "stall_timeout_secs").meaning;
    assert!(stall.ends_with(&format!("`lmstudio` is {}.", local.stall_timeout.as_secs())), "{stall}");
    assert!(stall.contains(&format!("up to {} s", provider.prompt_timeout.as_secs())), "{stall}");
    let price: Price = toml::from_str("input = 3\noutput = 1\n").unwrap();
    let price = abide_model::Price::from(price);
    assert_eq!((price.cache_read, price.cache_write), (price.input, price.input));
}

/// `ABIDE_BLESS=1` writes the page.
#[test]
fn the_page_matches_the_reference() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/configuration.md");
    if std::env::var_os("ABIDE_BLESS").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, reference().unwrap()).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == reference().unwrap(),
        "{} is not what the code says: ABIDE_BLESS=1 writes it",
        path.display()
    );
}
