//! Updates the search index before a search.

use crate::{
    Store,
    error::{ReadError, WriteError},
    query::search_progress,
    work,
    writer::Lane,
};

impl Store {
    /// Indexes the records up to the newest one. On a full disk the index stays as it is.
    pub(crate) async fn update_search_index(&self) -> Result<(), ReadError> {
        let mut progress = self.read(|connection| Ok(search_progress(connection)?)).await?;
        let target = progress.newest;
        while progress.searched_to < target {
            progress = match self.queue.run(Lane::Ordinary, work::Index::new).await.map_err(WriteError::from)
            {
                Ok(progress) => progress,
                Err(WriteError::Closed) => return Err(ReadError::Closed),
                Err(WriteError::Full(_)) => return Ok(()),
                Err(error) => return Err(ReadError::Index(error)),
            };
        }
        Ok(())
    }
}
