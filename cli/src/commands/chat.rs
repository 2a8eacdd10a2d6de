//! `abide chat`: a conversation, message by message.

mod command;
mod recent;
mod reply;
mod slash;
mod source;

use crate::{
    args::{AgentArgs, ChatArgs},
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, FollowEnd, Interrupt, Target},
    output::{
        call::Extent,
        screen,
        style::{FAINT, paint},
        text,
    },
    request,
};
use abide_client::protocol::{
    ConversationId, TaskId,
    conversation::Conversation,
    method::{GetConversation, conversation::ConversationParams, subscription::Scope},
    task::Mode,
};
use slash::Typed;
use source::Person;
use std::{collections::VecDeque, path::PathBuf};

const GREETING: &str = "/help says what there is; Ctrl-D leaves, and the conversation stays.";

pub(crate) async fn chat(args: ChatArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    if !json {
        daemon.warn().await?;
    }
    let conversation = request::conversation(&mut daemon, &args.agent, json).await?;
    let person = Person::at_terminal(&mut daemon, !args.no_history).await?;
    let folder = PathBuf::from(request::current_folder()?);
    let unsent = VecDeque::new();
    let mut chat = Chat { daemon, agent: args.agent, conversation, folder, unsent, json };
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
    /// The conversation's workspace.
    folder: PathBuf,
    /// What was typed while a task worked that has ended before it could be said to it: the next messages.
    unsent: VecDeque<String>,
    json: bool,
}

/// Whether the chat goes on.
enum Next {
    Message,
    Leave,
    /// Left while a task works: how to come back is said.
    Detached(Exit),
}

impl Chat {
    async fn with_person(&mut self, mut person: Person) -> Result<Exit, CommandError> {
        screen::note(GREETING)?;
        let mut next = self.take_up(&mut person).await;
        loop {
            match next {
                Ok(Next::Message) => {}
                Ok(Next::Leave) => break,
                Ok(Next::Detached(exit)) => return Ok(exit),
                // The person can correct it and send the message again.
                Err(error) => error.show(),
            }
            let text = match self.unsent.pop_front() {
                Some(text) => Some(Typed::Message(text)),
                None => person.next(&self.folder).await?.map(|text| Typed::of(&text)),
            };
            let Some(typed) = text else { break };
            next = self.typed(typed, &mut person).await;
        }
        if let Some(id) = self.conversation {
            screen::note(&format!("to go on later: abide chat --conversation {}", id.short()))?;
        }
        Ok(Exit::Done)
    }

    /// Shows the end of a conversation that goes on, and follows the task that works in it.
    async fn take_up(&mut self, person: &mut Person) -> Result<Next, CommandError> {
        let Some(conversation) = self.current().await? else { return Ok(Next::Message) };
        self.folder = PathBuf::from(&conversation.workspace);
        match conversation.task.filter(|task| !task.status.has_ended()) {
            Some(task) => {
                let words = format!("task {} works; what you type is said to it", task.id.short());
                screen::note(&paint(FAINT, &words))?;
                let target =
                    Target { with_prompts: true, ..self.target(conversation.id, task.id, Interrupt::Stops) };
                self.reply(target, person).await
            }
            None => {
                recent::show(&mut self.daemon, conversation.id).await?;
                Ok(Next::Message)
            }
        }
    }

    async fn typed(&mut self, typed: Typed, person: &mut Person) -> Result<Next, CommandError> {
        match typed {
            Typed::Nothing => {}
            Typed::Refused(why) => screen::note(&text::block(&why))?,
            Typed::Shell(line) => person.run(&line, &self.folder).await?,
            Typed::Command(command) => return self.command(command).await,
            Typed::Message(message) => {
                let (conversation, task) = self.start(message).await?;
                let target = self.target(conversation, task, Interrupt::Stops);
                return self.reply(target, person).await;
            }
        }
        Ok(Next::Message)
    }

    /// Each line is a message. The first one that fails ends the chat.
    async fn with_pipe(&mut self) -> Result<Exit, CommandError> {
        while let Some(line) = source::piped().await? {
            match line.trim() {
                "" => continue,
                "/exit" | "/quit" => break,
                _ => {}
            }
            let (conversation, task) = self.start(line).await?;
            let target = self.target(conversation, task, Interrupt::Detaches);
            let ending = Follow::open(&mut self.daemon, target).await?.run().await?;
            let exit = report(&ending, conversation, self.json)?;
            if exit != Exit::Done || matches!(ending, FollowEnd::Detached { .. }) {
                return Ok(exit);
            }
        }
        Ok(Exit::Done)
    }

    /// Sends a message.
    async fn start(&mut self, message: String) -> Result<(ConversationId, TaskId), CommandError> {
        let params = request::params(&self.agent, message, self.conversation, self.default_mode())?;
        let started = request::start(&mut self.daemon, params).await?;
        self.conversation = Some(started.conversation_id);
        Ok((started.conversation_id, started.task_id))
    }

    fn target(&self, conversation: ConversationId, task: TaskId, interrupt: Interrupt) -> Target {
        Target {
            conversation,
            scope: Scope::Conversation(conversation),
            task: Some(task),
            is_over: false,
            since: None,
            with_prompts: false,
            extent: Extent::Tail,
            json: self.json,
            answerer: Answerer::person_or(self.json, Answerer::Nobody),
            interrupt,
        }
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
