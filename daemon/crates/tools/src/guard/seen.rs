//! What programs outside of the sandbox would run or obey because of files where commands may write.

use super::tree::Found;
use crate::{
    SandboxSettings,
    sandbox::{
        Identity, Repository,
        git::{Cause, Causes, add_causes, common_folder, git_folder, gitlinks, id_length},
    },
};
use abide_rules::Rule;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// A place where commands run.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// The workspace, without links.
    pub(crate) workspace: PathBuf,
    pub(crate) repository: Option<Repository>,
    pub(crate) settings: SandboxSettings,
    pub(crate) home: PathBuf,
    /// The rules that deny reading in the workspace.
    pub(crate) denied: Vec<Rule>,
    /// The gitlinks that are known, shared by all scenes.
    pub(crate) links: Arc<Mutex<Links>>,
}

/// By git folder: the state of the index that was read, and the gitlinks in the index, relative to the work
/// tree.
pub(crate) type Links = HashMap<PathBuf, (IndexState, Vec<PathBuf>)>;

/// Inode, size and time of change.
type IndexState = (u64, u64, i64, i64);

/// The most git folders whose indexes are remembered.
const MAX_LINKS: usize = 256;

/// How deep repositories within repositories are followed.
const DEPTH: usize = 8;

/// What exists at a moment. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Files and folders from which programs take what they run. `None`: a configuration or a link names the
    /// file, but the file does not exist.
    pub(crate) files: BTreeMap<PathBuf, Option<Identity>>,
    /// Git folders where commands may write.
    pub(crate) repositories: BTreeSet<PathBuf>,
    pub(crate) causes: Causes,
    /// Files and folders that a rule denies to read.
    pub(crate) closed: BTreeSet<PathBuf>,
    /// The git folders to which links and files `.git` lead.
    pub(crate) leads: BTreeMap<PathBuf, Option<PathBuf>>,
}

/// Repositories that a person's git reads.
struct Entered {
    /// Git folders, which may be missing.
    folders: Vec<PathBuf>,
    /// The folders of gitlinks. A gitlink that is not checked out becomes a repository once its folder has a
    /// `.git`.
    places: Vec<PathBuf>,
}

/// Something that was not there before a command ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Offence {
    /// A file or folder from which programs take what they run.
    File(PathBuf),
    /// An unchanged link or file `.git` that leads to another folder, because something on the way has
    /// changed.
    LeadsElsewhere(PathBuf),
    Git(Cause),
}

impl Scene {
    /// The gitlinks in the index of a git folder. An index that git could not read has none.
    fn links(&self, folder: &Path) -> Vec<PathBuf> {
        let Ok(there) = fs::metadata(folder.join("index")) else { return Vec::new() };
        let state = (there.ino(), there.len(), there.ctime(), there.ctime_nsec());
        let mut known = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(folder) {
            Some((read, links)) if *read == state => links.clone(),
            _ => {
                let links = gitlinks(folder, id_length(folder)).unwrap_or_default();
                if known.len() >= MAX_LINKS {
                    known.clear();
                }
                known.insert(folder.to_owned(), (state, links.clone()));
                links
            }
        }
    }

    /// Whether a command may write at this path.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        let git = self.repository.iter().flat_map(|repository| &repository.folders);
        [&self.workspace]
            .into_iter()
            .chain(git)
            .chain(&self.settings.writable)
            .any(|folder| path.starts_with(folder))
    }

    /// What exists in the workspace, from what was found in its folders.
    pub(super) fn seen(&self, found: Found) -> Seen {
        let Found { protected, mut repositories, links, closed } = found;
        let mut files: BTreeMap<PathBuf, Option<Identity>> =
            protected.into_iter().map(|(path, identity)| (path, Some(identity))).collect();
        let targets: Vec<PathBuf> = files.keys().filter_map(|path| target(path)).collect();
        let named =
            self.repository.as_ref().map(|repository| repository.named(&self.home)).unwrap_or_default();
        let configured = self.settings.protect.iter().map(|path| self.workspace.join(path));
        for path in configured.chain(targets).chain(named.all().cloned()) {
            if self.is_writable(&path) && !files.keys().any(|above| path.starts_with(above)) {
                let identity = Identity::of(&path);
                files.insert(path, identity);
            }
        }
        let leads: BTreeMap<PathBuf, Option<PathBuf>> =
            links.into_iter().map(|link| (link.clone(), git_folder(&link))).collect();
        files.extend(leads.keys().map(|link| (link.clone(), Identity::of(link))));
        repositories.extend(leads.values().flatten().cloned());
        if let Some(repository) = &self.repository {
            repositories.extend(repository.folders.iter().cloned());
        }
        repositories.extend(self.entered().folders);
        let commons: Vec<PathBuf> = repositories.iter().filter_map(|folder| common_folder(folder)).collect();
        repositories.extend(commons);
        repositories.retain(|folder| self.is_writable(folder));
        let mut causes = Causes::new();
        repositories.iter().for_each(|folder| add_causes(folder, &mut causes));
        Seen { files, repositories, causes, closed, leads }
    }

    /// What a person's git reads unasked in the workspace: the repository's own git folders, and the git
    /// folders of the repositories that git enters by a gitlink.
    fn entered(&self) -> Entered {
        let (top, folders) = match &self.repository {
            Some(Repository { top, folders, .. }) => (top, folders.clone()),
            None => {
                let entry = self.workspace.join(".git");
                (&self.workspace, vec![git_folder(&entry).unwrap_or(entry)])
            }
        };
        let mut waiting: Vec<_> =
            folders.first().map(|folder| (top.clone(), folder.clone(), 0)).into_iter().collect();
        let mut entered = Entered { folders, places: Vec::new() };
        while let Some((top, folder, depth)) = waiting.pop() {
            for link in self.links(&folder) {
                let place = top.join(link);
                let entry = place.join(".git");
                if let Some(inner) =
                    git_folder(&entry).filter(|inner| depth < DEPTH && !entered.folders.contains(inner))
                {
                    entered.folders.push(inner.clone());
                    waiting.push((place.clone(), inner, depth + 1));
                }
                entered.places.push(place);
            }
        }
        entered
    }

    /// The existing folders in which an offence of [`Self::newly_run`] can come up.
    pub(super) fn watched(&self, before: &Seen) -> Vec<PathBuf> {
        let Entered { folders, places } = self.entered();
        let hooks = folders.iter().map(|folder| folder.join("hooks"));
        let mut watched: Vec<PathBuf> = hooks.chain(places).chain([self.workspace.clone()]).collect();
        watched.extend(folders);
        // For a missing file, the nearest folder above it.
        watched.extend(
            before
                .files
                .keys()
                .filter_map(|path| path.ancestors().skip(1).find(|above| above.is_dir()))
                .map(Path::to_owned),
        );
        watched.sort();
        watched.dedup();
        watched.retain(|folder| self.is_writable(folder) && folder.is_dir());
        watched
    }

    /// What a person's git would run now in the workspace and would not have run before, and what has
    /// replaced a protected file. Quick enough to use while a command runs.
    pub(super) fn newly_run(&self, before: &Seen) -> Vec<Offence> {
        let mut causes = Causes::new();
        let entered = self.entered().folders;
        entered
            .iter()
            .filter(|folder| self.is_writable(folder))
            .for_each(|folder| add_causes(folder, &mut causes));
        let files = before.files.keys().map(|path| (path.clone(), Identity::of(path))).collect();
        Seen { files, causes, ..Seen::default() }.since(before)
    }
}

