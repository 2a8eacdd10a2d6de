//! What a fully confined command sees of the files: all of the host's, read-only, and over it what the view names.
//!
//! The host's mounts are copied with the mount namespace. What stays writable is taken as a detached copy before everything is
//! made read-only, and attached again after. Each place is reached without following links, because another command may change
//! the workspace meanwhile.

use super::{
    Failure, View,
    kernel::{Attributes, set_attributes},
};
use crate::sandbox::{Cache, Private, Protected};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, chmodat, fstat, mkdirat, mknodat, open, openat,
        openat2, symlinkat,
    },
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
        fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
        open_tree,
    },
    path,
};
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    os::fd::{AsFd as _, OwnedFd},
    path::{Component, Path, PathBuf},
};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;

/// Of every mount: no devices, and no rights from the file of a program.
const ALWAYS: u64 = libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID;

/// The devices that there are, beside terminals of the command's own.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// How often a place may be replaced while it is covered. Whoever does it all the time does not keep up.
const REPLACED: usize = 1000;

const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// An item of the view, to be mounted at its place.
enum Item<'a> {
    /// A copy of mounts made before everything became read-only.
    Writable(OwnedFd),
    /// As above, but read-only.
    Shown(OwnedFd),
    /// An empty folder or file.
    Cover,
    /// A file or folder that cannot be opened.
    Close,
    /// The place itself, so that it cannot be renamed.
    Pin,
    /// The place itself, read-only.
    Guard(&'a Protected),
}

/// Mounts what all views share, in this process's own mount namespace: `/dev`.
pub(super) fn lay_ground() -> Result<(), Failure> {
    // What is mounted here stays here.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| Failure::new("separate the mounts from the host's", error))?;
    put_devices().map_err(|error| Failure::new("make the devices", error))
}

/// What a view has of its own, and what is in it does not depend on the view. Nothing of it is mounted yet.
pub(super) struct Parts {
    proc: OwnedFd,
    memory: OwnedFd,
    terminals: OwnedFd,
}

impl Parts {
    /// Makes them, for a process in a mount namespace with its own ground.
    pub(super) fn make() -> Result<Self, Failure> {
        Ok(Self {
            proc: new_proc().map_err(|error| Failure::new("make a /proc of its own", error))?,
            memory: new_memory().map_err(|error| Failure::new("make a file system in memory", error))?,
            terminals: new_terminals().map_err(|error| Failure::new("make the terminals", error))?,
        })
    }
}

/// Builds the view in this process's own mount namespace.
pub(super) fn build(view: &View, parts: Parts) -> Result<(), Failure> {
    let Parts { proc, memory, terminals } = parts;
    let mut items = items(view)?;
    let everything = Attributes { set: READ_ONLY | ALWAYS, clear: 0, recursive: true };
    set_attributes(CWD, c"/", everything)
        .map_err(|error| Failure::new("make everything read-only", error))?;
    reach(Path::new("/proc"))
        .and_then(|place| attach(&proc, &place))
        .map_err(|error| Failure::new("mount its /proc", error))?;
    open_devices().map_err(|error| Failure::new("open the devices", error))?;
    put_memory(&memory).map_err(|error| Failure::new("mount its file system in memory", error))?;

    let covers =
        Covers::make(&memory).map_err(|error| Failure::new("make covers of what is hidden", error))?;
    // What lies deeper comes later, so that nothing is covered by what lies above it.
    items.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut open = Vec::new();
    for (index, (place, item)) in items.iter().enumerate() {
        let is_above = items.get(index + 1).is_some_and(|(next, _)| next.starts_with(place));
        if let Some(cover) = put(item, place, &covers, is_above.then_some(index))? {
            open.push(cover);
        }
    }
    // Only now: folders in them were needed to attach what is shown again.
    open.iter()
        .try_for_each(|cover| set_attributes(cover, c"", ONLY_READ))
        .map_err(|error| Failure::new("close the covers of what is hidden", error))?;
    reach(Path::new("/dev/pts"))
        .and_then(|place| attach(&terminals, &place))
        .map_err(|error| Failure::new("make the terminals", error))
}

const ONLY_READ: Attributes = Attributes { set: READ_ONLY | ALWAYS, clear: 0, recursive: false };

