//! The commands that run now, and the commands whose remains have not been looked at.

use super::{Before, Scene, Seen};
use crate::sandbox::Identity;
use abide_protocol::CallId;
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// The commands that may have made a link or file `.git`. After a command such files are set aside.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<Commands>);

#[derive(Debug, Default)]
struct Commands {
    /// Where each command runs, and what existed before it.
    begun: Vec<(Weak<Scene>, Weak<Seen>)>,
    /// Calls of an earlier daemon that were cut off.
    cut_off: BTreeSet<CallId>,
}

/// The commands that ran at a moment.
pub(crate) struct Moment {
    begun: Vec<(Arc<Scene>, Arc<Seen>)>,
    has_cut_off: bool,
}

impl Running {
    /// Begins with the calls of an earlier daemon that were cut off.
    pub(crate) fn after(cut_off: impl IntoIterator<Item = CallId>) -> Self {
        Self(Mutex::new(Commands { begun: Vec::new(), cut_off: cut_off.into_iter().collect() }))
    }

    /// The remains of this call of an earlier daemon have been looked at.
    pub(crate) fn is_looked_at(&self, call: CallId) {
        self.commands().cut_off.remove(&call);
    }

    pub(super) fn begin(&self, before: &Before) {
        let mut commands = self.commands();
        commands.begun.retain(|(scene, _)| scene.strong_count() > 0);
        commands.begun.push((Arc::downgrade(&before.scene), Arc::downgrade(&before.seen)));
    }

    pub(crate) fn now(&self) -> Moment {
        let commands = self.commands();
        let begun = commands.begun.iter().filter_map(|(scene, seen)| scene.upgrade().zip(seen.upgrade()));
        Moment { begun: begun.collect(), has_cut_off: !commands.cut_off.is_empty() }
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Moment {
    /// Whether no command of this moment can have made the link or file `.git` at this path: no command may
    /// write there, or the same file existed before each command (and was protected).
    pub(crate) fn spares(&self, entry: &Path) -> bool {
        let is_same = |seen: &Seen| seen.files.get(entry).copied().flatten() == Identity::of(entry);
        !self.has_cut_off && self.begun.iter().all(|(scene, seen)| !scene.is_writable(entry) || is_same(seen))
    }
}
