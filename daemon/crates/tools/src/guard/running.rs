//! The commands that run now, or of which it is not known what they have left.

use super::{Before, Scene, Seen};
use crate::sandbox::Identity;
use abide_protocol::CallId;
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// While a command runs, what leads to a git folder may be of its making. After it, that is set aside.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<Commands>);

#[derive(Debug, Default)]
struct Commands {
    /// What was there before each.
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
    /// With calls of an earlier daemon that were cut off.
    pub(crate) fn after(cut_off: impl IntoIterator<Item = CallId>) -> Self {
        Self(Mutex::new(Commands { begun: Vec::new(), cut_off: cut_off.into_iter().collect() }))
    }

    /// It is known now what this call of an earlier daemon has left.
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
    /// Whether no command of this moment can have made what is at this path, a link or a file `.git`: it is where none may write, or the
    /// same that was there before each. (Its content cannot be changed then: it is protected.)
    pub(crate) fn spares(&self, entry: &Path) -> bool {
        let is_same = |seen: &Seen| seen.files.get(entry).copied().flatten() == Identity::of(entry);
        !self.has_cut_off && self.begun.iter().all(|(scene, seen)| !scene.is_writable(entry) || is_same(seen))
    }
}
