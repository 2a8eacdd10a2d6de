mod messages;

use crate::{
    args::RunArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, Interrupt, Target},
    output::{json, screen},
    request,
};
use abide_client::protocol::{
    limits::MAX_PROMPT,
    method::{subscription::Scope, task::StartTaskParams},
};
use std::io::{self, IsTerminal as _, Read as _};

pub(crate) async fn run(args: RunArgs, json: bool) -> Result<Exit, CommandError> {
    let prompt = prompt(&args.prompt)?;
    let messages = args.messages.as_deref().map(messages::read).transpose()?.unwrap_or_default();
    let files = args.files.iter().map(|path| request::absolute(path)).collect::<Result<_, _>>()?;
    let mut daemon = Daemon::started().await?;
    if !json {
        daemon.warn().await?;
    }
    let conversation = request::conversation(&mut daemon, &args.agent, json).await?;
    let params = request::params(&args.agent, prompt, conversation, None)?;
    let params = StartTaskParams { template: args.template, task_id: args.id, files, messages, ..params };
    let started = request::start(&mut daemon, params).await?;
    if !json {
        request::say_where(&mut daemon, &args.agent, started).await?;
    }
    if args.detach {
        if json {
            json::document(&started)?;
        } else {
            screen::print(&format!("{}\n", started.task_id))?;
        }
        return Ok(Exit::Done);
    }
    let target = Target {
        conversation: started.conversation_id,
        scope: Scope::Conversation(started.conversation_id),
        task: Some(started.task_id),
        is_over: false,
        since: None,
        with_prompts: false,
        extent: args.output.extent(),
        json,
        answerer: Answerer::person_or(json, Answerer::Nobody),
        interrupt: Interrupt::Detaches,
    };
    let ending = Follow::open(&mut daemon, target).await?.run().await?;
    ending.print(&started.task_id.short(), json)
}

/// The words of the command line, then the piped text.
fn prompt(words: &[String]) -> Result<String, CommandError> {
    let mut piped = String::new();
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut bytes = Vec::new();
        stdin.lock().take(MAX_PROMPT as u64 + 1).read_to_end(&mut bytes)?;
        piped = String::from_utf8_lossy(&bytes).into_owned();
    }
    join(&words.join(" "), &piped).ok_or_else(|| {
        CommandError::usage("what should the agent do?")
            .hinted("abide run WHAT TO DO; `abide chat` to talk, `abide demo` to look")
    })
}

fn join(words: &str, piped: &str) -> Option<String> {
    match (words.trim().is_empty(), piped.trim().is_empty()) {
        (true, true) => None,
        (true, false) => Some(piped.trim_end().to_owned()),
        (false, true) => Some(words.to_owned()),
        (false, false) => Some(format!("{words}\n\n{}", piped.trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn piped_text_is_appended_to_the_words() {
        assert_eq!(join("explain", "a\nb\n").as_deref(), Some("explain\n\na\nb"));
        assert_eq!(join("explain", " \n").as_deref(), Some("explain"));
        assert_eq!(join("", "a\n").as_deref(), Some("a"));
        assert_eq!(join(" ", ""), None);
    }
}
