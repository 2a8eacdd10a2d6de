use crate::{
    args::SearchArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{json, screen, search},
};
use abide_client::protocol::{
    Seq,
    method::{Search, search::SearchParams},
};

pub(crate) async fn search(args: SearchArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let conversation_id = match &args.conversation {
        Some(id) => Some(kind::conversation(&mut daemon, id).await?.to_string()),
        None => None,
    };
    let params = SearchParams {
        query: args.words.join(" "),
        conversation_id,
        before: args.before.map(Seq),
        limit: Some(args.limit),
    };
    let reply = daemon.call::<Search>(params).await?;
    if json {
        json::document(&reply)?;
        return Ok(Exit::Done);
    }
    screen::print(&search::found(&reply, clock::now()))?;
    if let Some(Seq(before)) = reply.before {
        screen::note(&format!("older messages: --before {before}"))?;
    }
    Ok(Exit::Done)
}
