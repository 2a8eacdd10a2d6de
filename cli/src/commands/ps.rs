mod watch;

use crate::{
    args::PsArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{format::Format, json, ps, screen, text},
    pages::PAGE,
};
use abide_client::protocol::{
    ConversationId,
    method::{
        self, GetConversation, ListConversations, ListTasks,
        conversation::{ConversationParams, ListConversationsParams},
        daemon::StatusParams,
        task::ListTasksParams,
    },
    task::{AgentTask, Status},
};
use std::collections::{HashMap, HashSet};

/// Which tasks are shown.
#[derive(Debug, Default)]
struct Choice {
    all: bool,
    /// Empty: all.
    statuses: Vec<Status>,
}

impl Choice {
    fn takes(&self, task: &AgentTask) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&task.status)
    }

    fn takes_ended(&self) -> bool {
        self.all || self.statuses.iter().any(|status| status.has_ended())
    }
}

pub(crate) async fn ps(args: PsArgs, json: bool) -> Result<Exit, CommandError> {
    let format = args.format.as_deref().map(Format::parse).transpose()?;
    let choice = Choice { all: args.all, statuses: args.status };
    let mut daemon = Daemon::started().await?;
    if args.watch {
        return watch::watch(&daemon, &choice).await;
    }
    let mut tasks = tasks(&mut daemon, &choice).await?;
    let titles = if tasks.is_empty() { HashMap::new() } else { titles(&mut daemon, &tasks).await? };
    if json || format.is_some() {
        // A script sees what a person sees.
        for task in &mut tasks {
            if let Some(title) = titles.get(&task.conversation_id) {
                task.title.clone_from(title);
            }
        }
    }
    if json {
        json::document(&tasks)?;
    } else if let Some(format) = format {
        for task in &tasks {
            screen::print(&format!("{}\n", format.line(task)?))?;
        }
    } else if tasks.is_empty() {
        screen::print(ps::nothing(choice.takes_ended()))?;
    } else {
        screen::print(&ps::tasks(&tasks, &titles, clock::now(), text::terminal_width()))?;
        if daemon.call::<method::Status>(StatusParams::default()).await?.daemon.storage_full {
            screen::note("the disk is full: tasks at work wait for room, nothing is lost")?;
        }
    }
    Ok(Exit::Done)
}

async fn tasks(daemon: &mut Daemon, choice: &Choice) -> Result<Vec<AgentTask>, CommandError> {
    let mut tasks = Vec::new();
    let mut params =
        ListTasksParams { all: choice.takes_ended(), limit: Some(PAGE), ..ListTasksParams::default() };
    loop {
        let page = daemon.call::<ListTasks>(params.clone()).await?;
        tasks.extend(page.tasks.into_iter().filter(|task| choice.takes(task)));
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(tasks),
        }
    }
}

/// One page of conversations usually has all titles; missing ones are requested singly.
async fn titles(
    daemon: &mut Daemon,
    tasks: &[AgentTask],
) -> Result<HashMap<ConversationId, String>, CommandError> {
    let page = ListConversationsParams { limit: Some(PAGE), ..ListConversationsParams::default() };
    let page = daemon.call::<ListConversations>(page).await?.conversations;
    let mut titles: HashMap<_, _> = page.into_iter().map(|c| (c.id, c.title)).collect();
    let mentioned = tasks.iter().map(|t| t.conversation_id);
    let unknown: HashSet<_> = mentioned.filter(|id| !titles.contains_key(id)).collect();
    for id in unknown {
        let params = ConversationParams { conversation_id: id.to_string() };
        // If it was deleted meanwhile, it has no title.
        if let Ok(reply) = daemon.call::<GetConversation>(params).await {
            titles.insert(id, reply.conversation.title);
        }
    }
    Ok(titles)
}