/// Everything that is put somewhere, and where.
fn items(view: &View) -> Result<Vec<(PathBuf, Item<'_>)>, Failure> {
    let mut items = Vec::new();
    for folder in &view.writable {
        items.push((folder.clone(), Item::Writable(taken(folder)?)));
    }
    for Private { folder, at } in &view.private {
        items.push((at.clone(), Item::Writable(taken(folder)?)));
    }
    for cache in &view.caches {
        // Where it cannot be made, the cache is read-only, which is safe.
        if let Ok(overlay) = overlay(cache) {
            items.push((cache.at.clone(), Item::Writable(overlay)));
        }
    }
    for path in &view.shown {
        if let Ok(copy) = copy(path) {
            items.push((path.clone(), Item::Shown(copy)));
        }
    }
    items.extend(view.hidden.iter().map(|path| (path.clone(), Item::Cover)));
    items.extend(view.closed.iter().map(|path| (path.clone(), Item::Close)));
    items.extend(view.protected.iter().map(|protected| (protected.path.clone(), Item::Guard(protected))));
    let fixed: BTreeSet<&Path> = view
        .protected
        .iter()
        .map(|protected| &protected.path)
        .chain(&view.closed)
        .map(PathBuf::as_path)
        .collect();
    let mut pins = BTreeSet::new();
    for path in &fixed {
        for folder in view.writable.iter().filter(|folder| path.starts_with(folder)) {
            pins.extend(path.ancestors().skip(1).take_while(|above| above != folder).map(Path::to_owned));
        }
    }
    pins.retain(|pin| !fixed.contains(pin.as_path()));
    items.extend(pins.into_iter().map(|pin| (pin, Item::Pin)));
    Ok(items)
}

/// Puts an item to its place. Returns the cover, if it is one that stays open, with this number, for items that lie in it.
fn put(
    item: &Item<'_>,
    place: &Path,
    covers: &Covers<'_>,
    open: Option<usize>,
) -> Result<Option<OwnedFd>, Failure> {
    match item {
        Item::Writable(tree) => {
            let place_fd = make_place(place, tree).map_err(Failure::at("reach", place))?;
            attach(tree, &place_fd).map_err(Failure::at("keep", place))?;
            set_attributes(tree, c"", Attributes { set: ALWAYS, clear: 0, recursive: true })
                .map_err(Failure::at("keep", place))?;
        }
        Item::Shown(tree) => {
            let place_fd = make_place(place, tree).map_err(Failure::at("reach", place))?;
            attach(tree, &place_fd).map_err(Failure::at("show", place))?;
            set_attributes(tree, c"", Attributes { recursive: true, ..ONLY_READ })
                .map_err(Failure::at("show", place))?;
        }
        Item::Cover => return hide(place, covers, open),
        Item::Close => close(place, covers).map_err(Failure::at("close", place))?,
        Item::Pin => drop(pin(place).map_err(Failure::at("hold", place))?),
        Item::Guard(protected) => guard(protected).map_err(Failure::at("protect", place))?,
    }
    Ok(None)
}

/// Covers a place. If this process cannot reach it, the command cannot either, which has less rights: a folder above it may be covered
/// already; and other users may have removed or replaced it since the plan, or have closed a folder of theirs.
fn hide(place: &Path, covers: &Covers<'_>, open: Option<usize>) -> Result<Option<OwnedFd>, Failure> {
    for _ in 0..REPLACED {
        let there = match reach(place) {
            Ok(there) => there,
            Err(error @ (Errno::NOMEM | Errno::MFILE | Errno::NFILE)) => {
                return Err(Failure::at("hide", place)(error));
            }
            Err(_) => return Ok(None),
        };
        match covers.put(&there, open) {
            // It was removed, or replaced by something that is to be hidden too.
            Err(Errno::NOENT) => {}
            covered => return covered.map_err(Failure::at("hide", place)),
        }
    }
    Err(Failure::at("hide", place)(Errno::NOENT))
}

/// Covers a place by what nobody can open. An empty cover could be taken for the content, and committed. A link leads to what is covered
/// itself, or to what may be read.
fn close(place: &Path, covers: &Covers<'_>) -> Result<(), Errno> {
    let there = match reach(place) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        there => there?,
    };
    attach(&part(covers.0, if is_folder(&there)? { CLOSED_FOLDER } else { CLOSED_FILE })?, &there)
}

