//! What a fully confined command sees of the files: the host's files, read-only, and over them what the view
//! names.
//!
//! The host's mounts are copied with the mount namespace. Writable folders are copied as detached mounts,
//! then everything is made read-only, then the copies are attached. Each place is reached without following
//! links, because another command may change the workspace meanwhile.

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

/// Flags of every mount: no devices, and no program gains rights from its file.
const ALWAYS: u64 = libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID;

/// The devices that a command has, beside its own terminals.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// How often to try again when a place is replaced while it is being covered.
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
    /// A read-only copy of such mounts.
    Shown(OwnedFd),
    /// An empty folder or file.
    Cover,
    /// A file or folder that cannot be opened.
    Close,
    /// The place mounted onto itself, so that it cannot be renamed.
    Pin,
    /// The place mounted onto itself, read-only.
    Guard(&'a Protected),
}

/// Mounts what all views share, in this process's own mount namespace: `/dev`.
pub(super) fn lay_ground() -> Result<(), Failure> {
    // Mounts in this namespace do not reach the host's.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
        .map_err(|error| Failure::new("separate the mounts from the host's", error))?;
    put_devices().map_err(|error| Failure::new("make the devices", error))
}

/// Mounts that each view has for itself and that are the same for all views. They are not attached yet.
pub(super) struct Parts {
    proc: OwnedFd,
    memory: OwnedFd,
    terminals: OwnedFd,
}

impl Parts {
    /// Makes the parts, in a mount namespace with its own ground.
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
    // Deeper places come later, so that no folder above covers them.
    items.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut open = Vec::new();
    for (index, (place, item)) in items.iter().enumerate() {
        let is_above = items.get(index + 1).is_some_and(|(next, _)| next.starts_with(place));
        if let Some(cover) = put(item, place, &covers, is_above.then_some(index))? {
            open.push(cover);
        }
    }
    // Only now are the open covers closed: shown files were attached in them.
    open.iter()
        .try_for_each(|cover| set_attributes(cover, c"", ONLY_READ))
        .map_err(|error| Failure::new("close the covers of what is hidden", error))?;
    reach(Path::new("/dev/pts"))
        .and_then(|place| attach(&terminals, &place))
        .map_err(|error| Failure::new("make the terminals", error))
}

const ONLY_READ: Attributes = Attributes { set: READ_ONLY | ALWAYS, clear: 0, recursive: false };

/// All items of the view, with their places.
fn items(view: &View) -> Result<Vec<(PathBuf, Item<'_>)>, Failure> {
    let mut items = Vec::new();
    for folder in &view.writable {
        items.push((folder.clone(), Item::Writable(taken(folder)?)));
    }
    for Private { folder, at } in &view.private {
        items.push((at.clone(), Item::Writable(taken(folder)?)));
    }
    for cache in &view.caches {
        // Without an overlay the cache is read-only, which is safe.
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

/// Puts an item to its place. `open`: the number of a cover that stays open for items within it; such a cover
/// is returned.
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

/// Covers a place. A place that this process cannot reach is skipped: the command, with fewer rights, cannot
/// reach it either. (A folder above may be covered already, or other users may have removed, replaced or
/// closed the place since the plan.)
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
            // The place was removed, or replaced by something that is to be hidden, too.
            Err(Errno::NOENT) => {}
            covered => return covered.map_err(Failure::at("hide", place)),
        }
    }
    Err(Failure::at("hide", place)(Errno::NOENT))
}

/// Covers a place by something that nobody can open. (An empty cover could be taken for the content, and
/// committed.) A link is skipped: its target is covered, or may be read.
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

/// The place for this tree. Missing folders on the way, and a folder or file at the place itself, are made.
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
                // Another helper of this conversation may make the same folders in the private folders.
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

/// Mounts the place onto itself. A mount can be neither renamed nor removed.
fn pin(place: &Path) -> Result<OwnedFd, Errno> {
    let place = reach(place)?;
    let tree = copy_of(&place)?;
    attach(&tree, &place)?;
    Ok(tree)
}

/// Makes a path read-only, if the file there is still the planned one.
fn guard(protected: &Protected) -> Result<(), Errno> {
    let tree = pin(&protected.path)?;
    let now = fstat(&tree)?;
    if (now.st_dev, now.st_ino) != (protected.device, protected.inode) {
        // The file was replaced since the plan; the next plan names the new file.
        return Err(Errno::STALE);
    }
    set_attributes(&tree, c"", Attributes { recursive: true, ..ONLY_READ })
}

/// Empty folders and files to put over hidden ones.
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

    /// Puts a cover over a place. With a number the cover is a new folder that can still be written, and is
    /// returned.
    fn put(&self, place: &OwnedFd, open: Option<usize>) -> Result<Option<OwnedFd>, Errno> {
        let is_folder = is_folder(place)?;
        let Some(number) = open.filter(|_| is_folder) else {
            attach(&part(self.0, if is_folder { FOLDER } else { FILE })?, place)?;
            return Ok(None);
        };
        let name = number.to_string();
        match mkdirat(self.0, &name, Mode::from_raw_mode(0o755)) {
            // It exists at the second try.
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

/// A `/proc` of this namespace's processes, through which no setting of the kernel can be changed.
fn new_proc() -> Result<OwnedFd, Errno> {
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    new("proc", &[], attributes)
}

/// The command's own terminals.
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

/// Mounts a read-only folder with devices at `/dev`. (A device can be written to all the same.)
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
    // Copied before the host's devices are covered.
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

/// The file system in memory of a view: the folder for `/dev/shm`, and later the covers.
fn new_memory() -> Result<OwnedFd, Errno> {
    let memory = new("tmpfs", &[("mode", "0755")], MountAttrFlags::MOUNT_ATTR_NODEV)?;
    mkdirat(&memory, SHARED, Mode::from_raw_mode(0o755))?;
    // Anybody may write there, as everywhere.
    chmodat(&memory, SHARED, Mode::from_raw_mode(0o1777), AtFlags::empty())?;
    Ok(memory)
}

/// Mounts `/dev/shm`. All of `memory` is mounted beneath it, because only parts of attached mounts can be
/// copied.
fn put_memory(memory: &OwnedFd) -> Result<(), Errno> {
    attach(memory, &reach(Path::new("/dev/shm"))?)?;
    attach(&part(memory, SHARED)?, memory)
}

/// The folder that is mounted at `/dev/shm`.
const SHARED: &str = "shm";

/// The names of the covers for most hidden places.
const FOLDER: &str = "folder";
const FILE: &str = "file";

/// The names of the covers for what a rule denies to read.
const CLOSED_FOLDER: &str = "closed-folder";
const CLOSED_FILE: &str = "closed-file";

/// A detached mount of a file or folder of our own.
fn part(of: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    open_tree(of, name, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)
}

/// Attaches a tree at `name` in a folder of our own.
fn attach_at(tree: &OwnedFd, folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    move_mount(tree, c"", folder, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
