use super::word::word;
use crate::complete::{Kind, known_providers};
use abide_client::protocol::provider::APIS;
use clap::{Args, Subcommand, builder::PossibleValuesParser};

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Set up a provider: it is tested, then its key and address are stored
    #[command(after_help = "\
At a terminal what is not given is asked. Known by name, with their addresses:
  anthropic, openai, openrouter, gemini, mistral, groq, deepseek
  ollama, llama-server, lmstudio      on this machine; they need no key
A provider that is set up already is changed.

Examples:
  abide provider add
  pass show groq | abide provider add groq --key-stdin
  abide provider add ollama --model qwen3 --default
  abide provider add corp --base-url https://llm.example/v1 --key-env CORP_KEY")]
    Add(AddArgs),
    /// List the providers: their keys and addresses
    List,
    /// Remove a provider from the configuration, and its stored key
    Remove {
        /// The provider, as `abide provider list` names it
        #[arg(value_parser = word, add = Kind::Provider.completer())]
        name: String,
    },
}

#[derive(Debug, Default, Args)]
pub(crate) struct AddArgs {
    /// A known provider's name, or a name of your choice: the part of PROVIDER/MODEL before the slash
    #[arg(value_parser = word, add = known_providers())]
    pub(crate) name: Option<String>,
    /// The API that it speaks; absent: the one of a known provider, else openai-chat
    #[arg(long, value_parser = PossibleValuesParser::new(APIS))]
    pub(crate) api: Option<String>,
    /// What the API's paths are appended to; absent: the address of a known provider
    #[arg(long, value_name = "URL", value_parser = word)]
    pub(crate) base_url: Option<String>,
    /// The variable of the daemon's environment that holds the key
    #[arg(long, value_name = "NAME", value_parser = word, conflicts_with = "key_stdin")]
    pub(crate) key_env: Option<String>,
    /// Read the key from standard input, and store it as `abide key set` does
    #[arg(long)]
    pub(crate) key_stdin: bool,
    /// The model to use, as the provider names it; one short request tests the model
    #[arg(long, value_name = "MODEL", value_parser = word)]
    pub(crate) model: Option<String>,
    /// Make this model the default
    #[arg(long)]
    pub(crate) default: bool,
}
