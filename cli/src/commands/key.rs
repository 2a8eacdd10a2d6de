use crate::{
    args::KeyCommand,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
    piped,
    prompt::Terminal,
};
use abide_client::protocol::{
    key::{self, KeyFault},
    method::{SetKey, daemon::SetKeyParams},
};

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

/// Reads the key without echo at a terminal, else from standard input. Never from the command line, which
/// other users can see.
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
        piped::text(key::MAX as u64).await?
    };
    check(&typed).map(str::to_owned)
}

pub(super) fn check(typed: &str) -> Result<&str, CommandError> {
    key::read(typed).map_err(|fault| match fault {
        KeyFault::Empty => CommandError::usage("no key was given, nothing is changed"),
        fault => CommandError::usage(format!("that is not an API key: {fault}")),
    })
}
