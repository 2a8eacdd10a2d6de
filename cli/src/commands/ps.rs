use crate::{
    args::PsArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, ps, screen, text},
};
use abide_client::protocol::{
    ConversationId,
    method::{
        GetConversation, ListConversations, ListTasks,
        conversation::{ConversationParams, ListConversationsParams},
        task::ListTasksParams,
    },
    task::AgentTask,
};
use std::collections::{HashMap, HashSet};

/// The largest page.
const PAGE: u32 = 1000;

pub(crate) async fn ps(args: &PsArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let tasks = tasks(&mut daemon, args.all).await?;
    if json {
        json::document(&tasks)?;
    } else if tasks.is_empty() {
        screen::print(ps::nothing(args.all))?;
    } else {
        let titles = titles(&mut daemon, &tasks).await?;
        screen::print(&ps::tasks(&tasks, &titles, clock::now(), text::terminal_width()))?;
    }
    Ok(Exit::Done)
}

async fn tasks(daemon: &mut Daemon, all: bool) -> Result<Vec<AgentTask>, CommandError> {
    let mut tasks = Vec::new();
    let mut params = ListTasksParams { all, limit: Some(PAGE), ..ListTasksParams::default() };
    loop {
        let page = daemon.call::<ListTasks>(params.clone()).await?;
        tasks.extend(page.tasks);
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(tasks),
        }
    }
}

/// One page of conversations has them nearly always; the few others are asked for one by one.
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
        // Deleted a moment ago: then it has no title.
        if let Ok(reply) = daemon.call::<GetConversation>(params).await {
            titles.insert(id, reply.conversation.title);
        }
    }
    Ok(titles)
}
