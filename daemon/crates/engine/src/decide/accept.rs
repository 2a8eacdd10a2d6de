//! Turns an input into records, or refuses it; a refusal changes nothing.

mod answer;
mod call;
mod decide;
mod fork;
mod interruption;
mod intervene;
mod model;
mod relatives;
mod retry;
mod start;
mod wake;

use answer::Answer;
pub(crate) use answer::ends as ends_by_answer;
use decide::Verdict;
pub(crate) use relatives::with_relatives;
pub(crate) use retry::RetryPolicy;
pub(crate) use wake::{accept as wake_up, ends_at, is_over_time};

use crate::{
    decide::{
        command::Command,
        draft::{Draft, End, of_conversation},
        files,
        input::{Input, Refusal, live},
        shown::Shown,
    },
    mint::Mint,
    state::{history::History, task::Task},
};
use abide_protocol::{
    record::{By, CallFinished, ConversationArchived, NewRecord, NoticeKind, Paused, RecordBody, Resumed},
    task::{EndReason, PauseReason},
};

/// The records that `input` adds to `history`, not folded yet. `shown`: of the attempts that it cuts off.
///
/// # Errors
/// The refusal, if the input changes nothing.
pub fn accept(
    history: &History,
    input: impl Into<Input>,
    mut shown: Shown,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let records = of_input(history, input.into(), &mut shown, mint)?;
    Ok(with_relatives(history, records, &mut shown, mint))
}

/// The records of the input itself, without those for the task's parents and sub-tasks.
fn of_input(
    history: &History,
    input: Input,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    match input {
        Input::Command(command) => of_command(history, command, shown, mint),
        Input::Fork(fork) => fork::accept(history, live(history, fork.parent)?, &fork, mint),
        Input::Replied { task, item, replied } => model::replied(live(history, task)?, item, *replied, mint),
        Input::ModelFailed { task, item, failure, traces } => {
            model::failed(live(history, task)?, item, failure, traces, mint)
        }
        Input::CallFinished { task, call, attempt, outcome, result, duration_ms, read_results } => {
            let finished =
                CallFinished { call_id: call, attempt, outcome, result, duration_ms, read_results };
            call::finished(live(history, task)?, finished, mint)
        }
        Input::Recalled { task, call, attempt, recalled, duration_ms } => {
            call::recalled(live(history, task)?, (call, attempt), recalled, duration_ms, mint)
        }
        Input::Checkpointed { task, number, state } => {
            files::checkpointed(history, task, number, state, mint)
        }
        Input::Undone { undo, result } => files::end_undo(history, undo, result, mint),
        Input::Wake => Ok(history.live().flat_map(|task| wake::accept(history, task, shown, mint)).collect()),
        Input::Interrupted { cause, findings, ran_until } => {
            Ok(interruption::accept(history, cause, &findings, ran_until, mint))
        }
    }
}

fn of_command(
    history: &History,
    command: Command,
    shown: &mut Shown,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    match command {
        Command::Create(facts) => Ok(vec![of_conversation(mint, RecordBody::ConversationCreated(facts))]),
        Command::Update(update) => {
            conversation_record(history, mint, RecordBody::ConversationUpdated(update))
        }
        Command::Archive { archived } => conversation_record(
            history,
            mint,
            RecordBody::ConversationArchived(ConversationArchived { archived }),
        ),
        Command::Start(start) => start::accept(history, *start, mint),
        Command::StartBeneath(start) => fork::beneath(history, live(history, start.parent)?, *start, mint),
        Command::Stop { task } => Ok(stop(live(history, task)?, shown, mint)),
        Command::Intervene { task, intervention, by } => {
            Ok(intervene::accept(history, live(history, task)?, intervention, by, shown, mint))
        }
        Command::Pause { task } => Ok(pause(live(history, task)?, mint)),
        Command::Resume { task, by } => resume(history, live(history, task)?, by, mint),
        Command::Answer { task, question, response, by } => {
            answer::accept(history, task, question, Answer { response, by }, shown, mint)
        }
        Command::Decide { approval, decision, note, rule, by } => {
            decide::accept(history, approval, Verdict { decision, note, rule, by }, mint)
        }
        Command::Undo(begun) => files::begin_undo(history, begun, mint),
    }
}

/// A record of a conversation that exists.
fn conversation_record(
    history: &History,
    mint: &mut Mint,
    body: RecordBody,
) -> Result<Vec<NewRecord>, Refusal> {
    if history.conversation.is_none() {
        return Err(Refusal::NoConversation);
    }
    Ok(vec![of_conversation(mint, body)])
}

fn stop(task: &Task, shown: &mut Shown, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.keep_shown(task, shown);
    draft.end(task, End::of(EndReason::Stopped).noticed(NoticeKind::Stopped, "Stopped by you."));
    draft.records
}

fn pause(task: &Task, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    if task.paused.is_none() {
        draft.push(RecordBody::Paused(Paused { reason: PauseReason::User }));
    }
    draft.records
}

/// Resumes a paused task. If the pause asked a question, that question is answered with "go on"; others stay
/// open.
fn resume(
    history: &History,
    task: &Task,
    by: Option<By>,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let Some(was) = task.paused else {
        let holder = history.ancestors(task.id).find(|above| above.own_hold().is_some());
        return Err(holder.map_or(Refusal::NotPaused, |holder| Refusal::Held(holder.id)));
    };
    if let Some(question) = task.questions.values().find(|q| answer::asked_by_pause(q, was)) {
        return Ok(answer::go_on(history, task, question, by, mint));
    }
    let mut draft = Draft::of(task, mint);
    draft.push(RecordBody::Resumed(Resumed { was }));
    Ok(draft.records)
}
