use super::RequestError;
use crate::{
    clock,
    service::{Caller, Service},
};
use abide_protocol::{
    Error, ErrorKind,
    memory::RecallWay,
    method::memory::{
        ForgetMemoryParams, ForgetMemoryReply, MemoryReply, SearchMemoryParams, SearchMemoryReply,
    },
};
use abide_store::{Forgotten, MemorySize, RecallQuery};

/// The longest query, in bytes.
const MAX_QUERY: usize = 4096;
/// The most snippets of a reply, and how many there are if the request does not say.
const MOST: u32 = 50;
const USUAL: u32 = 10;

pub(super) async fn get(service: &Service) -> Result<MemoryReply, RequestError> {
    let enabled = service.settings.now().await.config().memory.enabled;
    let MemorySize { conversations, passages, indexed_to, newest } = service.store.memory_size().await?;
    Ok(MemoryReply { enabled, how: RecallWay::Words, conversations, passages, indexed_to, newest })
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
    let query = RecallQuery {
        texts: &[query],
        workspace: workspace.as_deref(),
        limit: limit.unwrap_or(USUAL).clamp(1, MOST),
        ..RecallQuery::default()
    };
    Ok(SearchMemoryReply { snippets: service.store.recall(query).await? })
}

pub(super) async fn forget(
    service: &Service,
    caller: &Caller,
    params: ForgetMemoryParams,
) -> Result<ForgetMemoryReply, RequestError> {
    let ForgetMemoryParams { seq } = params;
    let forgetting = service.store.forget(seq, caller.by(), clock::now(), clock::mint().record_id());
    let Forgotten { passages, blanked } = forgetting.await?;
    service.sessions.reread(&blanked);
    if passages == 0 {
        let words = format!("nothing of {} is in the memory; `abide memory search` shows numbers", seq.0);
        return Err(Error::new(ErrorKind::NotFound, words).about(seq.0).into());
    }
    Ok(ForgetMemoryReply { passages })
}
