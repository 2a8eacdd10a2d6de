use crate::{
    args::WaitArgs,
    connection::{Daemon, Overview},
    error::CommandError,
    exit::Exit,
    output::{json, ps, screen},
};
use abide_client::{
    protocol::{
        ErrorKind,
        method::{GetTask, task::TaskParams},
        task::{AgentTask, EndReason},
    },
    view::{Connection, OverviewView},
};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Stands for no limit.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

pub(crate) async fn wait(args: WaitArgs, json: bool) -> Result<Exit, CommandError> {
    let deadline = Instant::now() + args.timeout.unwrap_or(FOREVER);
    let mut daemon = Daemon::started().await?;
    let mut wait = Wait { tasks: Vec::new(), or_waiting: args.or_waiting, json };
    for id in args.tasks {
        let task = daemon.call::<GetTask>(TaskParams { task_id: id }.into()).await?.task;
        if wait.tasks.iter().all(|waited| waited.task.id != task.id) {
            wait.tasks.push(Waited { task, exit: None });
        }
    }
    let mut overview = Overview::open(&daemon).await?;
    loop {
        tokio::select! {
            seen = overview.next(&daemon) => seen?,
            () = sleep_until(deadline) => return wait.timed_out(),
            // A wait that was interrupted must not look like success to a script.
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Cancelled),
        }
        if matches!(overview.view.connection(), Connection::Live) {
            tokio::select! {
                looked = wait.look(&overview.view, &mut daemon) => looked?,
                () = sleep_until(deadline) => return wait.timed_out(),
                _ = tokio::signal::ctrl_c() => return Ok(Exit::Cancelled),
            }
        }
        if wait.tasks.iter().all(|waited| waited.exit.is_some()) {
            return wait.over();
        }
    }
}

struct Wait {
    /// In the order of the command line, without repeats.
    tasks: Vec<Waited>,
    or_waiting: bool,
    json: bool,
}

struct Waited {
    /// As last seen.
    task: AgentTask,
    /// Set once the task has ended, or waits for a person.
    exit: Option<Exit>,
}

impl Wait {
    /// Updates all tasks that have not ended.
    async fn look(&mut self, view: &OverviewView, daemon: &mut Daemon) -> Result<(), CommandError> {
        for waited in self.tasks.iter_mut().filter(|waited| waited.exit.is_none()) {
            match view.task(waited.task.id).filter(|task| !task.status.has_ended()) {
                Some(task) => waited.task = task.clone(),
                // It has ended; the task itself says how, when its files are at rest.
                None => {
                    let known = view.task(waited.task.id).unwrap_or(&waited.task).clone();
                    waited.task = last_word(daemon, &known).await?;
                }
            }
            waited.exit = exit(&waited.task, self.or_waiting);
            if waited.exit.is_some() && !self.json {
                let (status, _) = ps::status(&waited.task);
                screen::print(&format!("{} {status}\n", waited.task.id.short()))?;
            }
        }
        Ok(())
    }

    fn over(&self) -> Result<Exit, CommandError> {
        if self.json {
            json::document(&self.tasks.iter().map(|waited| &waited.task).collect::<Vec<_>>())?;
        }
        Ok(worst(self.tasks.iter().filter_map(|waited| waited.exit)))
    }

    fn timed_out(&self) -> Result<Exit, CommandError> {
        let open = self.tasks.iter().filter(|waited| waited.exit.is_none());
        let open: Vec<String> = open.map(|waited| waited.task.id.short()).collect();
        Err(CommandError::timed_out(format!("timed out; not ended yet: {}", open.join(" "))))
    }
}

/// The task from the daemon; a deleted one has ended as deleted.
async fn last_word(daemon: &mut Daemon, known: &AgentTask) -> Result<AgentTask, CommandError> {
    match daemon.call_once::<GetTask>(TaskParams { task_id: known.id.to_string() }.into()).await {
        Ok(reply) => Ok(reply.task),
        // The daemon ends just then.
        Err(_) if known.status.has_ended() => Ok(known.clone()),
        Err(error) if error.is(ErrorKind::NotFound) => {
            let reason = EndReason::Deleted;
            Ok(AgentTask { status: reason.status(), end_reason: Some(reason), ..known.clone() })
        }
        Err(error) => Err(error),
    }
}

fn exit(task: &AgentTask, or_waiting: bool) -> Option<Exit> {
    let below_waits = task.tree.as_ref().is_some_and(|tree| tree.waiting > 0);
    let waits = or_waiting && (task.needs_person() || below_waits);
    Exit::of_task(task).or(waits.then_some(Exit::NeedsPerson))
}

/// The exit code of the worst end.
fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    let weight = |exit: &Exit| match exit {
        Exit::Done => 0,
        Exit::Cancelled => 1,
        Exit::Limit => 2,
        Exit::NeedsPerson => 3,
        _ => 4,
    };
    exits.max_by_key(weight).unwrap_or(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        inbox::Pending,
        task::{PauseReason, Status, Tree},
    };

    #[test]
    fn wait_ends_when_the_task_ends_or_with_or_waiting_when_it_needs_a_person() {
        let question = || vec![Pending::Question(fixture::question())];
        let status = |status| AgentTask { status, ..fixture::task() };
        let waiting = AgentTask { pending: question(), ..status(Status::WaitingUser) };
        let ended = AgentTask { end_reason: Some(EndReason::StepLimit), ..status(Status::Completed) };
        let stuck = AgentTask { pause_reason: Some(PauseReason::CrashLoop), ..status(Status::Paused) };
        let asks = AgentTask { pending: question(), ..stuck.clone() };
        let resting = AgentTask { pause_reason: Some(PauseReason::User), ..status(Status::Paused) };
        let tree = Some(Box::new(Tree { live: 2, waiting: 1, ..Tree::default() }));
        let beneath = AgentTask { tree, ..status(Status::WaitingChildren) };
        let table = [
            (status(Status::Thinking), None, None),
            (waiting, None, Some(Exit::NeedsPerson)),
            (stuck, None, Some(Exit::NeedsPerson)),
            (asks, None, Some(Exit::NeedsPerson)),
            (resting, None, None),
            (ended, Some(Exit::Limit), Some(Exit::Limit)),
            (beneath, None, Some(Exit::NeedsPerson)),
        ];
        for (task, plain, or_waiting) in table {
            assert_eq!((exit(&task, false), exit(&task, true)), (plain, or_waiting), "{task:?}");
        }
    }

    #[test]
    fn the_worst_end_decides() {
        use Exit::{Cancelled, Done, Failed, Limit, NeedsPerson};
        assert_eq!(worst([Done, Done].into_iter()), Done);
        assert_eq!(worst([Done, Cancelled, Limit].into_iter()), Limit);
        assert_eq!(worst([NeedsPerson, Failed, Cancelled].into_iter()), Failed);
        assert_eq!(worst([NeedsPerson, Limit].into_iter()), NeedsPerson);
    }
}
