use super::word::word;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Without --url, what ABIDE_HTTP_URLS says, else ASPNETCORE_URLS (with ; between addresses), else \
http://localhost:5000. \
`[http] listen` in the configuration opens it whenever the daemon starts.

Examples:
  abide serve
  abide serve --url http://localhost:8080 --detach
  abide token add phone")]
pub(crate) struct ServeArgs {
    /// Where to listen; may be given several times. localhost is both loopback addresses
    #[arg(long, value_name = "URL", value_parser = word)]
    pub(crate) url: Vec<String>,
    /// Return at once; it stays open until the daemon ends
    #[arg(long)]
    pub(crate) detach: bool,
    /// Allow addresses that other machines reach: nothing is encrypted, and who can read the network reads
    /// the tokens
    #[arg(long)]
    pub(crate) plain: bool,
    /// Close it at all addresses; those of the configuration are opened again when the daemon starts
    #[arg(long, conflicts_with_all = ["url", "detach", "plain"])]
    pub(crate) stop: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it; it is shown this once
    #[command(after_help = "\
Examples:
  abide token add phone
  abide token add screen --read")]
    Add {
        /// The device's name; records say that it has answered
        name: String,
        /// It may only read
        #[arg(long)]
        read: bool,
    },
    /// List the tokens
    List,
    /// Make a token void, and cut what its device has open
    Revoke {
        /// The device's name
        name: String,
    },
}
