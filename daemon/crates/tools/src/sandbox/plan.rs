//! Plans the confinement of a command.

use super::{
    Confinement, Hidden, Lease, Network, PrivateFolders, Sandbox, Sockets, View,
    git::Repository,
    hidden,
    links::without_links,
    protected::{ProtectError, protected},
};
use crate::{
    SandboxSettings,
    guard::{Scene, Seen},
    workspace::Workspace,
};
use abide_protocol::{ConversationId, sandbox::SandboxLevel};
use rustix::{
    fs::{AtFlags, Mode, OFlags, open, statat},
    io::Errno,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Sockets of the host's services, keys and sessions.
const RUN: &str = "/run";

/// Of NixOS: the programs.
const RUN_SHOWN: &str = "/run/current-system";

/// Makes plans.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) home: PathBuf,
    /// Abide's own folders. Only a workspace in them is seen.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) private: Arc<PrivateFolders>,
    pub(crate) sockets: Sockets,
}

/// A planned confinement.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) confinement: Confinement,
    /// The conversation that it is for; `None` if it is for any.
    pub(crate) conversation: Option<ConversationId>,
    /// Where changes of caches go, and the home that these are in.
    caches: Option<(Arc<PrivateFolders>, PathBuf)>,
}

impl Plan {
    /// One that needs nothing to exist.
    pub(crate) const fn of(confinement: Confinement) -> Self {
        Self { confinement, conversation: None, caches: None }
    }

    /// Whether its commands keep changes of caches. The next one finds them only if its helper is made after this one's end.
    pub(crate) const fn has_caches(&self) -> bool {
        self.caches.is_some()
    }

    /// The confinement of one helper, and what it alone uses as long as it lives. Blocking.
    pub(crate) fn for_one_helper(&self) -> io::Result<(Confinement, Option<Lease>)> {
        let mut confinement = self.confinement.clone();
        let (Confinement::Full(view), Some((folders, home)), Some(conversation)) =
            (&mut confinement, &self.caches, self.conversation)
        else {
            return Ok((confinement, None));
        };
        let lease = folders.lease(conversation, home)?;
        view.caches.clone_from(&lease.caches);
        Ok((confinement, Some(lease)))
    }
}

/// A command that is expected, in so far as its plan depends on it.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) sandbox: Sandbox,
    pub(crate) workspace: String,
    pub(crate) conversation: ConversationId,
    pub(crate) settings: SandboxSettings,
}

/// Why a command cannot be confined as it should be. It does not run then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error(transparent)]
    Protect(#[from] ProtectError),
    #[error("the private folders of the sandbox cannot be made: {0}")]
    Private(io::Error),
}

impl Planner {
    /// Where commands of this workspace run. Blocking.
    pub(crate) fn scene(&self, workspace: &Workspace, settings: &SandboxSettings) -> Scene {
        Scene {
            workspace: workspace.real().to_owned(),
            repository: self.repository(workspace),
            settings: settings.clone(),
            home: self.home.clone(),
        }
    }

    /// The confinement of a command in a workspace in which this was seen. Blocking.
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
            let confinement = Confinement::Landlock(view);
            return Ok(Plan { conversation: Some(conversation), ..Plan::of(confinement) });
        }
        view.hidden.extend(self.sockets(&view));
        view.protected = protected(seen)?;
        let caches = Some((Arc::clone(&self.private), self.home.clone()));
        Ok(Plan { confinement: Confinement::Full(view), conversation: Some(conversation), caches })
    }

    /// The confinement of a git that keeps checkpoints in this folder. Blocking.
    pub(crate) fn plan_git(&self, level: SandboxLevel, folder: Option<&Path>) -> Plan {
        let writable = folder.and_then(|folder| fs::canonicalize(folder).ok()).into_iter().collect();
        let view = View { writable, hidden: self.hidden(&[]), ..View::default() };
        Plan::of(match level {
            SandboxLevel::Full => Confinement::Full(view),
            SandboxLevel::Landlock => Confinement::Landlock(view),
            SandboxLevel::None => Confinement::None,
        })
    }

    /// Sockets of other programs that a command would see. (At the other level it has no sockets.)
    fn sockets(&self, view: &View) -> Vec<Hidden> {
        let private = view.private.iter().map(|private| &*private.at);
        let unseen: Vec<&Path> =
            private.chain(self.own.iter().map(PathBuf::as_path)).chain([RUN.as_ref()]).collect();
        self.sockets.hidden(|path| {
            let is_beneath = |folder: &&Path| path.starts_with(folder);
            view.writable.iter().any(|folder| path.starts_with(folder)) || !unseen.iter().any(is_beneath)
        })
    }

    /// What is hidden everywhere, and this besides.
    fn hidden(&self, further: &[PathBuf]) -> Vec<Hidden> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let home = open(&self.home, flags, Mode::empty()).ok();
        // Nearly all of them are missing, and the way to the home need not be gone for each.
        let is_there = |name: &&&str| {
            home.as_ref()
                .is_none_or(|home| !matches!(statat(home, **name, AtFlags::empty()), Err(Errno::NOENT)))
        };
        let of_home = hidden::FOLDERS.iter().chain(&hidden::FILES).filter(is_there);
        let own = self.own.iter().chain(further).cloned();
        let all = of_home.map(|name| self.home.join(name)).chain(own).chain([RUN.into()]);
        let mut hidden: Vec<Hidden> = all.filter_map(|path| there(&path)).collect();
        hidden.sort_by(|a, b| a.path().cmp(b.path()));
        hidden.dedup();
        hidden
    }

    /// The repository that the workspace belongs to. A home, or more, that is a work tree does not count as one.
    pub(crate) fn repository(&self, workspace: &Workspace) -> Option<Repository> {
        Repository::of(workspace.real()).filter(|repository| !workspace.is_broad_at(&repository.top))
    }

    /// Whether git takes programs from one of these names, relative to the workspace, because its configuration says so.
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
        let further = settings.writable.iter().filter_map(|path| fs::canonicalize(path).ok());
        let mut writable = vec![workspace.to_owned()];
        for folder in git.cloned().chain(further) {
            if folder.is_dir() && !writable.iter().any(|above| folder.starts_with(above)) {
                writable.push(folder);
            }
        }
        let hidden = self.hidden(&settings.hidden);
        let mut shown: Vec<PathBuf> = vec![RUN_SHOWN.into()];
        if network == Network::Host {
            shown.extend(fs::canonicalize("/etc/resolv.conf"));
        }
        shown.retain(|path| path.starts_with(RUN) && path.exists());
        View { writable, hidden, shown, network, limits: Some(settings.limits), ..View::default() }
    }
}

/// What is hidden, without links; `None` if there is nothing.
fn there(path: &Path) -> Option<Hidden> {
    let path = without_links(path)?;
    let is_folder = fs::metadata(&path).ok()?.is_dir();
    Some(if is_folder { Hidden::Folder(path) } else { Hidden::File(path) })
}
