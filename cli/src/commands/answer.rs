use crate::{
    args::AnswerArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    named::Named,
    output::{pending, screen},
    piped,
    prompt::{Edited, Terminal, Typed},
    verdict::Verdict,
};
use abide_client::protocol::{
    ErrorKind,
    inbox::Question,
    method::{UserResponse, inbox::UserResponseParams},
};

/// The longest answer from a pipe; a longer text belongs in a file.
const MAX_ANSWER: u64 = 1024 * 1024;
const LABEL: &str = "answer: ";

pub(crate) async fn answer(args: AnswerArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let named = Named::find(&mut daemon, &args.id).await?;
    let params = match named.only_question()? {
        Some((task, question)) => UserResponseParams {
            task_id: task.to_string(),
            question_id: Some(question.id.to_string()),
            response: if args.decline { None } else { Some(words(&question, &args.text).await?) },
        },
        None if args.text.is_empty() && !args.decline => return Err(not_open(&args.id)),
        // It may be answered already: the daemon replies with that answer and its time.
        None => UserResponseParams {
            task_id: args.id.clone(),
            question_id: None,
            response: (!args.decline).then(|| args.text.join(" ")),
        },
    };
    let response = params.response.clone();
    let reply = daemon.call_again::<UserResponse>(params).await;
    let reply = reply.map_err(|e| if e.is(ErrorKind::NotFound) { not_open(&args.id) } else { e })?;
    Verdict::of_answer(&reply, response.as_deref()).end(&reply, json)
}

fn not_open(id: &str) -> CommandError {
    CommandError::failed(format!("no open question is {id}, nor of a task {id}"))
        .hinted("`abide inbox` lists what waits; an approval takes `abide approve` or `abide reject`")
}

async fn words(question: &Question, given: &[String]) -> Result<String, CommandError> {
    let line = if given.is_empty() { ask(question).await? } else { given.join(" ") };
    match Typed::at(question, &line) {
        Typed::Answer(answer) => Ok(answer),
        Typed::Nothing => Err(CommandError::usage("no answer was given, the question stays open")
            .hinted("to decline it: --decline")),
        Typed::NoSuchNumber => {
            let words = format!("no choice has the number {}; the question stays open", line.trim());
            Err(CommandError::usage(words).hinted(format!("its choices: {}", question.choices.join(", "))))
        }
        Typed::NotAChoice => {
            Err(CommandError::usage(format!("this question takes: {}", question.choices.join(", "))))
        }
    }
}

async fn ask(question: &Question) -> Result<String, CommandError> {
    if let Some(terminal) = Terminal::open() {
        let mut screen = screen::Screen::new();
        screen.prose(&pending::question(question))?;
        return Ok(match terminal.ask(LABEL).await? {
            Edited::Line(line) => line,
            Edited::Interrupted | Edited::End => String::new(),
        });
    }
    Ok(piped::text(MAX_ANSWER).await?)
}
