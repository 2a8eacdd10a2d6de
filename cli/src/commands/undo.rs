use super::diff;
use crate::{
    args::UndoArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{changes, json, screen},
    prompt::Terminal,
};
use abide_client::protocol::method::{UndoTask, task::TaskChangesParams};

pub(crate) async fn undo(args: UndoArgs, json: bool) -> Result<Exit, CommandError> {
    let UndoArgs { changes: of, redo, all, yes } = args;
    let mut daemon = Daemon::started().await?;
    let mut params =
        TaskChangesParams { task_id: of.task, step: of.step, redo, all, files: Vec::new(), hunk: None };
    let found = diff::of_task(&mut daemon, params.clone()).await?;
    if yes {
        if !json {
            screen::print(&changes::files(&found))?;
        }
    } else {
        let asked = changes::Asked::of(&found, &params);
        if asked.is_nothing() {
            screen::print(&changes::all(&found))?;
            screen::note("there is nothing to undo")?;
            return Ok(Exit::Done);
        }
        let terminal = Terminal::open().ok_or_else(|| {
            CommandError::usage("an undo shows what it changes and asks, and there is no terminal to ask on")
                .hinted("to see it: abide diff; to undo it without asking: --yes")
        })?;
        screen::print(&changes::all(&found))?;
        let mut screen = screen::Screen::new();
        screen.prompt(&asked.question())?;
        let key = tokio::select! {
            key = terminal.key() => key?,
            _ = tokio::signal::ctrl_c() => b'n',
        };
        screen.note("")?;
        match asked.answer(key) {
            Some(with_all) => params.all = with_all,
            None => {
                screen::note("nothing is undone")?;
                return Ok(Exit::Done);
            }
        }
    }
    let done = match daemon.call::<UndoTask>(params.clone()).await {
        Ok(done) => done,
        Err(error) => return Err(kind::not_a_task(&mut daemon, &params.task_id, error).await),
    };
    if json {
        json::document(&done)?;
    } else {
        screen::print(&changes::done(&done, &params))?;
    }
    Ok(Exit::Done)
}
