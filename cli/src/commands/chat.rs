use crate::{
    args::ChatArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Ending, Follow, What, Who},
    output::{
        call::Extent,
        screen::{self, Screen},
        style::{STRONG, paint},
    },
    prompt::Terminal,
    request,
};
use abide_client::protocol::{ConversationId, task::Mode};
use std::io;

/// Messages come from the terminal, or a line each from a pipe.
enum Source {
    Person(Terminal),
    Pipe,
}

pub(crate) async fn chat(args: ChatArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    daemon.warn().await?;
    let mut conversation = request::conversation(&mut daemon, &args.agent).await?;
    // A conversation that goes on keeps its mode.
    let default_mode = if conversation.is_none() { Some(Mode::Chat) } else { None };
    let source = Terminal::open().map_or(Source::Pipe, Source::Person);
    if matches!(source, Source::Person(_)) {
        screen::note("Ctrl-D or /exit leaves; the conversation stays.")?;
    }
    while let Some(message) = source.next().await? {
        if message.trim().is_empty() {
            continue;
        }
        let params = request::params(&args.agent, message, conversation, default_mode)?;
        let started = match (request::start(&mut daemon, params).await, &source) {
            (Ok(started), _) => started,
            // A person can do something about it and say it again.
            (Err(error), Source::Person(_)) => {
                error.show();
                continue;
            }
            (Err(error), Source::Pipe) => return Err(error),
        };
        conversation = Some(started.conversation_id);
        let what = What {
            conversation: started.conversation_id,
            task: Some(started.task_id),
            is_over: false,
            since: None,
            with_prompts: false,
            extent: Extent::Tail,
            json,
            who: Who::person_or(json, Who::Nobody),
        };
        let ending = Follow::open(&mut daemon, what).await?.run().await?;
        let exit = told(&ending, started.conversation_id, json)?;
        let leaves = matches!(ending, Ending::Detached { .. })
            || (exit != Exit::Done && matches!(source, Source::Pipe));
        if leaves {
            return Ok(exit);
        }
    }
    if let (Some(id), Source::Person(_)) = (conversation, &source) {
        screen::note(&format!("to go on later: abide chat --conversation {}", id.short()))?;
    }
    Ok(Exit::Done)
}

/// In a talk, only what went otherwise than it should is worth a word.
fn told(ending: &Ending, conversation: ConversationId, json: bool) -> Result<Exit, CommandError> {
    if let Ending::Ended(task) = ending
        && Exit::of_task(task) == Some(Exit::Done)
    {
        return Ok(Exit::Done);
    }
    ending.tell(&conversation.short(), json)
}

impl Source {
    async fn next(&self) -> Result<Option<String>, CommandError> {
        let line = match self {
            Self::Person(terminal) => {
                let mut screen = Screen::new();
                screen.prompt(&paint(STRONG, "> "))?;
                let typed = tokio::select! {
                    typed = terminal.block() => typed?,
                    _ = tokio::signal::ctrl_c() => None,
                };
                if typed.is_none() {
                    screen.note("")?;
                }
                typed
            }
            Self::Pipe => tokio::select! {
                line = tokio::task::spawn_blocking(piped_line) => line.map_err(io::Error::other)??,
                _ = tokio::signal::ctrl_c() => None,
            },
        };
        Ok(line.filter(|line| !matches!(line.trim(), "/exit" | "/quit")))
    }
}

fn piped_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let n = io::stdin().read_line(&mut line)?;
    Ok((n > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}
