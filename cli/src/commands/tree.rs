use crate::{
    args::TreeArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text, tree},
};
use abide_client::protocol::method::{AgentTree, task::AgentTreeParams};

pub(crate) async fn tree(args: TreeArgs, json: bool) -> Result<Exit, CommandError> {
    let TreeArgs { id, all } = args;
    let mut daemon = Daemon::started().await?;
    let params = AgentTreeParams { task_id: id.clone(), conversation_id: None, all };
    let reply = match (daemon.call::<AgentTree>(params).await, id) {
        (Err(no_task), Some(id)) if no_task.is_not_found() => {
            let params = AgentTreeParams { task_id: None, conversation_id: Some(id), all };
            // Of the two errors, the one about the task is shown.
            daemon.call::<AgentTree>(params).await.map_err(|_| no_task)?
        }
        (reply, _) => reply?,
    };
    if json {
        json::document(&reply.agents)?;
    } else {
        screen::print(&tree::tree(&reply.agents, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
