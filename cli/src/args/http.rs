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
  abide token add laptop
  abide token add screen --read
  abide token add phone --page https://NAME.TAILNET.ts.net")]
    Add {
        /// The device's name; records say that it has answered
        name: String,
        /// It may only read
        #[arg(long)]
        read: bool,
        /// Where its browser opens Abide's page: print a QR code that opens the page with the token
        #[arg(long, value_name = "URL", value_parser = page)]
        page: Option<String>,
    },
    /// List the tokens
    List,
    /// Make a token void, and cut what its device has open
    Revoke {
        /// The device's name
        name: String,
    },
}

/// The URL of the page, without the slash at its end.
fn page(typed: &str) -> Result<String, String> {
    let url = word(typed)?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    match rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['#', '?', ' '])) {
        true => Ok(url.trim_end_matches('/').to_owned()),
        false => Err("give https://HOST, as the device's browser shall open it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn a_page_is_a_url_that_a_token_can_follow() {
        let table = [
            ("https://a.ts.net", Some("https://a.ts.net")),
            (" https://a.ts.net:8443/ ", Some("https://a.ts.net:8443")),
            ("http://localhost:5000", Some("http://localhost:5000")),
            ("a.ts.net", None),
            ("https://", None),
            ("ftp://a", None),
            ("https://a/#b", None),
            ("https://a/?b", None),
            ("https://a b", None),
            ("", None),
        ];
        for (typed, expected) in table {
            assert_eq!(page(typed).ok().as_deref(), expected, "{typed}");
        }
    }
}
