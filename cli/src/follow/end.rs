//! The ways in which following ends, and the message and exit code of each.

use super::{Answerer, Follow};
use crate::{
    error::CommandError,
    exit::Exit,
    output::{
        markdown, measure, pending, ps, screen,
        style::{FAINT, PLAIN, paint},
        text,
    },
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        inbox::Pending,
        method::{GetTask, task::GetTaskParams},
        task::AgentTask,
    },
    view::Connection,
};

pub(crate) enum FollowEnd {
    Ended(Box<AgentTask>),
    /// The conversation was deleted, and the task with it.
    Deleted,
    /// The person detached; the task goes on. The records up to the cursor were printed.
    Detached {
        cursor: Seq,
    },
    /// The task waits for an answer, and there is no person at a terminal.
    Waits(Box<Pending>),
    /// The task is paused, and there is no person at a terminal to resume it.
    Paused(Box<AgentTask>),
}

impl FollowEnd {
    /// Prints the message on standard error, and returns the exit code.
    pub(crate) fn print(&self, id: &str, json: bool) -> Result<Exit, CommandError> {
        let (words, exit) = self.message(id, json, screen::note_width());
        // In JSON the task's end was printed already.
        if !json || !matches!(self, Self::Ended(_) | Self::Deleted) {
            screen::note(&words)?;
        }
        Ok(exit)
    }

    /// As [`Self::print`], but prints nothing if the task is done; and leaving the task is no success for a
    /// script that waits for its result.
    pub(crate) fn print_unless_done(&self, id: &str) -> Result<Exit, CommandError> {
        let (words, exit) = self.message(id, false, screen::note_width());
        let exit = if matches!(self, Self::Detached { .. }) { Exit::Cancelled } else { exit };
        if exit != Exit::Done {
            screen::note(&words)?;
        }
        Ok(exit)
    }

    /// The message and the exit code. `columns`: the terminal's width, if standard error is one.
    fn message(&self, id: &str, json: bool, columns: Option<usize>) -> (String, Exit) {
        match self {
            Self::Ended(task) => (ended(task, columns), Exit::of_task(task).unwrap_or(Exit::Failed)),
            Self::Deleted => ("the conversation was deleted".to_owned(), Exit::Cancelled),
            Self::Detached { cursor } => (detached(id, json.then_some(*cursor), columns), Exit::Done),
            Self::Waits(item) => (waits(item, columns), Exit::NeedsPerson),
            Self::Paused(task) => {
                let status = ps::status(task).0;
                let sentence = format!("{status}; to let it go on:");
                (
                    with_command(&sentence, &format!("abide resume {}", task.id.short()), columns),
                    Exit::NeedsPerson,
                )
            }
        }
    }
}

fn ended(task: &AgentTask, columns: Option<usize>) -> String {
    let (status, style) = ps::status(task);
    let steps = measure::counted(u64::from(task.step_count), "step");
    let took =
        task.ended_at.map(|at| format!(" · {}", measure::duration(task.worked(at)))).unwrap_or_default();
    let usage = measure::usage(&task.usage_of_all());
    let figures = format!("· {steps} · {usage}{took} · task {}", task.id.short());
    let mut lines = match columns {
        Some(columns) => markdown::styled(&[(style, &status), (PLAIN, " "), (FAINT, &figures)], columns),
        None => vec![format!("{} {}", paint(style, &status), paint(FAINT, &figures))],
    };
    match (&task.error_message, columns) {
        (None, _) => {}
        (Some(error), Some(columns)) => lines.extend(markdown::plain(error, columns)),
        (Some(error), None) => lines.push(text::block(error).into_owned()),
    }
    lines.join("\n")
}

fn detached(id: &str, cursor: Option<Seq>, columns: Option<usize>) -> String {
    let since = cursor.map(|Seq(seq)| format!(" --json --since {seq}")).unwrap_or_default();
    let sentence = "detached, the work goes on; to come back:";
    with_command(sentence, &format!("abide watch {id}{since}"), columns)
}

/// The sentence and the command on one line. If that is too long, the command gets its own line, so that it
/// can be copied.
fn with_command(sentence: &str, command: &str, columns: Option<usize>) -> String {
    let line = format!("{sentence} {command}");
    match columns {
        Some(columns) if text::width(&line) > columns => {
            let mut lines = markdown::plain(sentence, columns);
            lines.push(format!("  {command}"));
            lines.join("\n")
        }
        _ => line,
    }
}

fn waits(item: &Pending, columns: Option<usize>) -> String {
    format!(
        "{}it waits for you, and there is no terminal; to go on:\n  {}",
        pending::pending(item, columns),
        pending::how_to_answer(item)
    )
}

