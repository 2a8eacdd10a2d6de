mod messages;
mod result;

use crate::{
    args::RunArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, Interrupt, Target},
    output::{json, screen},
    piped::{self, Kind},
    request,
};
use abide_client::protocol::{
    limits::MAX_PROMPT,
    method::{subscription::Scope, task::StartTaskParams},
};
use result::Form;
use serde_json::json;

pub(crate) async fn run(args: RunArgs, json: bool) -> Result<Exit, CommandError> {
    let prompt = prompt(&args.prompt, json).await?;
    let messages = args.messages.as_deref().map(messages::read).transpose()?.unwrap_or_default();
    let files = args.files.iter().map(|path| request::absolute(path)).collect::<Result<_, _>>()?;
    let mut daemon = Daemon::started().await?;
    let form = match (args.result, args.json_result) {
        (true, _) => Some(Form::Text),
        (_, true) => Some(Form::Object),
        _ => None,
    };
    let is_quiet = form.is_some();
    if !json && !is_quiet {
        daemon.warn().await?;
    }
    let conversation = request::conversation(&mut daemon, &args.agent, json || is_quiet).await?;
    let params = request::params(&args.agent, prompt, conversation, None)?;
    let params = match args.parent.clone() {
        None => StartTaskParams { template: args.template, task_id: args.id, files, messages, ..params },
        // All else is as in its parent.
        parent_id => StartTaskParams {
            message: params.message,
            tools: params.tools,
            client_message_id: params.client_message_id,
            task_id: args.id,
            parent_id,
            ..StartTaskParams::default()
        },
    };
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
        scope: match args.parent {
            None => Scope::Conversation(started.conversation_id),
            Some(_) => Scope::Task(started.task_id),
        },
        task: Some(started.task_id),
        is_over: false,
        since: None,
        with_prompts: false,
        extent: args.output.extent(),
        json,
        is_quiet,
        answerer: Answerer::person_or(json, Answerer::Nobody),
        interrupt: Interrupt::Detaches,
    };
    let ending = Follow::open(&mut daemon, target).await?.run().await?;
    match form {
        None => ending.print(&started.task_id.short(), json),
        Some(form) => result::print(form, ending, &mut daemon, started.task_id).await,
    }
}

/// The last word, for standard input.
const STDIN: &str = "-";

/// The words of the command line, then standard input: if the last word is `-`, or there is none, or it is a
/// file. A pipe beside words may be one that never ends, which whoever started this program has left.
async fn prompt(words: &[String], json: bool) -> Result<String, CommandError> {
    let (words, is_named) = match words {
        [words @ .., last] if last == STDIN => (words, true),
        words => (words, false),
    };
    let piped = match piped::kind() {
        _ if is_named => true,
        Kind::File => true,
        Kind::Pipe if words.is_empty() => true,
        Kind::Pipe => {
            say_unread(json)?;
            false
        }
        Kind::Other => false,
    };
    let piped = if piped { piped::bytes(MAX_PROMPT as u64 + 1).await? } else { Vec::new() };
    join(&words.join(" "), &String::from_utf8_lossy(&piped)).ok_or_else(|| {
        CommandError::usage("what should the agent do?")
            .hinted("abide run WHAT TO DO; `abide chat` to talk, `abide demo` to look")
    })
}

fn say_unread(json: bool) -> Result<(), CommandError> {
    let words = "standard input was not read; to append it to the prompt, end the command with a dash: abide run WHAT TO DO -";
    let line = if json { json!({ "warning": words }).to_string() } else { words.to_owned() };
    Ok(screen::note(&line)?)
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
