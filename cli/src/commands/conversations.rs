use super::rules;
use crate::{
    args::{ConversationsArgs, ConversationsCommand},
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{conversation, json, measure, rule, screen, text},
    pages,
    prompt::Terminal,
};
use abide_client::protocol::{
    conversation::Conversation,
    memory::LEFT_BEHIND,
    method::{
        ArchiveConversation, DeleteConversation, Inbox, UpdateConversation,
        conversation::{
            ArchiveConversationParams, ConversationParams, ConversationReply, UpdateConversationParams,
        },
        inbox::InboxParams,
        rule::RememberedRule,
    },
};

pub(crate) async fn conversations(args: ConversationsArgs, json: bool) -> Result<Exit, CommandError> {
    match args.command {
        None => list(args.archived, json).await,
        Some(ConversationsCommand::Rename { conversation, title }) => {
            let title = title.join(" ");
            if title.trim().is_empty() {
                return Err(CommandError::usage("the title is empty, the conversation keeps its own"));
            }
            rename(conversation, title, json).await
        }
        Some(ConversationsCommand::Archive { conversation, undo }) => {
            archive(conversation, !undo, json).await
        }
        Some(ConversationsCommand::Mute { conversation, undo }) => mute(conversation, !undo, json).await,
        Some(ConversationsCommand::Delete { conversation, yes }) => delete(conversation, yes, json).await,
    }
}

async fn list(archived: bool, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let conversations = pages::conversations(&mut daemon, archived).await?;
    if json {
        json::document(&conversations)?;
    } else if conversations.is_empty() {
        screen::print(conversation::nothing(archived))?;
    } else {
        let inbox = daemon.call::<Inbox>(InboxParams::default()).await?.items;
        let width = text::terminal_width();
        screen::print(&conversation::conversations(&conversations, &inbox, clock::now(), width))?;
    }
    Ok(Exit::Done)
}

async fn rename(conversation_id: String, title: String, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let named = kind::only_conversation(&mut daemon, &conversation_id).await?.conversation;
    let params = UpdateConversationParams { title: Some(title), ..unchanged(&named) };
    let reply = daemon.call::<UpdateConversation>(params).await?;
    print_conversation(&reply, "renamed", json)
}

async fn mute(conversation_id: String, muted: bool, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let named = kind::only_conversation(&mut daemon, &conversation_id).await?.conversation;
    let params = UpdateConversationParams { muted: Some(muted), ..unchanged(&named) };
    let reply = daemon.call::<UpdateConversation>(params).await?;
    print_conversation(&reply, if muted { "muted" } else { "gives notifications again" }, json)
}

fn unchanged(conversation: &Conversation) -> UpdateConversationParams {
    UpdateConversationParams { conversation_id: conversation.id.to_string(), ..Default::default() }
}

async fn archive(conversation_id: String, archived: bool, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let named = kind::only_conversation(&mut daemon, &conversation_id).await?.conversation;
    let params = ArchiveConversationParams { conversation_id: named.id.to_string(), archived };
    let reply = daemon.call::<ArchiveConversation>(params).await?;
    print_conversation(&reply, if archived { "archived" } else { "brought back" }, json)
}

async fn delete(conversation: String, yes: bool, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let conversation = kind::only_conversation(&mut daemon, &conversation).await?.conversation;
    let of_it = |rule: &RememberedRule| {
        rule.origin.as_ref().is_some_and(|origin| origin.conversation_id == conversation.id)
    };
    let rules = rules::all(&mut daemon).await?.rules;
    let left_behind = rule::left_behind(rules.iter().filter(|rule| of_it(rule)).count());
    if !yes && !confirmed(&conversation, left_behind.as_deref()).await? {
        screen::note("nothing is deleted")?;
        return Ok(Exit::Done);
    }
    let exactly = ConversationParams { conversation_id: conversation.id.to_string() };
    let reply = daemon.call::<DeleteConversation>(exactly).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&format!(
            "{} deleted, {}\n",
            conversation.id.short(),
            measure::counted(reply.records, "record")
        ))?;
        if let Some(words) = left_behind.filter(|_| yes) {
            screen::note(&words)?;
        }
    }
    Ok(Exit::Done)
}

async fn confirmed(conversation: &Conversation, left_behind: Option<&str>) -> Result<bool, CommandError> {
    let Some(terminal) = Terminal::open() else {
        return Err(CommandError::usage("deleting is for good and there is no terminal to ask on")
            .hinted("to delete without asking: --yes"));
    };
    let mut screen = screen::Screen::new();
    if let Some(words) = left_behind {
        screen.note(words)?;
    }
    screen.prompt(&format!(
        "delete \"{}\" and its history for good? {LEFT_BEHIND} (y/n) ",
        text::one_line(&conversation.title)
    ))?;
    let key = tokio::select! {
        key = terminal.key() => key?,
        _ = tokio::signal::ctrl_c() => b'n',
    };
    screen.note("")?;
    Ok(key.eq_ignore_ascii_case(&b'y'))
}

fn print_conversation(reply: &ConversationReply, done: &str, json: bool) -> Result<Exit, CommandError> {
    if json {
        json::document(&reply.conversation)?;
    } else {
        let title = text::one_line(&reply.conversation.title);
        screen::print(&format!("{} {done}: {title}\n", reply.conversation.id.short()))?;
    }
    Ok(Exit::Done)
}