impl Follow<'_> {
    pub(crate) const fn detached(&self) -> FollowEnd {
        FollowEnd::Detached { cursor: self.view.cursor() }
    }

    /// How the following ends, if it ends now.
    pub(super) async fn ending(&mut self) -> Result<Option<FollowEnd>, CommandError> {
        if let Connection::Ended { reason } = self.view.connection() {
            return Err(CommandError::failed(format!("lost the daemon: {reason}"))
                .hinted("`abide ps` shows the state of all tasks"));
        }
        if self.view.is_deleted() {
            return Ok(Some(FollowEnd::Deleted));
        }
        let Some(id) = self.target.task else { return Ok(None) };
        if self.saw_end || (self.target.is_over && self.is_quiet().await?) {
            let mut task = self.ended_task(id).await?;
            task.error_message = task.error_message.filter(|error| !self.printer.has_printed(error));
            if self.target.is_told() {
                // The event of the task's end, which prints the summary, may be before the cursor.
                self.printer.summary(task.summary.as_deref(), &mut self.screen)?;
            }
            return Ok(Some(FollowEnd::Ended(Box::new(task))));
        }
        let alone = matches!(self.target.answerer, Answerer::Nobody | Answerer::Itself);
        Ok(self
            .view
            .task(id)
            .filter(|task| alone && task.is_held())
            .map(|task| FollowEnd::Paused(Box::new(task.clone()))))
    }

    /// The ended task, read again: the last update may lack its final usage.
    async fn ended_task(&mut self, id: TaskId) -> Result<AgentTask, CommandError> {
        let params = GetTaskParams { task_id: id.to_string(), history: false };
        match self.daemon.call_once::<GetTask>(params).await {
            Ok(reply) => Ok(reply.task),
            Err(error) => self.view.task(id).cloned().ok_or(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::task::{EndReason, PauseReason, Status};

    #[test]
    fn each_end_has_its_exit_code() {
        let ended = |reason: EndReason| {
            let task = AgentTask { status: reason.status(), end_reason: Some(reason), ..fixture::task() };
            FollowEnd::Ended(Box::new(task)).message("1", true, None).1
        };
        assert_eq!(ended(EndReason::Completed), Exit::Done);
        assert_eq!(ended(EndReason::StepLimit), Exit::Limit);
        assert_eq!(ended(EndReason::Stopped), Exit::Cancelled);
        assert_eq!(ended(EndReason::Error), Exit::Failed);
        assert_eq!(
            FollowEnd::Waits(Box::new(Pending::Question(fixture::question()))).message("1", false, None).1,
            Exit::NeedsPerson
        );
        assert_eq!(FollowEnd::Detached { cursor: Seq(7) }.message("1", false, None).1, Exit::Done);
        let left = detached("5f2c81d0", Some(Seq(7)), None);
        assert!(left.ends_with("to come back: abide watch 5f2c81d0 --json --since 7"), "{left}");
    }

    #[test]
    fn lines_break_between_words_on_a_narrow_terminal() {
        let task = AgentTask {
            status: Status::Error,
            end_reason: Some(EndReason::Error),
            error_message: Some("the key of the provider was not accepted; abide key set".to_owned()),
            ..fixture::task()
        };
        let plain = |painted: &str| anstream::adapter::strip_str(painted).to_string();
        let whole = plain(&ended(&task, None));
        for columns in 20..80 {
            let broken = plain(&ended(&task, Some(columns)));
            assert!(broken.lines().all(|line| text::width(line) <= columns), "{columns}: {broken}");
            assert!(broken.split_whitespace().eq(whole.split_whitespace()), "{columns}: {broken}");
        }
        assert_eq!(plain(&ended(&task, Some(200))), whole);
        assert_eq!(
            detached("5f2c81d0", None, Some(40)),
            "detached, the work goes on; to come\nback:\n  abide watch 5f2c81d0"
        );
    }

    #[test]
    fn an_end_without_a_terminal_prints_how_to_answer() {
        let words = waits(&Pending::Approval(fixture::approval()), None);
        assert!(
            words.contains("rm -rf build")
                && words.ends_with("abide approve 00000005  or  abide reject 00000005"),
            "{words}"
        );
    }

    #[test]
    fn a_task_that_no_person_paused_needs_one() {
        let paused = |reason, pending| AgentTask {
            status: Status::Paused,
            pause_reason: Some(reason),
            pending,
            ..fixture::task()
        };
        let asks = || vec![Pending::Question(fixture::question())];
        let table = [
            (paused(PauseReason::User, vec![]), false, false),
            (paused(PauseReason::CrashLoop, vec![]), true, true),
            (paused(PauseReason::Restart, vec![]), true, true),
            (paused(PauseReason::Budget, asks()), false, true),
            (paused(PauseReason::User, asks()), false, true),
        ];
        for (task, is_held, needs_person) in table {
            assert_eq!((task.is_held(), task.needs_person()), (is_held, needs_person), "{task:?}");
        }
    }
}
