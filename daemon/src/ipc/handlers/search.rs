use super::{find_conversation, storage, task::PAGE};
use crate::ipc::Service;
use abide_protocol::{
    Error, ErrorKind,
    method::search::{SearchParams, SearchReply},
};

/// A query's length, in bytes.
const MAX_QUERY: usize = 4096;

pub(super) async fn search(service: &Service, params: SearchParams) -> Result<SearchReply, Error> {
    let SearchParams { query, conversation_id, before, limit } = params;
    if query.len() > MAX_QUERY {
        let words = format!("the query is {} bytes long; at most {MAX_QUERY} are searched for", query.len());
        return Err(Error::new(ErrorKind::InvalidParams, words));
    }
    let conversation = match conversation_id {
        Some(typed) => Some(find_conversation(&service.store, &typed).await?),
        None => None,
    };
    service.store.search(&query, conversation, before, limit.unwrap_or(PAGE)).await.map_err(storage)
}
