//! Asks a server what texts mean, by OpenAI's `/embeddings`, which local servers imitate.

use super::Models;
use crate::{api::Api, error::ModelError, http::Peer, listing::has_wanted_key};
use abide_protocol::record::ModelErrorKind;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The limits of an answer: its bytes, and the numbers of a vector.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
const MAX_LENGTH: usize = 8192;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedded>,
}

#[derive(Deserialize)]
struct Embedded {
    index: usize,
    embedding: Vec<f32>,
}

impl Models {
    /// What each of the texts means to a model: vectors of one length, of numbers that are finite.
    ///
    /// # Errors
    /// The model's provider cannot be asked, or its answer is not that.
    pub async fn embed(&self, model: &str, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let (provider, name) = self.find(model)?;
        let peer = self.peer(provider, name);
        if !matches!(provider.config.api, Api::OpenaiChat | Api::OpenaiResponses) {
            let words = format!("its API, {}, has no embeddings", provider.config.api.name());
            return Err(peer.error(ModelErrorKind::BadRequest, words).unsent());
        }
        has_wanted_key(&peer)?;
        let headers: HeaderMap = peer.key_header(AUTHORIZATION, "Bearer ")?.into_iter().collect();
        let question = json!({ "model": name, "input": texts });
        let answer = peer.ask(peer.url("", "/embeddings")?, headers, &question, MAX_ANSWER, TIMEOUT).await?;
        read(&answer, texts.len()).ok_or_else(|| wrong(&peer))
    }
}

/// The vectors in the order of their texts. `None`: they are not one for each text, or not alike.
fn read(answer: &[u8], texts: usize) -> Option<Vec<Vec<f32>>> {
    let Answer { mut data } = serde_json::from_slice(answer).ok()?;
    data.sort_by_key(|embedded| embedded.index);
    let vectors: Vec<Vec<f32>> = data.into_iter().map(|embedded| embedded.embedding).collect();
    let length = vectors.first().map_or(0, Vec::len);
    let is_one = |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|number| number.is_finite());
    let are_right =
        vectors.len() == texts && (1..=MAX_LENGTH).contains(&length) && vectors.iter().all(is_one);
    are_right.then_some(vectors)
}

fn wrong(peer: &Peer<'_>) -> ModelError {
    peer.error(ModelErrorKind::Malformed, "it has not answered with one vector for each text")
}