impl Seen {
    /// The part that existed at `time`, as far as the times of files say.
    pub(super) fn until(&self, time: SystemTime, repository: Option<&Repository>) -> Self {
        let is_older = |identity: &Option<Identity>| identity.is_none_or(|identity| identity.since() < time);
        let files = self.files.iter().filter(|(_, identity)| is_older(identity));
        let was_there = |cause: &&Cause| {
            let is_own = matches!(cause, Cause::Setting { .. } | Cause::Unclear { .. })
                && repository.is_some_and(|own| {
                    own.folders.iter().any(|folder| cause.file().parent() == Some(folder))
                });
            is_own || fs::symlink_metadata(cause.file()).is_ok_and(|there| changed(&there) < time)
        };
        Self {
            files: files.map(|(path, identity)| (path.clone(), *identity)).collect(),
            repositories: self.repositories.clone(),
            causes: self.causes.iter().filter(was_there).cloned().collect(),
            closed: BTreeSet::new(),
            leads: self.leads.clone(),
        }
    }

    /// Whether the `.git` at this path leads to a git folder where commands may write. What such a folder
    /// makes git run is looked at anyway.
    fn leads_where_looked(&self, path: &Path) -> bool {
        let folder = self.leads.get(path).and_then(Option::as_ref);
        folder.is_some_and(|folder| {
            let common = common_folder(folder);
            common.is_some_and(|common| {
                [folder, &common].iter().all(|folder| self.repositories.contains(*folder))
            })
        })
    }

    /// The links and files `.git` that lead to another folder than before, and to one where commands may not
    /// write.
    fn led_elsewhere<'s>(&'s self, before: &'s Self) -> impl Iterator<Item = &'s PathBuf> {
        let is_other = |(path, folder): &(&PathBuf, &Option<PathBuf>)| {
            folder.is_some() && before.leads.get(*path).is_some_and(|led| led != *folder)
        };
        let others = self.leads.iter().filter(is_other).map(|(path, _)| path);
        others.filter(|path| !self.leads_where_looked(path))
    }

    /// What is new since `before`.
    pub(super) fn since(&self, before: &Self) -> Vec<Offence> {
        let is_new = |path: &&PathBuf| {
            before.files.get(*path).copied().flatten() != self.files.get(*path).copied().flatten()
        };
        let is_there = |path: &&PathBuf| self.files.get(*path).copied().flatten().is_some();
        let was_there = |path: &Path| before.files.get(path).copied().flatten().is_some();
        let is_harmless = |path: &&PathBuf| !was_there(path) && self.leads_where_looked(path);
        let files: Vec<&PathBuf> =
            self.files.keys().filter(|path| is_there(path) && is_new(path) && !is_harmless(path)).collect();
        let led = self.led_elsewhere(before).filter(|path| !files.contains(path)).cloned();
        let led: Vec<Offence> = led.map(Offence::LeadsElsewhere).collect();
        let files = files.into_iter().cloned().map(Offence::File);
        files.chain(led).chain(self.causes.difference(&before.causes).cloned().map(Offence::Git)).collect()
    }
}

/// When a file was last changed in any way.
fn changed(there: &fs::Metadata) -> SystemTime {
    let (seconds, nanos) = (there.ctime().unsigned_abs(), there.ctime_nsec().unsigned_abs());
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

/// The path that a link's text names.
fn target(path: &Path) -> Option<PathBuf> {
    let target = fs::read_link(path).ok()?;
    Some(crate::sandbox::git::without_dots(&path.parent()?.join(target)))
}
