//! Plans the confinement of a command.

use super::{
    Confinement, Lease, Mounts, Network, PrivateFolders, Sandbox, Sockets, View,
    git::Repository,
    home::Home,
    links::{lies_in, without_links},
    protected::{ProtectError, protected},
};
use crate::{
    SandboxSettings,
    guard::{Links, Running, Scene, Seen},
    workspace::Workspace,
};
use abide_protocol::{ConversationId, sandbox::SandboxLevel};
use abide_rules::{Effect, Rule};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Sockets of the host's services, keys and sessions.
const RUN: &str = "/run";

/// The programs of NixOS.
const RUN_SHOWN: &str = "/run/current-system";

/// The most files that a rule may close; more mounts would take too long.
const MAX_CLOSED: usize = 1000;

/// Makes plans.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) home: PathBuf,
    /// Abide's own folders. A command sees only its workspace in them.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) private: Arc<PrivateFolders>,
    pub(crate) sockets: Sockets,
    pub(crate) mounts: Mounts,
    pub(crate) links: Arc<Mutex<Links>>,
    pub(crate) running: Arc<Running>,
}

/// A planned confinement.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) confinement: Confinement,
    /// The folders for changes of caches, the home with the caches, and the conversation that keeps the
    /// changes.
    caches: Option<(Arc<PrivateFolders>, PathBuf, ConversationId)>,
}

impl Plan {
    /// A plan that needs no folders.
    pub(crate) const fn of(confinement: Confinement) -> Self {
        Self { confinement, caches: None }
    }

    /// The confinement of one helper, and the lease of what only this helper uses. Blocking.
    pub(crate) fn for_one_helper(&self) -> io::Result<(Confinement, Option<Lease>)> {
        let mut confinement = self.confinement.clone();
        let (Confinement::Full(view), Some((folders, home, conversation))) = (&mut confinement, &self.caches)
        else {
            return Ok((confinement, None));
        };
        let lease = folders.lease(*conversation, home)?;
        view.caches.clone_from(&lease.caches);
        Ok((confinement, Some(lease)))
    }
}

/// Why a command cannot be confined as it should be. Then the command does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error(transparent)]
    Protect(#[from] ProtectError),
    #[error("the private folders of the sandbox cannot be made: {0}")]
    Private(io::Error),
    #[error(
        "the user's rules deny reading more than {MAX_CLOSED} files and folders of this workspace, which is more than the sandbox can close"
    )]
    Closed,
}

impl Planner {
    /// The scene of commands in this workspace. Blocking.
    pub(crate) fn scene(&self, workspace: &Workspace, settings: &SandboxSettings) -> Scene {
        Scene {
            workspace: workspace.real().to_owned(),
            repository: self.repository(workspace),
            settings: settings.clone(),
            home: self.home.clone(),
            denied: settings
                .unreadable
                .iter()
                .filter_map(|rule| Rule::parse(rule, Effect::Deny).ok())
                .collect(),
            links: Arc::clone(&self.links),
        }
    }

    /// The confinement of a command in a workspace after this look. Blocking.
    pub(crate) fn plan(
        &self,
        sandbox: Sandbox,
        scene: &Scene,
        seen: &Seen,
        conversation: ConversationId,
    ) -> Result<Plan, PlanError> {
        if sandbox.level == SandboxLevel::None {
            return Ok(Plan::of(Confinement::None));
        }
        let mut view = self.view(sandbox.network, scene);
        view.private = self.private.of(conversation).map_err(PlanError::Private)?;
        if sandbox.level == SandboxLevel::Landlock {
            return Ok(Plan::of(Confinement::Landlock(view)));
        }
        view.hidden.extend(self.everywhere(self.sockets(&view)));
        view.protected = protected(seen)?;
        view.closed = seen.closed.iter().cloned().collect();
        if view.closed.len() > MAX_CLOSED {
            return Err(PlanError::Closed);
        }
        let caches = Some((Arc::clone(&self.private), self.home.clone(), conversation));
        Ok(Plan { confinement: Confinement::Full(view), caches })
    }

    /// The confinement of a git that writes to these folders and reads a work tree, which may lie in a hidden
    /// folder. Blocking.
    pub(crate) fn plan_git(&self, level: SandboxLevel, writable: &[&Path], work_tree: Option<&Path>) -> Plan {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let writable = writable.iter().copied().filter_map(real).collect();
        let shown = work_tree.and_then(real).into_iter().collect();
        let hidden = self.besides(Home::look(&self.home).listed(&[]), &[]);
        let view = View { writable, shown, hidden, ..View::default() };
        Plan::of(match level {
            SandboxLevel::Full => Confinement::Full(view),
            SandboxLevel::Landlock => Confinement::Landlock(view),
            SandboxLevel::None => Confinement::None,
        })
    }

