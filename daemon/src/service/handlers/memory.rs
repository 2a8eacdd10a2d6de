use super::RequestError;
use crate::{
    clock, recall,
    service::{Caller, Service},
};
use abide_protocol::{
    Error, ErrorKind, Timestamp,
    limits::MAX_NOTE,
    memory::{Note, RecallWay},
    method::memory::{
        AddNoteParams, AddNoteReply, ForgetMemoryParams, ForgetMemoryReply, ListNotesParams, ListNotesReply,
        MemoryReply, PruneMemoryParams, PruneMemoryReply, SearchMemoryParams, SearchMemoryReply,
    },
};
use abide_store::{Forgotten, MemorySize, Prune, RecallQuery};

/// The longest query, in bytes.
const MAX_QUERY: usize = 4096;
/// The most snippets of a reply, and how many there are if the request does not say.
const MOST: u32 = 50;
const USUAL: u32 = 10;

pub(super) async fn get(service: &Service) -> Result<MemoryReply, RequestError> {
    let enabled = service.settings.now().await.config().memory.enabled;
    let size = service.store.memory_size().await?;
    let MemorySize { conversations, passages, vectors, embedder, indexed_to, newest } = size;
    let serving = service.embedder.serving().await;
    let how = if serving.is_ok() { RecallWay::WordsAndMeaning } else { RecallWay::Words };
    // Those of another embedder are made anew.
    let embedded = if serving.as_ref().is_ok_and(|serving| serving.name == embedder) { vectors } else { 0 };
    let no_embedder = serving.as_ref().err().map(ToString::to_string);
    let embedder = serving.ok().map(|serving| serving.name);
    // A model may have been installed.
    service.embedder.look();
    Ok(MemoryReply {
        enabled,
        how,
        embedder,
        no_embedder,
        conversations,
        passages,
        embedded,
        indexed_to,
        newest,
    })
}

pub(super) async fn search(
    service: &Service,
    params: &SearchMemoryParams,
) -> Result<SearchMemoryReply, RequestError> {
    let SearchMemoryParams { query, workspace, limit } = params;
    if query.len() > MAX_QUERY {
        let refusal = format!("the query is {} bytes long; at most {MAX_QUERY} are allowed", query.len());
        return Err(Error::new(ErrorKind::InvalidParams, refusal).into());
    }
    let workspaces = scope(workspace.as_deref()).await;
    let query = RecallQuery {
        texts: &[query],
        workspaces: workspaces.as_deref(),
        limit: limit.unwrap_or(USUAL).clamp(1, MOST),
        ..RecallQuery::default()
    };
    let recall::Found { how, snippets, problem } =
        recall::search(&service.store, &service.embedder, query).await?;
    Ok(SearchMemoryReply { how, snippets, problem })
}

pub(super) async fn forget(
    service: &Service,
    caller: &Caller,
    params: ForgetMemoryParams,
) -> Result<ForgetMemoryReply, RequestError> {
    let ForgetMemoryParams { seq } = params;
    let forgetting = service.store.forget(seq, caller.by(), clock::now(), clock::mint().record_id());
    let Forgotten { records, passages, blanked } = forgetting.await?;
    service.sessions.reread(&blanked);
    records.into_iter().for_each(|record| service.hub.forgotten(record));
    if passages == 0 {
        let words = format!("nothing of {} is in the memory; `abide memory search` shows numbers", seq.0);
        return Err(Error::new(ErrorKind::NotFound, words).about(seq.0).into());
    }
    Ok(ForgetMemoryReply { passages })
}

pub(super) async fn add_note(
    service: &Service,
    caller: &Caller,
    params: AddNoteParams,
) -> Result<AddNoteReply, RequestError> {
    let AddNoteParams { text, workspace } = params;
    let (text, length) = (text.trim().to_owned(), text.trim().chars().count());
    if length == 0 || length > MAX_NOTE {
        let words = format!("the note has {length} characters; 1 to {MAX_NOTE} are allowed");
        return Err(Error::new(ErrorKind::InvalidParams, words).into());
    }
    if workspace.as_ref().is_some_and(|path| !path.starts_with('/')) {
        let words = "`workspace` is not an absolute path";
        return Err(Error::new(ErrorKind::InvalidParams, words).into());
    }
    let workspace = scope(workspace.as_deref()).await.and_then(|all| all.into_iter().next());
    let (at, id) = (clock::now(), clock::mint().record_id());
    let seq = service.store.add_note(text.clone(), workspace.clone(), caller.by(), at, id).await?;
    service.embedder.look();
    Ok(AddNoteReply { note: Note { seq, at, text, conversation_id: None, workspace } })
}

/// `None`: all workspaces.
async fn scope(workspace: Option<&str>) -> Option<Vec<String>> {
    Some(recall::scope(workspace?).await)
}

pub(super) async fn notes(
    service: &Service,
    params: ListNotesParams,
) -> Result<ListNotesReply, RequestError> {
    let workspaces = scope(params.workspace.as_deref()).await;
    Ok(ListNotesReply { notes: service.store.notes(workspaces.as_deref()).await? })
}

pub(super) async fn prune(
    service: &Service,
    caller: &Caller,
    params: PruneMemoryParams,
) -> Result<PruneMemoryReply, RequestError> {
    let now = clock::now();
    let prune = match (params.older_than_secs, params.keep) {
        (Some(secs), None) => {
            let ago = i64::try_from(secs.saturating_mul(1000)).unwrap_or(i64::MAX);
            Prune::Before(Timestamp(now.0.saturating_sub(ago)))
        }
        (None, Some(kept)) => Prune::AllBut(kept),
        _ => {
            let words = "either `olderThanSecs` or `keep` says which passages go";
            return Err(Error::new(ErrorKind::InvalidParams, words).into());
        }
    };
    let id = clock::mint().record_id();
    let pruned = service.store.prune_memory(prune, params.words, caller.by(), now, id);
    Ok(PruneMemoryReply { passages: pruned.await? })
}
