//! Embeds the memory's passages while no task is at work.

use super::{EmbedError, Embedder, Serving, built_in::Priority};
use crate::{session::Sessions, supervisor::Supervisor};
use abide_embedding::in_bytes;
use abide_store::{ReadError, Store, WriteError};
use std::slice;

/// How many passages are kept at once: some two seconds of work.
const BATCH: u32 = 32;

#[derive(Debug, thiserror::Error)]
enum IndexError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Embedder {
    /// Embeds passages, the newest first, whenever the last conversation has left memory.
    pub async fn keep_indexed(self, store: Store, sessions: Sessions, supervisor: Supervisor) {
        let work = async {
            loop {
                let unloaded = sessions.conversation_unloaded();
                if let Err(error) = index(&self, &store, &sessions).await {
                    tracing::warn!(%error, "passages are found by their words alone");
                }
                tokio::select! {
                    () = unloaded => {}
                    () = self.wake.notified() => {}
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = supervisor.ending() => {}
        }
    }
}

/// Stops when a conversation is at work, or when the disk is full. A memory that is off gets no vectors.
async fn index(embedder: &Embedder, store: &Store, sessions: &Sessions) -> Result<(), IndexError> {
    let may_work = || sessions.is_empty() && store.lacks_room().is_none();
    let mut last = None;
    while may_work() && embedder.settings.recent().await.config().memory.enabled {
        let serving = match embedder.serving().await {
            Err(error) if error.is_no_problem() => return Ok(()),
            serving => serving?,
        };
        let passages = store.passages_without_vector(&serving.name, last, BATCH).await?;
        if passages.is_empty() {
            return Ok(());
        }
        let mut vectors = Vec::new();
        for passages in passages.chunks(serving.at_once()) {
            if !may_work() {
                break;
            }
            last = passages.last().map(|passage| passage.id);
            let texts: Vec<String> = passages.iter().map(|passage| passage.text.clone()).collect();
            let embedded = embed_each(embedder, &serving, &texts).await?;
            let known = passages.iter().zip(&embedded);
            vectors.extend(known.filter_map(|(it, vector)| Some((it.id, in_bytes(vector.as_ref()?)))));
        }
        match store.keep_vectors(&serving.name, vectors).await {
            Err(WriteError::Full(_) | WriteError::Closed) => return Ok(()),
            kept => kept?,
        }
    }
    Ok(())
}

/// The vector of each text. A server refuses a whole request if one text is longer than the server's model reads.
/// Then each text is embedded by itself, and a refused text has no vector. An error if every text is refused.
async fn embed_each(
    embedder: &Embedder,
    serving: &Serving,
    texts: &[String],
) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
    let refused = match embedder.embed_by(serving, texts, Priority::Low).await {
        Ok(vectors) => return Ok(vectors.into_iter().map(Some).collect()),
        Err(error) if texts.len() == 1 || !error.refuses_texts() => return Err(error),
        Err(error) => error,
    };
    let mut vectors = Vec::new();
    for text in texts {
        match embedder.embed_by(serving, slice::from_ref(text), Priority::Low).await {
            Ok(vector) => vectors.extend(vector.into_iter().map(Some)),
            Err(error) if error.refuses_texts() => vectors.push(None),
            Err(error) => return Err(error),
        }
    }
    if vectors.iter().all(Option::is_none) { Err(refused) } else { Ok(vectors) }
}