/// The place, opened without following links.
fn reach(place: &Path) -> Result<OwnedFd, Errno> {
    openat2(CWD, place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// The place of this tree. What is missing is made: folders on the way to it, and a folder or file at the place itself.
fn make_place(place: &Path, tree: &OwnedFd) -> Result<OwnedFd, Errno> {
    match reach(place) {
        Err(Errno::NOENT) => {}
        reached => return reached,
    }
    let (folders, file) = match (place.parent(), place.file_name()) {
        (Some(parent), Some(name)) if !is_folder(tree)? => (parent, Some(name)),
        _ => (place, None),
    };
    let mut at = open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    for part in folders.components() {
        let Component::Normal(name) = part else { continue };
        at = match step(&at, name) {
            Err(Errno::NOENT) => {
                // Another helper of this conversation makes the same folders in its private ones.
                match mkdirat(&at, name, Mode::from_raw_mode(0o700)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                step(&at, name)?
            }
            stepped => stepped?,
        };
    }
    if let Some(name) = file {
        make_file(&at, name)?;
        return reach(place);
    }
    Ok(at)
}

fn make_file(folder: &OwnedFd, name: impl path::Arg) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::from_raw_mode(0o644)).map(drop)
}

fn is_folder(opened: &OwnedFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(opened)?.st_mode) == FileType::Directory)
}

fn step(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// A detached copy of what is mounted at a path and beneath it.
fn copy(path: &Path) -> Result<OwnedFd, Errno> {
    copy_of(&reach(path)?)
}

fn copy_of(reached: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(reached, c"", flags)
}

fn taken(folder: &Path) -> Result<OwnedFd, Failure> {
    copy(folder).map_err(Failure::at("keep", folder))
}

fn attach(tree: &OwnedFd, place: &OwnedFd) -> Result<(), Errno> {
    let empty = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", place, c"", empty)
}

/// Mounts the place onto itself. What is a mount can be neither renamed nor removed.
fn pin(place: &Path) -> Result<OwnedFd, Errno> {
    let place = reach(place)?;
    let tree = copy_of(&place)?;
    attach(&tree, &place)?;
    Ok(tree)
}

/// Makes a path read-only, if it is still the one that was planned.
fn guard(protected: &Protected) -> Result<(), Errno> {
    let tree = pin(&protected.path)?;
    let now = fstat(&tree)?;
    if (now.st_dev, now.st_ino) != (protected.device, protected.inode) {
        // It was replaced since; the next plan names the new one.
        return Err(Errno::STALE);
    }
    set_attributes(&tree, c"", Attributes { recursive: true, ..ONLY_READ })
}

/// Empty folders and files, to be put over what is hidden.
struct Covers<'a>(&'a OwnedFd);

impl<'a> Covers<'a> {
    /// A folder and a file for all places, each mounted over itself so that copies of it are read-only.
    fn make(memory: &'a OwnedFd) -> Result<Self, Errno> {
        for name in [FOLDER, CLOSED_FOLDER] {
            mkdirat(memory, name, Mode::from_raw_mode(0o755))?;
        }
        for name in [FILE, CLOSED_FILE] {
            make_file(memory, name)?;
        }
        for name in [CLOSED_FOLDER, CLOSED_FILE] {
            chmodat(memory, name, Mode::empty(), AtFlags::empty())?;
        }
        for name in [FOLDER, FILE, CLOSED_FOLDER, CLOSED_FILE] {
            let cover = part(memory, name)?;
            attach_at(&cover, memory, name)?;
            set_attributes(&cover, c"", ONLY_READ)?;
        }
        Ok(Self(memory))
    }

    /// Puts one over a place. With a number it is a folder of its own, which can still be written and is returned.
    fn put(&self, place: &OwnedFd, open: Option<usize>) -> Result<Option<OwnedFd>, Errno> {
        let is_folder = is_folder(place)?;
        let Some(number) = open.filter(|_| is_folder) else {
            attach(&part(self.0, if is_folder { FOLDER } else { FILE })?, place)?;
            return Ok(None);
        };
        let name = number.to_string();
        match mkdirat(self.0, &name, Mode::from_raw_mode(0o755)) {
            // At the second try.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        let cover = part(self.0, &name)?;
        attach(&cover, place)?;
        Ok(Some(cover))
    }
}

/// A detached mount of a new file system.
fn new(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    let system = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        if value.is_empty() {
            fsconfig_set_flag(system.as_fd(), *key)?;
        } else {
            fsconfig_set_string(system.as_fd(), *key, *value)?;
        }
    }
    fsconfig_create(system.as_fd())?;
    let always = MountAttrFlags::MOUNT_ATTR_NOSUID;
    fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes | always)
}

