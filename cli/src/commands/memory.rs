mod install;

use crate::{
    args::{MemoryArgs, MemoryCommand},
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    kind,
    output::{json, measure::counted, recalled, screen},
    request::{absolute, current_folder},
};
use abide_client::protocol::{
    Seq,
    memory::MemoryUse,
    method::{
        AddNote, ForgetMemory, GetMemory, ListNotes, PruneMemory, SearchMemory, UpdateConfig,
        UpdateConversation,
        config::UpdateConfigParams,
        conversation::UpdateConversationParams,
        memory::{
            AddNoteParams, ForgetMemoryParams, GetMemoryParams, ListNotesParams, PruneMemoryParams,
            SearchMemoryParams,
        },
    },
};
use serde::Serialize;
use std::path::PathBuf;

pub(crate) async fn memory(args: MemoryArgs, json: bool) -> Result<Exit, CommandError> {
    match args.command {
        None => status(json).await,
        Some(MemoryCommand::Search { words, all, workspace, limit }) => {
            let workspace = if all { None } else { Some(folder(workspace)?) };
            search(SearchMemoryParams { query: words.join(" "), workspace, limit: Some(limit) }, json).await
        }
        Some(MemoryCommand::Add { text, everywhere, workspace }) => {
            let workspace = if everywhere { None } else { Some(folder(workspace)?) };
            add(AddNoteParams { text: text.join(" "), workspace }, json).await
        }
        Some(MemoryCommand::Notes { all, workspace }) => {
            let workspace = if all { None } else { Some(folder(workspace)?) };
            notes(ListNotesParams { workspace }, json).await
        }
        Some(MemoryCommand::Forget { number }) => forget(Seq(number), json).await,
        Some(MemoryCommand::Prune { words, older_than, keep }) => {
            prune(PruneMemoryParams { older_than_secs: older_than, keep, words }, json).await
        }
        Some(MemoryCommand::Install { from, yes }) => install::install(from, yes, json).await,
        Some(MemoryCommand::Remove) => install::remove(json).await,
        Some(MemoryCommand::On { conversation: None }) => enable(true, json).await,
        Some(MemoryCommand::Off { conversation: None }) => enable(false, json).await,
        Some(MemoryCommand::On { conversation: Some(id) }) => set(id, MemoryUse::Normal, json).await,
        Some(MemoryCommand::Off { conversation: Some(id) }) => set(id, MemoryUse::NoRecall, json).await,
        Some(MemoryCommand::Private { conversation }) => set(conversation, MemoryUse::Private, json).await,
    }
}

/// The absolute path of a folder, or of the current one.
fn folder(given: Option<PathBuf>) -> Result<String, CommandError> {
    match given {
        None => current_folder(),
        Some(path) => absolute(&path),
    }
}

/// Shows a reply: as it is, or in words.
fn show(reply: &impl Serialize, json: bool, words: impl FnOnce() -> String) -> Result<Exit, CommandError> {
    if json {
        json::document(reply)?;
    } else {
        screen::print(&words())?;
    }
    Ok(Exit::Done)
}

async fn status(json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<GetMemory>(GetMemoryParams::default()).await?;
    show(&reply, json, || recalled::memory(&reply))
}

async fn search(params: SearchMemoryParams, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<SearchMemory>(params).await?;
    show(&reply, json, || recalled::found(&reply))
}

async fn add(params: AddNoteParams, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<AddNote>(params).await?;
    show(&reply, json, || recalled::noted(reply.note.seq, &reply.note.text) + "\n")
}

async fn notes(params: ListNotesParams, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<ListNotes>(params).await?;
    show(&reply, json, || recalled::notes(&reply.notes))
}

async fn forget(seq: Seq, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<ForgetMemory>(ForgetMemoryParams { seq }).await?;
    show(&reply, json, || format!("Forgotten: {} is recalled no more.\n", seq.0))
}

async fn prune(params: PruneMemoryParams, json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::started().await?.call::<PruneMemory>(params).await?;
    let now = if params.words { "recalled no more" } else { "found by their words alone" };
    show(&reply, json, || format!("{} {now}.\n", counted(reply.passages, "passage")))
}

async fn enable(enabled: bool, json: bool) -> Result<Exit, CommandError> {
    let params = UpdateConfigParams { memory: Some(enabled), ..UpdateConfigParams::default() };
    let reply = Daemon::started().await?.call::<UpdateConfig>(params).await?;
    show(&reply, json, || if enabled { "Tasks recall.\n" } else { "No task recalls.\n" }.to_owned())
}

async fn set(conversation: String, memory: MemoryUse, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let named = kind::only_conversation(&mut daemon, &conversation).await?.conversation;
    let params = UpdateConversationParams {
        conversation_id: named.id.to_string(),
        memory: Some(memory),
        ..UpdateConversationParams::default()
    };
    let reply = daemon.call::<UpdateConversation>(params).await?;
    let words = match memory {
        MemoryUse::Normal => "recalls, and is recalled",
        MemoryUse::NoRecall => "recalls nothing, and is recalled",
        MemoryUse::Private => "recalls, and is recalled nowhere",
    };
    show(&reply, json, || format!("{} {words}.\n", named.id.short()))
}
