//! What the commands of a chat do.

use super::{
    Chat, Next,
    slash::{self, Command},
};
use crate::{
    args::{ChangesArgs, UndoArgs},
    commands::{diff, undo},
    error::CommandError,
    output::{changes, measure, screen, text},
    pages, request,
};
use abide_client::protocol::{
    TaskId,
    conversation::LatestTask,
    method::{
        ListModels, StopTask, UpdateConversation,
        conversation::UpdateConversationParams,
        daemon::ListModelsParams,
        task::{TaskChangesParams, TaskParams},
    },
    task::Mode,
    transcript::Usage,
};
use std::path::PathBuf;

/// Said where a command is about the newest task, and there is none.
const NO_TASK: &str = "this conversation has no task yet";

impl Chat {
    pub(super) async fn command(&mut self, command: Command) -> Result<Next, CommandError> {
        match command {
            Command::Help => screen::note(&slash::help(text::terminal_width().unwrap_or(80)))?,
            Command::Model(None) => self.print_model().await?,
            Command::Model(Some(model)) => self.change_model(model).await?,
            Command::Mode(None) => self.print_mode().await?,
            Command::Mode(Some(mode)) => self.change_mode(mode).await?,
            Command::Stop => self.stop().await?,
            Command::Diff => self.diff().await?,
            Command::Undo => self.undo().await?,
            Command::Cost => self.cost().await?,
            Command::New => {
                let before = self.current().await?;
                self.agent.mode = Some(self.mode().await?);
                self.agent.model =
                    self.agent.model.take().or(before.and_then(|conversation| conversation.model));
                self.conversation = None;
                self.folder = PathBuf::from(request::current_folder()?);
                screen::note("the next message begins a new conversation")?;
            }
            Command::Exit => return Ok(Next::Leave),
        }
        Ok(Next::Message)
    }

    async fn print_model(&mut self) -> Result<(), CommandError> {
        let of_conversation = self.current().await?.and_then(|conversation| conversation.model);
        let (model, why) = match self.agent.model.clone().or(of_conversation) {
            Some(model) => (model, String::new()),
            None => {
                let params = ListModelsParams { offline: true, provider: None };
                let default = self.daemon.call::<ListModels>(params).await?.default;
                (default.model, format!(" ({})", default.why))
            }
        };
        Ok(screen::note(&text::one_line(&format!("model: {model}{why}")))?)
    }

    async fn change_model(&mut self, model: String) -> Result<(), CommandError> {
        let change = |params: &mut UpdateConversationParams| params.model = Some(model.clone());
        self.update(change).await?;
        self.agent.model = Some(model);
        self.print_model().await
    }

    async fn print_mode(&mut self) -> Result<(), CommandError> {
        let mode = self.mode().await?;
        Ok(screen::note(&format!("mode: {}", mode.name()))?)
    }

    async fn change_mode(&mut self, mode: Mode) -> Result<(), CommandError> {
        self.update(|params| params.mode = Some(mode)).await?;
        self.agent.mode = Some(mode);
        self.print_mode().await
    }

    /// Changes the conversation. If it has not begun, the settings are kept for its first message.
    async fn update(
        &mut self,
        change: impl FnOnce(&mut UpdateConversationParams),
    ) -> Result<(), CommandError> {
        let Some(id) = self.conversation else { return Ok(()) };
        let mut params = UpdateConversationParams { conversation_id: id.to_string(), ..Default::default() };
        change(&mut params);
        self.daemon.call::<UpdateConversation>(params).await?;
        Ok(())
    }

    /// The conversation's newest task, whoever started it.
    async fn latest(&mut self) -> Result<Option<LatestTask>, CommandError> {
        Ok(self.current().await?.and_then(|conversation| conversation.task))
    }

    /// Shows what the newest task has changed in files.
    async fn diff(&mut self) -> Result<(), CommandError> {
        let Some(task) = self.latest().await? else { return Ok(screen::note(NO_TASK)?) };
        let params = TaskChangesParams {
            task_id: task.id.to_string(),
            step: None,
            redo: false,
            all: false,
            files: Vec::new(),
            hunk: None,
        };
        let found = diff::of_task(&mut self.daemon, params).await?;
        Ok(screen::print(&changes::all(&found))?)
    }

    /// Takes back what the newest task has changed in files: it shows that, and asks.
    async fn undo(&mut self) -> Result<(), CommandError> {
        let Some(task) = self.latest().await? else { return Ok(screen::note(NO_TASK)?) };
        let changes = ChangesArgs { task: task.id.to_string(), step: None };
        undo::undo(UndoArgs { changes, redo: false, all: false, yes: false }, false).await.map(drop)
    }

    /// Says what the newest task has used, and what all tasks of the conversation have.
    async fn cost(&mut self) -> Result<(), CommandError> {
        let tasks = match self.conversation {
            Some(id) => pages::tasks(&mut self.daemon, id).await?,
            None => Vec::new(),
        };
        let Some(latest) = tasks.first() else { return Ok(screen::note(NO_TASK)?) };
        let mut all = Usage::default();
        tasks.iter().for_each(|task| all.add(&task.usage_of_all()));
        let words = |what: &str, usage: &Usage| format!("{what}: {}", measure::usage(usage));
        screen::note(&words(&format!("task {}", latest.id.short()), &latest.usage_of_all()))?;
        Ok(screen::note(&words("the conversation", &all))?)
    }

    async fn stop(&mut self) -> Result<(), CommandError> {
        match self.latest().await?.filter(|task| !task.status.has_ended()) {
            Some(task) => self.stop_task(task.id).await,
            None => Ok(screen::note("nothing runs in this conversation")?),
        }
    }

    async fn stop_task(&mut self, id: TaskId) -> Result<(), CommandError> {
        self.daemon.call::<StopTask>(TaskParams { task_id: id.to_string() }).await?;
        Ok(screen::note(&format!("task {} is stopped", id.short()))?)
    }
}
