//! Plans the confinement of a command.

use super::{
    Confinement, Lease, Mounts, Network, Placed, Placeholders, PrivateFolders, Protected, Sandbox, Sockets,
    View,
    git::Repository,
    home::Home,
    links::{lies_in, without_links},
    placeholder::{Placeholder, Still},
    protected::{ProtectError, ProtectedPaths},
};
use crate::{SandboxSettings, workspace::Workspace};
use abide_protocol::{ConversationId, sandbox::SandboxLevel};
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
    pub(crate) placeholders: Placeholders,
    pub(crate) sockets: Sockets,
    pub(crate) mounts: Mounts,
}

/// A planned confinement. What it needs exists as long as this does.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) confinement: Confinement,
    /// The conversation that it is for; `None` if it is for any.
    pub(crate) conversation: Option<ConversationId>,
    _placed: Option<Arc<Placed>>,
    /// Where changes of caches go, and the home that these are in.
    caches: Option<(Arc<PrivateFolders>, PathBuf)>,
}

impl Plan {
    /// One that needs nothing to exist.
    pub(crate) const fn of(confinement: Confinement) -> Self {
        Self { confinement, conversation: None, _placed: None, caches: None }
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

/// What is to be protected in a workspace.
struct ToProtect {
    existing: Vec<Protected>,
    /// Placeholders among them, which helpers use.
    held: Vec<Placeholder>,
    missing: Vec<Placeholder>,
}

/// Why a command cannot be confined as it should be. It does not run then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error(transparent)]
    Protect(#[from] ProtectError),
    #[error("the private folders of the sandbox cannot be made: {0}")]
    Private(io::Error),
    #[error("the placeholders of what the sandbox protects cannot be made in the workspace: {0}")]
    Placeholder(io::Error),
}

impl Planner {
    /// Blocking.
    pub(crate) fn plan(
        &self,
        sandbox: Sandbox,
        workspace: &Workspace,
        conversation: ConversationId,
        settings: &SandboxSettings,
    ) -> Result<Plan, PlanError> {
        if sandbox.level == SandboxLevel::None {
            return Ok(Plan::of(Confinement::None));
        }
        self.plan_of(sandbox, workspace, self.repository(workspace).as_ref(), conversation, settings)
    }

    fn plan_of(
        &self,
        sandbox: Sandbox,
        workspace: &Workspace,
        repository: Option<&Repository>,
        conversation: ConversationId,
        settings: &SandboxSettings,
    ) -> Result<Plan, PlanError> {
        let mut view = self.view(sandbox.network, workspace.real(), repository, settings);
        view.private = self.private.of(conversation).map_err(PlanError::Private)?;
        if sandbox.level == SandboxLevel::Landlock {
            let confinement = Confinement::Landlock(view);
            return Ok(Plan { conversation: Some(conversation), ..Plan::of(confinement) });
        }
        view.hidden.extend(self.everywhere(self.sockets(&view)));
        let still = self.placeholders.still();
        let paths = self.protected(&still, workspace.real(), repository, settings)?;
        let ToProtect { mut existing, held, missing } = paths;
        let placed = still.place(&held, &missing).map_err(PlanError::Placeholder)?;
        for made in missing {
            existing.push(Protected::there(made.path)?);
        }
        view.protected = existing;
        view.protected.sort();
        let (confinement, placed) = (Confinement::Full(view), Some(Arc::new(placed)));
        let caches = Some((Arc::clone(&self.private), self.home.clone()));
        Ok(Plan { confinement, conversation: Some(conversation), _placed: placed, caches })
    }

    /// The plan of a command that has not come yet; `None` if it cannot be made, or if its placeholders would be found in the work tree by a
    /// checkpoint that is made meanwhile. (Git does not see empty folders.) Blocking.
    pub(crate) fn plan_ahead(&self, expected: &Expected, workspace: &Workspace) -> Option<Plan> {
        let Expected { sandbox, conversation, settings, .. } = expected;
        let repository = self.repository(workspace);
        let includes_missing = |repository: &Repository| {
            repository
                .named(&self.home)
                .included
                .iter()
                .any(|path| path.starts_with(&repository.top) && !path.exists())
        };
        if repository.as_ref().is_some_and(includes_missing) {
            return None;
        }
        self.plan_of(*sandbox, workspace, repository.as_ref(), *conversation, settings).ok()
    }

    /// The confinement of a git that makes or restores checkpoints in these folders. Blocking.
    pub(crate) fn plan_git(&self, level: SandboxLevel, writable: Vec<PathBuf>) -> Plan {
        let writable = writable.into_iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        let hidden = self.besides(Home::look(&self.home).listed(&[]), &[]);
        let view = View { writable, hidden, ..View::default() };
        Plan::of(match level {
            SandboxLevel::Full => Confinement::Full(view),
            SandboxLevel::Landlock => Confinement::Landlock(view),
            SandboxLevel::None => Confinement::None,
        })
    }

    /// Sockets of other programs that a command would see. (At the other level it has no sockets.)
    fn sockets(&self, view: &View) -> Vec<PathBuf> {
        let private = view.private.iter().map(|private| &private.at);
        let unseen: Vec<&PathBuf> = private.chain(&view.hidden).collect();
        self.sockets.hidden(|path| {
            is_beneath(path, &view.writable) || !unseen.iter().any(|folder| lies_in(path, folder))
        })
    }

    /// What is hidden from a command that may write to these folders, of which a person has named some: of the home and of the machine,
    /// what is Abide's own, and these folders besides; and what of the home is shown all the same.
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

    /// This, what is Abide's own, and these folders.
    fn besides(&self, mut listed: Vec<PathBuf>, further: &[PathBuf]) -> Vec<PathBuf> {
        let own = self.own.iter().chain(further).map(PathBuf::as_path).chain([Path::new(RUN)]);
        listed.extend(own.filter_map(without_links));
        self.everywhere(listed)
    }

    /// These paths, which have no links, and all others of the same files and folders.
    fn everywhere(&self, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
        paths.extend(self.mounts.further(&paths));
        paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
        paths.dedup();
        paths
    }

    /// The repository that the workspace belongs to. A home, or more, that is a work tree does not count as one.
    pub(crate) fn repository(&self, workspace: &Workspace) -> Option<Repository> {
        Repository::of(workspace.real()).filter(|repository| !workspace.is_broad_at(&repository.top))
    }

    /// Whether everything that must be protected in this workspace can be. Blocking.
    pub(crate) fn can_protect(
        &self,
        workspace: &Workspace,
        repository: Option<&Repository>,
        settings: &SandboxSettings,
    ) -> Result<(), ProtectError> {
        let still = self.placeholders.still();
        self.protected(&still, workspace.real(), repository, settings).map(drop)
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

    fn protected(
        &self,
        placeholders: &Still<'_>,
        workspace: &Path,
        repository: Option<&Repository>,
        settings: &SandboxSettings,
    ) -> Result<ToProtect, ProtectError> {
        let ProtectedPaths { mut existing, mut missing } =
            ProtectedPaths::of(workspace, repository, &self.home, &settings.protect)?;
        // One that a helper of this workspace uses is there, but only as long as it is used.
        let mut held = Vec::new();
        existing.retain(|protected| match placeholders.at(&protected.path) {
            Some(placeholder) if placeholder.path == protected.path => {
                held.push(placeholder);
                true
            }
            // What is in one is protected with it.
            Some(above) => {
                missing.push(above);
                false
            }
            None => true,
        });
        for missing in &mut missing {
            if let Some(above) = placeholders.at(&missing.path) {
                *missing = above;
            }
        }
        missing.sort();
        missing.dedup();
        missing.retain(|missing| !held.contains(missing));
        Ok(ToProtect { existing, held, missing })
    }

    fn view(
        &self,
        network: Network,
        workspace: &Path,
        repository: Option<&Repository>,
        settings: &SandboxSettings,
    ) -> View {
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
        View { writable, hidden, shown, network, ..View::default() }
    }
}

fn is_beneath(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| lies_in(path, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Closed;
    use std::thread;
    use uuid::Uuid;

    /// The last user of a placeholder removes it. Another plan may have found it just before.
    #[test]
    fn plans_of_one_workspace_at_the_same_time_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("w")).unwrap();
        fs::create_dir(at("home")).unwrap();
        let workspace = at("w").to_str().unwrap().to_owned();
        let workspace = Workspace::open(&workspace, Arc::new(Closed::new(&[], &at("home")))).unwrap();
        let planner = Planner {
            home: at("home"),
            own: Vec::new(),
            private: Arc::new(PrivateFolders::new(at("private"))),
            placeholders: Placeholders::open(at("placeholders.json")),
            sockets: Sockets::default(),
            mounts: Mounts::default(),
        };
        let sandbox = Sandbox { level: SandboxLevel::Full, network: Network::Off };
        let plan = |conversation| {
            let conversation = ConversationId(Uuid::from_u128(conversation));
            planner.plan(sandbox, &workspace, conversation, &SandboxSettings::default()).map(drop)
        };
        thread::scope(|scope| {
            for conversation in [1, 2] {
                let plan = &plan;
                scope.spawn(move || (0..500).for_each(|_| plan(conversation).unwrap()));
            }
        });
        assert_eq!(fs::read_dir(at("w")).unwrap().count(), 0, "no placeholder is left");
    }
}
