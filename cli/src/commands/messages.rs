use crate::{
    args::MessagesArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{json, message, screen, text},
};
use abide_client::protocol::{
    Seq,
    method::{
        ListMessages, MarkRead,
        conversation::{ListMessagesParams, MarkReadParams},
    },
};

pub(crate) async fn messages(args: MessagesArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let params = ListMessagesParams {
        conversation_id: kind::conversation(&mut daemon, &args.conversation).await?.to_string(),
        task_id: None,
        before: args.before.map(Seq),
        after: None,
        limit: Some(args.limit),
    };
    let reply = daemon.call::<ListMessages>(params.clone()).await?;
    if json {
        json::document(&reply)?;
        return Ok(Exit::Done);
    }
    let look = message::Look {
        extent: args.output.extent(),
        now: clock::now(),
        width: text::terminal_width(),
        is_rich: screen::is_rich(),
    };
    screen::print(&message::conversation(&reply.messages, &reply.calls, &reply.events, &look))?;
    let newest = reply.messages.iter().map(|message| message.seq).max();
    if let Some(seq) = newest.filter(|_| screen::is_seen()) {
        daemon.call::<MarkRead>(MarkReadParams { conversation_id: params.conversation_id, seq }).await?;
    }
    if let Some(Seq(before)) = reply.before {
        screen::note(&format!("older messages: --before {before}"))?;
    }
    Ok(Exit::Done)
}
