//! Nothing that a command leaves behind may run with the person's rights. The sandbox protects the files that
//! exist when a command begins. The guard finds what a command has added: new files from which other programs
//! take what they run, and files put in place of protected ones that the person replaced meanwhile. It sets
//! them aside after the command. A file that the person's git would run at once is found while the command
//! runs, and ends the command.

mod aside;
mod kept;
mod place;
mod running;
mod seen;
mod tree;
mod watch;

pub(crate) use aside::Aside;
pub(crate) use running::Running;
use seen::Offence;
pub(crate) use seen::{Links, Scene, Seen};
pub(crate) use tree::{Listing, Listings, Tree};
pub(crate) use watch::{Watch, Watches};

use abide_rules::Rule;
use kept::Kept;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};
use tree::Found;

/// The most workspaces whose folders are remembered.
const MAX_TREES: usize = 16;

/// Looks at workspaces before and after commands.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    /// The trees of workspaces, and of the git folders of their repositories, by root.
    trees: Mutex<HashMap<PathBuf, Arc<Mutex<Tree>>>>,
    /// How many looks there were at any tree.
    looks: AtomicU64,
    pub(crate) running: Arc<Running>,
}

/// A look at a workspace before a command.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) scene: Arc<Scene>,
    pub(crate) seen: Arc<Seen>,
    kept: Arc<Kept>,
}

impl Guard {
    pub(crate) fn with(running: Arc<Running>) -> Self {
        Self { running, ..Self::default() }
    }

    /// Looks at a workspace. Blocking.
    pub(crate) fn look(&self, scene: &Scene) -> Seen {
        let mut found = self.look_beneath(&scene.workspace, &scene.denied);
        for folder in scene.settings.writable.iter().filter(|folder| !scene.workspace.starts_with(folder)) {
            found.extend(self.look_beneath(folder, &[]));
        }
        // The git folders of a linked work tree lie outside of the workspace.
        for folder in scene.repository.iter().flat_map(|repository| &repository.folders) {
            if !folder.starts_with(&scene.workspace) {
                for part in ["modules", "worktrees"] {
                    found.extend(self.look_beneath(&folder.join(part), &[]));
                }
            }
        }
        scene.seen(found)
    }

    /// Looks at a workspace before a command. Blocking.
    pub(crate) fn before(&self, scene: Scene) -> Before {
        let seen = self.look(&scene);
        let kept = Kept::of(&seen);
        let before = Before { scene: Arc::new(scene), seen: Arc::new(seen), kept: Arc::new(kept) };
        self.running.begin(&before);
        before
    }

    /// Sets aside what is new since `before`. Returns words about each thing. Blocking.
    pub(crate) fn after(&self, before: &Before, aside: &Aside) -> Vec<String> {
        let offences = self.look(&before.scene).since(&before.seen);
        if offences.is_empty() { Vec::new() } else { before.set_aside(&offences, aside) }
    }

    /// As [`Self::after`], for a command that a crash has cut off: everything made since `begun` counts as
    /// new. (The configuration of the workspace's own repository was protected.) Blocking.
    pub(crate) fn after_crash(&self, scene: &Scene, begun: SystemTime, aside: &Aside) -> Vec<String> {
        let seen = self.look(scene);
        let before = seen.until(begun, scene.repository.as_ref());
        let offences = seen.since(&before);
        if offences.is_empty() { Vec::new() } else { aside::set_aside(&offences, &Kept::default(), aside) }
    }

    /// Looks at the folders of a workspace. Returns the number of the look. Blocking.
    pub(crate) fn look_at_folders(&self, workspace: &Path) -> u64 {
        let tree = self.tree(workspace);
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.number();
        tree.look_again(number);
        number
    }

    fn look_beneath(&self, root: &Path, denied: &[Rule]) -> Found {
        let tree = self.tree(root);
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.look(self.number(), denied)
    }

    fn number(&self) -> u64 {
        self.looks.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The tree of a workspace.
    pub(crate) fn tree(&self, root: &Path) -> Arc<Mutex<Tree>> {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= MAX_TREES && !trees.contains_key(root) {
            // Room for the new tree: trees that nobody uses go.
            trees.retain(|_, tree| Arc::strong_count(tree) > 1);
        }
        Arc::clone(
            trees.entry(root.to_owned()).or_insert_with(|| Arc::new(Mutex::new(Tree::new(root.to_owned())))),
        )
    }
}

impl Before {
    /// Whether the person's git would now run something in the workspace that it would not have run before,
    /// or a protected file has been replaced. Blocking, for a moment.
    pub(crate) fn is_offended(&self) -> bool {
        !self.scene.newly_run(&self.seen).is_empty()
    }

    /// The folders in which an offence of [`Self::is_offended`] can come up.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        self.scene.watched(&self.seen)
    }

    fn set_aside(&self, offences: &[Offence], aside: &Aside) -> Vec<String> {
        aside::set_aside(offences, &self.kept, aside)
    }
}
