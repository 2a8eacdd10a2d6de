use super::{RequestError, find_conversation, task::PAGE};
use crate::service::Service;
use abide_protocol::{
    Error, ErrorKind,
    method::search::{SearchParams, SearchReply},
};
use abide_store::SearchQuery;

/// The longest query, in bytes.
const MAX_QUERY: usize = 4096;

pub(super) async fn search(service: &Service, params: SearchParams) -> Result<SearchReply, RequestError> {
    let SearchParams { query: words, conversation_id, before, limit } = params;
    if words.len() > MAX_QUERY {
        let refusal = format!("the query is {} bytes long; at most {MAX_QUERY} are allowed", words.len());
        return Err(Error::new(ErrorKind::InvalidParams, refusal).into());
    }
    let conversation = match conversation_id {
        Some(typed) => Some(find_conversation(&service.store, &typed).await?),
        None => None,
    };
    let query = SearchQuery { words: &words, conversation, before, limit: limit.unwrap_or(PAGE) };
    Ok(service.store.search(query).await?)
}
