use super::word::word;
use crate::complete::Kind;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Do not ask the providers for their models
    #[arg(long)]
    pub(crate) offline: bool,
    /// Send this model one short request, to see whether its address, key and name work. Of a provider, its
    /// default or first model is asked
    #[arg(long, value_name = "MODEL", conflicts_with = "offline", value_parser = word, add = Kind::Model.completer())]
    pub(crate) check: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Rebuild everything that is derived from records, and say whether anything differed; the daemon must
    /// not run
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Write a copy of the database, also while the daemon runs
    #[arg(long, value_name = "FILE", conflicts_with = "rebuild", group = "copy")]
    pub(crate) backup: Option<PathBuf>,
    /// Write what can be read of a damaged database to a new one, and say what is lost; the daemon must not
    /// run
    #[arg(long, value_name = "FILE", conflicts_with = "rebuild", group = "copy")]
    pub(crate) salvage: Option<PathBuf>,
    /// Let the copy replace a file that exists
    #[arg(long, requires = "copy")]
    pub(crate) force: bool,
    /// Go on from a database that has lost its newest records: says what is lost, and asks; the daemon must
    /// not run
    #[arg(long, conflicts_with_all = ["rebuild", "copy"])]
    pub(crate) accept_loss: bool,
    /// Accept it without being asked
    #[arg(long, requires = "accept_loss")]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read it as the daemon does, and say what is wrong with it
    Check,
    /// Edit a copy of the file in your editor ($VISUAL, $EDITOR); it takes the file's place when it is valid
    Edit,
    /// Print every key with its type, default and meaning
    Reference,
    /// Print the settings that `abide config set` changes, and the file they are in
    Show,
    /// Change a setting in the file; its comments and everything else in it stay
    #[command(after_help = "\
Settings:
  model.default   PROVIDER/MODEL, or auto: the first that is there
  notify.enabled  on or off: desktop notifications

Examples:
  abide config set model.default anthropic/claude-sonnet-5
  abide config set model.default auto
  abide config set notify.enabled off")]
    Set {
        /// Which setting
        #[arg(value_enum)]
        setting: Setting,
        /// Its new value
        #[arg(value_parser = word)]
        value: String,
    },
}

/// The settings that clients can change, by their keys in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Setting {
    #[value(name = "model.default")]
    Model,
    #[value(name = "notify.enabled")]
    Notifications,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Names in braces, such as {step}, are replaced by the task's values. A task keeps the prompts that it started with.

Examples:
  abide prompts            which file is in force for each phase, and the names it may use
  abide prompts --write    write the built-in prompts to edit; files that exist stay as they are")]
pub(crate) struct PromptsArgs {
    /// Write the built-in prompts into the configuration's folder `prompts`, beside files that exist
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A persona is a file NAME.md in the configuration's folder `personas`, a table [personas.NAME] of the \
configuration, or built in.

Examples:
  abide personas
  abide personas --write    write the built-in ones to edit; files that exist stay as they are
  abide run --persona reviewer review the last commit")]
pub(crate) struct PersonasArgs {
    /// Write the built-in personas into the configuration's folder `personas`, beside files that exist
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the rules of the configuration and those that are remembered
    List,
    /// Remember a rule for a workspace; the configuration has those for every one
    #[command(after_help = "\
Examples:
  abide rules add 'shell(cargo test *)'
  abide rules add --deny 'shell(git push *)'
  abide rules add --ask 'edit(.github/**)'")]
    Add {
        /// As shell(cargo test *), edit(src/**) or read(**/.env)
        rule: String,
        /// What it matches does not run
        #[arg(long, conflicts_with = "ask")]
        deny: bool,
        /// What it matches asks, although another rule allows it
        #[arg(long)]
        ask: bool,
        /// The workspace; absent: this folder
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
    /// Say which rule decides about a shell command, and why; nothing runs
    Test {
        /// The command line, as one word
        command: String,
        /// The workspace; absent: this folder
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
    /// Forget a remembered decision: the same call asks again
    Forget {
        /// The decision's id, as `abide rules` shows it
        #[arg(value_parser = word, add = Kind::Rule.completer())]
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Store a key; it is asked for without echo, or read from standard input
    #[command(after_help = "\
Examples:
  abide key set anthropic
  pass show anthropic | abide key set anthropic")]
    Set {
        /// The provider, as `abide models` names it
        #[arg(value_parser = word, add = Kind::Provider.completer())]
        provider: String,
    },
    /// Remove a stored key
    Unset {
        /// The provider, as `abide models` names it
        #[arg(value_parser = word, add = Kind::Provider.completer())]
        provider: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Start it, if it is not running
    Start,
    /// Stop it at the next boundary; tasks go on when it starts again
    Stop,
    /// Stop it and start it again
    Restart,
    /// Let the program that is installed now take over, if nothing is cut off by that
    #[command(after_help = "\
By itself the daemon goes over to a newly installed program as soon as nothing is cut off by that; see \
`[daemon] update` in `abide config reference`. `abide daemon restart` does not wait for that.")]
    Update {
        /// How long to wait until all tasks are at a boundary; meanwhile none begins anything
        #[arg(long, value_name = "SECONDS", default_value_t = 30)]
        patience: u64,
    },
    /// Say whether it runs, who started it, and what it does
    Status,
    /// Start it at every login, so that unfinished tasks go on by themselves
    #[command(after_help = "\
By units of systemd's user manager; where there is none, by an entry in the desktop's autostart folder. \
Files that were edited by hand are kept.")]
    Install(InstallArgs),
    /// Take back what install did; tasks and conversations stay
    Uninstall(UninstallArgs),
    /// Print its newest log
    Logs(LogsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Let tasks go on after your last logout, and start with the machine (systemd only)
    #[arg(long)]
    pub(crate) linger: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Delete the configuration, keys and all conversations too: says what that is, and asks
    #[arg(long)]
    pub(crate) purge: bool,
    /// Delete without being asked
    #[arg(long, requires = "purge")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Go on with what is logged from now on
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// At most so many lines, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub(crate) lines: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder; made if it is not there
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Put one of these where your shell reads its settings:
  bash  source <(abide completions bash)      # ~/.bashrc
  zsh   source <(abide completions zsh)       # ~/.zshrc, after compinit
  fish  abide completions fish | source       # ~/.config/fish/config.fish")]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    pub(crate) shell: Shell,
}
