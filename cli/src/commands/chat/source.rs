//! The source of messages: a person at the terminal, or lines from a pipe.

use super::slash;
use crate::{
    connection::Daemon,
    error::CommandError,
    output::{screen, text},
    prompt::{Edited, Editor, History, Terminal, program},
};
use abide_client::protocol::method::{ListModels, daemon::ListModelsParams};
use std::{io, path::Path};

const LABEL: &str = "> ";
const HISTORY_FILE: &str = "chat-history";

/// A person at the terminal.
pub(super) struct Person {
    editor: Editor,
    history: History,
}

impl Person {
    /// `None` where there is no terminal.
    pub(super) async fn at_terminal(
        daemon: &mut Daemon,
        keeps_history: bool,
    ) -> Result<Option<Self>, CommandError> {
        let Some(terminal) = Terminal::open() else { return Ok(None) };
        let history = if keeps_history { stored(daemon)? } else { History::in_memory() };
        let lines = slash::lines(&models(daemon).await);
        Ok(Some(Self { editor: Editor::open(terminal, lines)?, history }))
    }

    /// The next text; `None` when the person leaves.
    pub(super) async fn next(&mut self, folder: &Path) -> Result<Option<String>, CommandError> {
        let mut was_interrupted = false;
        loop {
            match self.line(folder).await? {
                Edited::Line(text) => return Ok(Some(text)),
                Edited::Interrupted if !was_interrupted => {
                    was_interrupted = true;
                    screen::note("Ctrl-C again (or Ctrl-D) leaves")?;
                }
                Edited::Interrupted | Edited::End => return Ok(None),
            }
        }
    }

    /// A line that the person types, which is kept.
    pub(super) async fn line(&mut self, folder: &Path) -> Result<Edited, CommandError> {
        let edited = self.editor.line(LABEL, self.history.entries(), folder).await?;
        if let Edited::Line(text) = &edited
            && let Err(error) = self.history.add(text)
        {
            self.history = History::in_memory();
            screen::note(&format!("messages are not kept for the next chat: {error}"))?;
        }
        Ok(edited)
    }

    /// Runs a command of the person's own in their terminal. Nothing of it is sent.
    pub(super) async fn run(&self, line: &str, folder: &Path) -> Result<(), CommandError> {
        let ended = self.editor.lend(program::run(line, folder)).await?.map_err(|error| {
            CommandError::failed(format!("the command cannot be run in {}: {error}", folder.display()))
        })?;
        match ended.code() {
            Some(0) => {}
            Some(code) => screen::note(&format!("exit code {code}"))?,
            None => screen::note("it was ended by a signal")?,
        }
        Ok(())
    }
}

fn stored(daemon: &Daemon) -> Result<History, CommandError> {
    match History::open(daemon.home().state_dir.join(HISTORY_FILE)) {
        Ok(history) => Ok(history),
        Err(error) => {
            screen::note(&format!(
                "earlier messages cannot be read: {}",
                text::one_line(&error.to_string())
            ))?;
            Ok(History::in_memory())
        }
    }
}

/// The models known without asking a provider, for completion only: none if the request fails.
async fn models(daemon: &mut Daemon) -> Vec<String> {
    let Ok(reply) = daemon.call::<ListModels>(ListModelsParams { offline: true, provider: None }).await
    else {
        return Vec::new();
    };
    let listed = reply.providers.into_iter().flat_map(|provider| provider.models);
    let mut models: Vec<String> = std::iter::once(reply.default.model).chain(listed).collect();
    models.sort();
    models.dedup();
    models
}

/// The next line of standard input; `None` at its end, or at Ctrl-C.
pub(super) async fn piped() -> Result<Option<String>, CommandError> {
    Ok(tokio::select! {
        line = tokio::task::spawn_blocking(read_line) => line.map_err(io::Error::other)??,
        _ = tokio::signal::ctrl_c() => None,
    })
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let n = io::stdin().read_line(&mut line)?;
    Ok((n > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}
