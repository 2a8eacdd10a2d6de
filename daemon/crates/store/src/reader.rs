//! The reader threads: each has a read-only connection, and all take from one queue.

use crate::error::{OpenError, ReadError};
use rusqlite::Connection;
use std::{
    fmt,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// The most waiting reads. Further callers wait for a place.
const QUEUE: usize = 256;

type Read = Box<dyn FnOnce(&mut Connection) + Send>;

pub(crate) struct Readers {
    /// A permit for each place in the queue, so that sending never blocks.
    permits: Arc<Semaphore>,
    /// `None` once the readers are told to end.
    queue: Mutex<Option<SyncSender<Read>>>,
    /// Every thread holds a sender; it closes when the last thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

impl Readers {
    pub(crate) fn start(path: &Path, connections: Vec<Connection>) -> Result<Self, OpenError> {
        let (sender, receiver) = sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let (alive, ended) = mpsc::channel(1);
        for connection in connections {
            let receiver = Arc::clone(&receiver);
            let alive = alive.clone();
            thread::Builder::new()
                .name("store-reader".to_owned())
                .spawn(move || {
                    serve(connection, &receiver);
                    drop(alive);
                })
                .map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
        }
        Ok(Self {
            permits: Arc::new(Semaphore::new(QUEUE)),
            queue: Mutex::new(Some(sender)),
            ended: tokio::sync::Mutex::new(ended),
        })
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, ReadError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| ReadError::Closed)?;
        let (answer, answered) = oneshot::channel();
        let job: Read = Box::new(move |connection| {
            drop(permit);
            if !answer.is_closed() {
                let _ = answer.send(read(connection));
            }
        });
        match &*self.queue.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(queue) => queue.try_send(job).map_err(|_| ReadError::Closed)?,
            None => return Err(ReadError::Closed),
        }
        answered.await.map_err(|_| ReadError::Closed)?
    }

    /// Lets the threads finish the queued reads, and waits for their end.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.ended.lock().await.recv().await;
    }
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").finish_non_exhaustive()
    }
}

fn serve(mut connection: Connection, queue: &Mutex<Receiver<Read>>) {
    loop {
        // Held while waiting: one idle thread waits for a read, and the others wait for the lock.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(read) => read(&mut connection),
            Err(_) => return,
        }
    }
}
