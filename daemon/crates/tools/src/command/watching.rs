use crate::guard::{Before, Watch, Watches};
use std::{future, sync::Arc};

/// Watches, while a command runs, for what a person's git would run at once.
pub(crate) struct Watching {
    before: Before,
    watch: Watch,
}

impl Watching {
    /// Begins before the command. Where nothing can be watched, the look after the command has to suffice.
    pub(crate) fn begin(watches: &Arc<Watches>, before: Before) -> Option<Self> {
        match watches.watch(&before.watched()) {
            Ok(watch) => Some(Self { before, watch }),
            Err(error) => {
                tracing::warn!(%error, "the workspace of a command cannot be watched");
                None
            }
        }
    }

    async fn offence(&mut self) {
        loop {
            self.watch.next().await;
            // Later changes are noticed, because their folders are watched by then.
            self.watch.extend(&self.before.watched());
            if self.before.is_offended() {
                return;
            }
        }
    }
}

/// Waits for an offence; for ever if nothing is watched.
pub(super) async fn offence(watching: &mut Option<Watching>) {
    match watching {
        Some(watching) => watching.offence().await,
        None => future::pending().await,
    }
}
