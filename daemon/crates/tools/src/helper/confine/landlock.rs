use super::{Failure, View};
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The first interface that bounds truncation as well; Linux 6.2.
const LEAST: ABI = ABI::V3;

/// What is used beyond [`LEAST`], where the kernel knows it.
const BEST: ABI = ABI::V6;

/// The terminals of the user, from which keystrokes could be read.
const TERMINALS: &str = "/dev/pts";

/// What may be read and executed, and what may be written as well.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// The rules of the full sandbox, where mounts hide and protect already.
pub(super) fn beneath(view: &View) -> Paths {
    let write = view.writable_places().map(Path::to_owned).chain(["/dev".into()]).collect();
    Paths { read: vec!["/".into()], write }
}

/// The rules of level `landlock`, where nothing else hides files. They name everything but hidden files. So a
/// file that appears later beside a hidden one cannot be read, and protected files beneath a writable folder
/// cannot be protected.
pub(super) fn around(view: &View) -> Paths {
    let hidden: Vec<&Path> = view.hidden.iter().map(PathBuf::as_path).chain([Path::new(TERMINALS)]).collect();
    let mut read = Vec::new();
    for path in view.shown.iter().cloned().chain(["/".into()]) {
        around_each(path, &hidden, &mut read);
    }
    let private = view.private.iter().map(|private| private.folder.clone());
    let devices =
        ["null", "zero", "full", "random", "urandom", "tty"].map(|name| Path::new("/dev").join(name));
    let write = view.writable.iter().cloned().chain(private).chain(devices).collect();
    Paths { read, write }
}

/// Adds `path`, or its entries if something in it is hidden.
fn around_each(path: PathBuf, hidden: &[&Path], read: &mut Vec<PathBuf>) {
    if hidden.contains(&path.as_path()) {
        return;
    }
    let inside: Vec<&Path> = hidden.iter().copied().filter(|hidden| hidden.starts_with(&path)).collect();
    if inside.is_empty() {
        read.push(path);
        return;
    }
    // The command cannot read a folder that cannot be listed here.
    for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            around_each(entry.path(), &inside, read);
        }
    }
}

/// Restricts this process and its children. Fails where the kernel does not know [`LEAST`].
pub(super) fn restrict(paths: &Paths) -> Result<(), Failure> {
    restricted(paths).map_err(|error| Failure::new("restrict the files", io::Error::other(error.to_string())))
}

fn restricted(paths: &Paths) -> Result<(), RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?;
    let read = paths.read.iter().map(|path| (path, AccessFs::from_read(BEST)));
    let write = AccessFs::from_all(BEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let write = paths.write.iter().map(|path| (path, write));
    let ruleset =
        read.chain(write).try_fold(ruleset, |ruleset, (path, access)| allow(ruleset, path, access))?;
    ruleset.restrict_self().map(drop)
}

/// A missing path cannot be reached anyway.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(path) => ruleset.add_rule(PathBeneath::new(path, access)),
        Err(_) => Ok(ruleset),
    }
}