/// The cache with the conversation's changes over it.
fn overlay(Cache { at, upper, work }: &Cache) -> Result<OwnedFd, Errno> {
    // A colon would separate two folders.
    let lower = at.to_str().ok_or(Errno::INVAL)?.replace('\\', "\\\\").replace(':', "\\:");
    let (upper, work) = (upper.to_str().ok_or(Errno::INVAL)?, work.to_str().ok_or(Errno::INVAL)?);
    let options = [("lowerdir", &*lower), ("upperdir", upper), ("workdir", work), ("userxattr", "")];
    new("overlay", &options, MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// The processes of this namespace. Nothing of the kernel can be set through it.
fn new_proc() -> Result<OwnedFd, Errno> {
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    new("proc", &[], attributes)
}

/// Terminals of the command's own.
fn new_terminals() -> Result<OwnedFd, Errno> {
    new("devpts", &[("ptmxmode", "0666"), ("mode", "0620")], MountAttrFlags::empty())
}

/// A detached copy of a device's file.
fn device(name: &str) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    open_tree(CWD, Path::new("/dev").join(name), flags)
}

/// Mounts a folder with devices at `/dev`, read-only, as is all that is in it. (A device can be written to all the same.)
fn put_devices() -> Result<(), Errno> {
    let dev = new("tmpfs", &[("mode", "0755")], MountAttrFlags::empty())?;
    for folder in ["pts", "shm"] {
        mkdirat(&dev, folder, Mode::from_raw_mode(0o755))?;
    }
    for (link, target) in DEVICE_LINKS {
        symlinkat(target, &dev, link)?;
    }
    for name in DEVICES {
        mknodat(&dev, name, FileType::RegularFile, Mode::from_raw_mode(0o666), 0)?;
    }
    // Before the host's are covered.
    let devices = DEVICES.into_iter().filter_map(|name| Some((name, device(name).ok()?)));
    let devices: Vec<(&str, OwnedFd)> = devices.collect();
    attach(&dev, &reach(Path::new("/dev"))?)?;
    devices.iter().try_for_each(|(name, device)| attach_at(device, &dev, name))?;
    set_attributes(&dev, c"", Attributes { set: READ_ONLY, clear: 0, recursive: true })
}

/// Makes the devices of the ground usable again, after everything was closed to devices.
fn open_devices() -> Result<(), Errno> {
    set_attributes(CWD, c"/dev", Attributes { set: 0, clear: libc::MOUNT_ATTR_NODEV, recursive: true })
}

/// The file system in memory that belongs to a view: a folder that is mounted at `/dev/shm`, and later the covers.
fn new_memory() -> Result<OwnedFd, Errno> {
    let memory = new("tmpfs", &[("mode", "0755")], MountAttrFlags::MOUNT_ATTR_NODEV)?;
    mkdirat(&memory, SHARED, Mode::from_raw_mode(0o755))?;
    // Anybody may write there, as everywhere.
    chmodat(&memory, SHARED, Mode::from_raw_mode(0o1777), AtFlags::empty())?;
    Ok(memory)
}

/// Mounts `/dev/shm`. All of `memory` is mounted beneath it, since parts can be taken only of what is mounted somewhere.
fn put_memory(memory: &OwnedFd) -> Result<(), Errno> {
    attach(memory, &reach(Path::new("/dev/shm"))?)?;
    attach(&part(memory, SHARED)?, memory)
}

/// The folder that is mounted at `/dev/shm`.
const SHARED: &str = "shm";

/// The covers that are put over most of what is hidden.
const FOLDER: &str = "folder";
const FILE: &str = "file";

/// Those of what a rule denies to read.
const CLOSED_FOLDER: &str = "closed-folder";
const CLOSED_FILE: &str = "closed-file";

/// A detached mount of a file or folder of our own.
fn part(of: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    open_tree(of, name, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)
}

/// Attaches a tree to what is `name` in a folder of our own.
fn attach_at(tree: &OwnedFd, folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    move_mount(tree, c"", folder, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
