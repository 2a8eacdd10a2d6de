use crate::{
    args::KeyCommand,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
    piped,
    prompt::Terminal,
};
use abide_client::protocol::method::{SetKey, daemon::SetKeyParams};

/// The longest key accepted, far above any provider's.
const MAX_KEY: u64 = 16 * 1024;

pub(crate) async fn key(command: KeyCommand, json: bool) -> Result<Exit, CommandError> {
    let (provider, key) = match command {
        KeyCommand::Set { provider } => {
            let key = read(&provider).await?;
            (provider, Some(key))
        }
        KeyCommand::Unset { provider } => (provider, None),
    };
    let removed = key.is_none();
    let name = text::one_line(&provider);
    let mut daemon = Daemon::started().await?;
    let reply = daemon.call::<SetKey>(SetKeyParams { provider: provider.clone(), key }).await?;
    if json {
        json::document(&reply)?;
    } else {
        let place = text::one_line(&reply.stored_in);
        let words = match (removed, reply.had_key) {
            (false, _) => format!("{name}: key stored in {place}\n"),
            (true, true) => format!("{name}: key removed; stored now: {place}\n"),
            (true, false) => format!("{name}: no key was stored, none is removed; stored now: {place}\n"),
        };
        screen::print(&words)?;
    }
    if !removed {
        // The key is stored, whether or not this can be found out.
        drop(daemon.warn_of_unknown(&provider).await);
    }
    Ok(Exit::Done)
}

/// Reads the key without echo at a terminal, else from standard input. Never from the command line, which other users can see.
pub(super) async fn read(provider: &str) -> Result<String, CommandError> {
    let typed = if let Some(terminal) = Terminal::open() {
        let label = format!("API key of {} (not shown): ", text::one_line(provider));
        let typed = tokio::select! {
            typed = terminal.secret(&label) => typed?,
            _ = tokio::signal::ctrl_c() => {
                screen::note("")?;
                None
            }
        };
        typed.unwrap_or_default()
    } else {
        piped::text(MAX_KEY).await?
    };
    check(&typed).map(str::to_owned)
}

pub(super) fn check(typed: &str) -> Result<&str, CommandError> {
    let key = typed.trim();
    if key.is_empty() {
        return Err(CommandError::usage("no key was given, nothing is changed"));
    }
    if key.len() as u64 >= MAX_KEY || key.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(CommandError::usage("that is not an API key: it is one word"));
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_key_is_one_word() {
        assert_eq!(check(" sk-1234\n").unwrap(), "sk-1234");
        for bad in ["", " \n", "two words", "a\nb", "a\u{1b}b"] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
