//! `abide chat`: a conversation, message by message.

mod slash;
mod source;

use crate::{
    args::{AgentArgs, ChatArgs},
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, FollowEnd, Interrupt, Target},
    output::{call::Extent, screen, text},
    request,
};
use abide_client::protocol::{
    ConversationId, TaskId,
    conversation::Conversation,
    method::{
        GetConversation, ListModels, StopTask, UpdateConversation,
        conversation::{ConversationParams, UpdateConversationParams},
        daemon::ListModelsParams,
        subscription::Scope,
        task::TaskParams,
    },
    task::Mode,
};
use slash::{Command, Typed};
use source::Person;

const GREETING: &str = "/help says what there is; Ctrl-D leaves, and the conversation stays.";

pub(crate) async fn chat(args: ChatArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    if !json {
        daemon.warn().await?;
    }
    let conversation = request::conversation(&mut daemon, &args.agent, json).await?;
    let person = Person::at_terminal(&mut daemon, !args.no_history).await?;
    let mut chat = Chat { daemon, agent: args.agent, conversation, json };
    match person {
        Some(person) => chat.with_person(person).await,
        None => chat.with_pipe().await,
    }
}

struct Chat {
    daemon: Daemon,
    /// The settings of the next message's task.
    agent: AgentArgs,
    /// `None`: the next message begins a new conversation.
    conversation: Option<ConversationId>,
    json: bool,
}

/// Whether the chat goes on.
enum Next {
    Message,
    Leave,
}

impl Chat {
    async fn with_person(&mut self, mut person: Person) -> Result<Exit, CommandError> {
        screen::note(GREETING)?;
        while let Some(text) = person.next().await? {
            let next = match Typed::of(&text) {
                Typed::Nothing => Ok(Next::Message),
                Typed::Refused(why) => {
                    screen::note(&text::block(&why))?;
                    Ok(Next::Message)
                }
                Typed::Command(command) => self.command(command).await,
                Typed::Message(message) => match self.send(message, Interrupt::Stops).await {
                    Ok((FollowEnd::Detached { .. }, exit)) => return Ok(exit),
                    Ok(_) => Ok(Next::Message),
                    Err(error) => Err(error),
                },
            };
            match next {
                Ok(Next::Message) => {}
                Ok(Next::Leave) => break,
                // The person can correct it and send the message again.
                Err(error) => error.show(),
            }
        }
        if let Some(id) = self.conversation {
            screen::note(&format!("to go on later: abide chat --conversation {}", id.short()))?;
        }
        Ok(Exit::Done)
    }

    /// Each line is a message. The first one that fails ends the chat.
    async fn with_pipe(&mut self) -> Result<Exit, CommandError> {
        while let Some(line) = source::piped().await? {
            match line.trim() {
                "" => continue,
                "/exit" | "/quit" => break,
                _ => {}
            }
            let (ending, exit) = self.send(line, Interrupt::Detaches).await?;
            if exit != Exit::Done || matches!(ending, FollowEnd::Detached { .. }) {
                return Ok(exit);
            }
        }
        Ok(Exit::Done)
    }

    /// Sends a message and follows the reply.
    async fn send(
        &mut self,
        message: String,
        interrupt: Interrupt,
    ) -> Result<(FollowEnd, Exit), CommandError> {
        let params = request::params(&self.agent, message, self.conversation, self.default_mode())?;
        let started = request::start(&mut self.daemon, params).await?;
        if !self.json && self.conversation.is_none() {
            request::say_where(&mut self.daemon, &self.agent, started).await?;
        }
        self.conversation = Some(started.conversation_id);
        let target = Target {
            conversation: started.conversation_id,
            scope: Scope::Conversation(started.conversation_id),
            task: Some(started.task_id),
            is_over: false,
            since: None,
            with_prompts: false,
            extent: Extent::Tail,
            json: self.json,
            answerer: Answerer::person_or(self.json, Answerer::Nobody),
            interrupt,
        };
        let ending = Follow::open(&mut self.daemon, target).await?.run().await?;
        if matches!(ending, FollowEnd::Deleted) {
            self.conversation = None;
        }
        let exit = report(&ending, started.conversation_id, self.json)?;
        Ok((ending, exit))
    }

    async fn command(&mut self, command: Command) -> Result<Next, CommandError> {
        match command {
            Command::Help => screen::note(&slash::help(text::terminal_width().unwrap_or(80)))?,
            Command::Model(None) => self.print_model().await?,
            Command::Model(Some(model)) => self.change_model(model).await?,
            Command::Mode(None) => self.print_mode().await?,
            Command::Mode(Some(mode)) => self.change_mode(mode).await?,
            Command::Stop => self.stop().await?,
            Command::New => {
                let before = self.current().await?;
                self.agent.mode = Some(self.mode().await?);
                self.agent.model =
                    self.agent.model.take().or(before.and_then(|conversation| conversation.model));
                self.conversation = None;
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
        let mut params = UpdateConversationParams {
            conversation_id: id.to_string(),
            title: None,
            workspace: None,
            mode: None,
            model: None,
            persona: None,
            muted: None,
        };
        change(&mut params);
        self.daemon.call::<UpdateConversation>(params).await?;
        Ok(())
    }

    /// Stops the conversation's running task, whoever started it.
    async fn stop(&mut self) -> Result<(), CommandError> {
        let latest = self.current().await?.and_then(|conversation| conversation.task);
        match latest.filter(|task| !task.status.has_ended()) {
            Some(task) => self.stop_task(task.id).await,
            None => Ok(screen::note("nothing runs in this conversation")?),
        }
    }

    async fn stop_task(&mut self, id: TaskId) -> Result<(), CommandError> {
        self.daemon.call::<StopTask>(TaskParams { task_id: id.to_string() }).await?;
        Ok(screen::note(&format!("task {} is stopped", id.short()))?)
    }

    /// The mode of the next message's task.
    async fn mode(&mut self) -> Result<Mode, CommandError> {
        if let Some(mode) = self.agent.mode.or(self.default_mode()) {
            return Ok(mode);
        }
        // A conversation without a mode uses the daemon's default.
        Ok(self.current().await?.and_then(|conversation| conversation.mode).unwrap_or(Mode::Auto))
    }

    /// A new conversation uses `chat` unless another mode was chosen; one that goes on keeps its mode.
    const fn default_mode(&self) -> Option<Mode> {
        if self.conversation.is_none() { Some(Mode::Chat) } else { None }
    }

    async fn current(&mut self) -> Result<Option<Conversation>, CommandError> {
        let Some(id) = self.conversation else { return Ok(None) };
        let params = ConversationParams { conversation_id: id.to_string() };
        Ok(Some(self.daemon.call::<GetConversation>(params).await?.conversation))
    }
}

/// Prints how a task ended, unless it simply completed; returns the exit code.
fn report(ending: &FollowEnd, conversation: ConversationId, json: bool) -> Result<Exit, CommandError> {
    if let FollowEnd::Ended(task) = ending
        && Exit::of_task(task) == Some(Exit::Done)
    {
        return Ok(Exit::Done);
    }
    ending.print(&conversation.short(), json)
}
