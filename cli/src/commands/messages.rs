use crate::{
    args::MessagesArgs,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, message, screen, text},
};
use abide_client::protocol::{
    Seq,
    method::{ListMessages, conversation::ListMessagesParams},
};

pub(crate) async fn messages(args: MessagesArgs, json: bool) -> Result<Exit, CommandError> {
    let params = ListMessagesParams {
        conversation_id: args.conversation,
        before: args.before.map(Seq),
        limit: Some(args.limit),
    };
    let reply = Daemon::started().await?.call::<ListMessages>(params).await?;
    if json {
        json::document(&reply)?;
        return Ok(Exit::Done);
    }
    let look =
        message::Look { extent: args.output.extent(), now: clock::now(), width: text::terminal_width() };
    screen::print(&message::conversation(&reply.messages, &reply.calls, &look))?;
    if let Some(Seq(before)) = reply.before {
        screen::note(&format!("older messages: --before {before}"))?;
    }
    Ok(Exit::Done)
}