    /// Sockets of other programs that a command in namespaces would see. (At level `landlock` a command has
    /// no sockets.)
    fn sockets(&self, view: &View) -> Vec<PathBuf> {
        let private = view.private.iter().map(|private| &private.at);
        let unseen: Vec<&PathBuf> = private.chain(&view.hidden).collect();
        self.sockets.hidden(|path| {
            is_beneath(path, &view.writable) || !unseen.iter().any(|folder| lies_in(path, folder))
        })
    }

    /// The hidden and the shown files of a command that may write to the folders `writable`, of which a
    /// person has named some. Hidden are files of the home and the machine, Abide's own, and `further`
    /// folders.
    fn hidden(
        &self,
        writable: &[PathBuf],
        named: &[PathBuf],
        further: &[PathBuf],
    ) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let home = Home::look(&self.home);
        let mut hidden = self.everywhere(home.unlisted());
        hidden.retain(|path| !is_beneath(path, writable) && !named.contains(path));
        let mut shown = home.shown(&hidden);
        shown.retain(|path| !is_beneath(path, writable));
        let mut listed = home.listed(&hidden);
        listed.retain(|path| !named.contains(path));
        hidden.extend(self.besides(listed, further));
        (hidden, shown)
    }

    /// The listed files, Abide's own, and the further folders.
    fn besides(&self, mut listed: Vec<PathBuf>, further: &[PathBuf]) -> Vec<PathBuf> {
        let own = self.own.iter().chain(further).map(PathBuf::as_path).chain([Path::new(RUN)]);
        listed.extend(own.filter_map(without_links));
        self.everywhere(listed)
    }

    /// These paths, which have no links, and all other paths of the same files and folders.
    fn everywhere(&self, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
        paths.extend(self.mounts.further(&paths));
        paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
        paths.dedup();
        paths
    }

    /// The workspace's repository, to whose git folder commands may write. A repository whose work tree is a
    /// home folder or broader does not count.
    pub(crate) fn repository(&self, workspace: &Workspace) -> Option<Repository> {
        // A command may end and another begin meanwhile, so the commands are looked at before and after.
        let before = self.running.now();
        let is_persons = |entry: &Path| before.spares(entry) && self.running.now().spares(entry);
        let repository = Repository::of(workspace.real(), &is_persons)?;
        let holds_more = |folder: &PathBuf| {
            !folder.starts_with(workspace.real())
                && (workspace.is_broad_at(folder) || workspace.is_closed(folder))
        };
        let is_usable = !workspace.is_broad_at(&repository.top) && !repository.folders.iter().any(holds_more);
        is_usable.then_some(repository)
    }

    /// Whether git takes programs from one of these names, relative to the workspace, because its
    /// configuration says so.
    pub(crate) fn is_named_by_git(
        &self,
        workspace: &Workspace,
        repository: &Repository,
        names: &[String],
    ) -> bool {
        let named = repository.named(&self.home);
        names.iter().any(|name| named.all().any(|path| workspace.real().join(name).starts_with(path)))
    }

    fn view(&self, network: Network, scene: &Scene) -> View {
        let Scene { workspace, repository, settings, .. } = scene;
        let git = repository.iter().flat_map(|repository| &repository.folders);
        let named = settings.writable.iter().filter_map(|path| fs::canonicalize(path).ok());
        let named: Vec<PathBuf> = named.collect();
        let mut writable = vec![workspace.to_owned()];
        for folder in git.chain(&named) {
            if folder.is_dir() && !is_beneath(folder, &writable) {
                writable.push(folder.clone());
            }
        }
        let mut shown: Vec<PathBuf> = vec![RUN_SHOWN.into()];
        if network == Network::Host {
            shown.extend(fs::canonicalize("/etc/resolv.conf"));
        }
        shown.retain(|path| path.starts_with(RUN) && path.exists());
        let (hidden, of_home) = self.hidden(&writable, &named, &settings.hidden);
        shown.extend(of_home);
        View { writable, hidden, shown, network, limits: Some(settings.limits), ..View::default() }
    }
}

fn is_beneath(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| lies_in(path, folder))
}
