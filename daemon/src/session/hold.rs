//! Brings all tasks to a boundary without cutting anything off, and lets them go on if that takes too long.

use super::Sessions;
use std::{sync::atomic::Ordering, time::Duration};

/// All tasks are at a boundary, and none begins anything. Dropping it lets them go on.
#[must_use]
pub struct Held {
    sessions: Sessions,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.sessions.set_holding(false);
    }
}

impl Sessions {
    /// Begins nothing new and waits until no attempt runs.
    ///
    /// # Errors
    /// Some still run after `patience`. All tasks are held until the error is dropped.
    pub async fn hold(&self, patience: Duration) -> Result<Held, Held> {
        let held = Held { sessions: self.clone() };
        self.set_holding(true);
        match tokio::time::timeout(patience, self.all_rest()).await {
            Ok(()) => Ok(held),
            Err(_) => Err(held),
        }
    }

    fn set_holding(&self, holding: bool) {
        self.inner.holding.store(holding, Ordering::Release);
        for mailbox in self.open().values() {
            mailbox.forget_rest();
            mailbox.nudge();
        }
    }

    /// Resolves when every actor rests or has left. (One that starts later is held before its first message.)
    async fn all_rest(&self) {
        loop {
            let (rested, gone) = (self.inner.rested.notified(), self.inner.gone.notified());
            // A closed mailbox is that of an actor that has left, or panicked.
            if self.open().values().all(|mailbox| mailbox.is_closed() || mailbox.rests()) {
                return;
            }
            tokio::select! {
                () = rested => {}
                () = gone => {}
            }
        }
    }
}
