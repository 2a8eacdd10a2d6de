use crate::{
    args::AnswerArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{pending, screen},
    prompt::{Edited, Terminal, Typed},
    verdict::Verdict,
};
use abide_client::protocol::{
    self, Candidate, ErrorKind, MAX_CANDIDATES, TaskId,
    inbox::{InboxItem, Pending, Question},
    method::{
        Inbox, UserResponse,
        inbox::{InboxParams, UserResponseParams},
    },
    task::Status,
};
use std::{
    io::{self, Read as _},
    sync::atomic::AtomicBool,
};

/// The longest answer from a pipe; a longer text belongs in a file.
const MAX_ANSWER: u64 = 1024 * 1024;
const LABEL: &str = "answer: ";

pub(crate) async fn answer(args: AnswerArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let items = daemon.call::<Inbox>(InboxParams::default()).await?.items;
    let params = match find(&items, &args.id)? {
        Some((item, question)) => UserResponseParams {
            task_id: item.task_id.to_string(),
            question_id: Some(question.id.to_string()),
            response: if args.decline { None } else { Some(words(question, &args.text).await?) },
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

/// The open question with that id, or the only one of the task with that id or of its sub-tasks; `None`: no such question is open.
fn find<'a>(items: &'a [InboxItem], id: &str) -> Result<Option<(&'a InboxItem, &'a Question)>, CommandError> {
    let questions = items.iter().filter_map(|item| match &item.pending {
        Pending::Question(q) => Some((item, q)),
        Pending::Approval(_) => None,
    });
    let questions: Vec<_> = questions.collect();
    let own =
        |(item, q): &&(&InboxItem, &Question)| fits(&q.id.to_string(), id) || fits_task(item.task_id, id);
    let below = |(item, _): &&(&InboxItem, &Question)| item.root_id.is_some_and(|root| fits_task(root, id));
    let mut fitting: Vec<_> = questions.iter().filter(own).copied().collect();
    if fitting.is_empty() {
        fitting = questions.iter().filter(below).copied().collect();
    }
    match fitting[..] {
        [one] => Ok(Some(one)),
        [] => Ok(None),
        _ => {
            let candidate = |(_, question): &(_, &Question)| Candidate {
                id: question.id.to_string(),
                title: question.text.clone(),
                status: Status::WaitingUser.name().to_owned(),
            };
            let candidates = fitting.iter().take(MAX_CANDIDATES).map(candidate).collect();
            let words = format!("{id:?} fits several open questions; give more of a question's id");
            Err(protocol::Error::new(ErrorKind::Ambiguous, words).about(id).among(candidates).into())
        }
    }
}

fn not_open(id: &str) -> CommandError {
    CommandError::failed(format!("no open question is {id}, nor of a task {id}"))
        .hinted("`abide inbox` lists what waits; an approval takes `abide approve` or `abide reject`")
}

/// Whether `given` is a beginning or end of `id`.
pub(crate) fn fits(id: &str, given: &str) -> bool {
    let plain = |s: &str| s.replace('-', "").to_ascii_lowercase();
    let (id, given) = (plain(id), plain(given));
    !given.is_empty() && (id.starts_with(&given) || id.ends_with(&given))
}

/// The same of a task, or whether it is the beginning of its last eight digits.
pub(crate) fn fits_task(id: TaskId, given: &str) -> bool {
    let is_as_shown = !given.is_empty() && id.short().starts_with(&given.to_ascii_lowercase());
    is_as_shown || fits(&id.to_string(), given)
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
        screen.note(&pending::question(question))?;
        let began = AtomicBool::new(false);
        let edited = tokio::select! {
            edited = terminal.edit(LABEL, &began) => edited?,
            _ = tokio::signal::ctrl_c() => Edited::Interrupted,
        };
        return Ok(match edited {
            Edited::Line(line) => line,
            Edited::Interrupted | Edited::End => String::new(),
        });
    }
    let mut piped = String::new();
    io::stdin().lock().take(MAX_ANSWER).read_to_string(&mut piped)?;
    Ok(piped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    fn item(pending: Pending) -> InboxItem {
        let task = fixture::task();
        InboxItem {
            task_id: task.id,
            conversation_id: task.conversation_id,
            conversation_title: String::new(),
            pending,
            root_id: None,
            title: String::new(),
            depth: 0,
        }
    }

    #[test]
    fn a_question_is_found_by_its_id_or_its_tasks() {
        let items =
            [item(Pending::Approval(fixture::approval())), item(Pending::Question(fixture::question()))];
        for id in ["00000004", "00000001", "00000000-0000-0000-0000-000000000004"] {
            assert_eq!(find(&items, id).unwrap().unwrap().1.id, fixture::question().id, "{id}");
        }
        for id in ["00000005", "", "-", "4444"] {
            assert_eq!(find(&items, id).unwrap(), None, "{id}");
        }
        let two =
            [item(Pending::Question(fixture::question())), item(Pending::Question(fixture::question()))];
        assert!(find(&two, "00000001").is_err());
    }
}
