//! Sets aside what a command has left for others to run: moves it to a folder of ours, and brings back what
//! was in its place.

use super::{Offence, kept::Kept, place::FolderEntry};
use crate::{
    sandbox::git::{Causes, without},
    text::one_line,
};
use rustix::{
    fs::{AtFlags, CWD, RenameFlags, renameat_with, unlinkat},
    io::Errno,
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs, io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};

/// The most things that a result names.
const NAMED: usize = 5;

/// The longest text about one thing, in characters.
const SHOWN: usize = 200;

/// Where things are moved, and how paths are named.
#[derive(Debug, Clone)]
pub(crate) struct Aside {
    /// The folder is made when it is needed.
    pub(crate) folder: PathBuf,
    pub(crate) workspace: PathBuf,
}

impl Aside {
    /// A path as the model knows it.
    fn name(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.workspace).unwrap_or(path);
        one_line(&path.to_string_lossy(), SHOWN)
    }

    /// A new place in the folder.
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let path = path.strip_prefix(&self.workspace).unwrap_or(path);
        let name = path.as_os_str().as_bytes().iter().map(|byte| if *byte == b'/' { b'_' } else { *byte });
        let name: Vec<u8> = name.collect();
        // Long names keep their end.
        let name = OsStr::from_bytes(&name[name.len().saturating_sub(200)..]);
        let names = (0..).map(|number: u32| {
            let mut name = name.to_owned();
            if number > 0 {
                name.push(format!(".{number}"));
            }
            self.folder.join(name)
        });
        names
            .into_iter()
            .find(|place| fs::symlink_metadata(place).is_err())
            .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }
}

/// Sets the offences aside. Returns words about what each was and where it is now.
pub(super) fn set_aside(offences: &[Offence], kept: &Kept, aside: &Aside) -> Vec<String> {
    let mut words = Vec::new();
    let (mut files, mut led) = (Vec::new(), Vec::new());
    let mut causes = BTreeMap::<&Path, Causes>::new();
    for offence in offences {
        match offence {
            Offence::File(path) => files.push(path),
            Offence::LeadsElsewhere(path) => led.push(path),
            Offence::Git(cause) => drop(causes.entry(cause.file()).or_default().insert(cause.clone())),
        }
    }
    for path in files {
        let name = aside.name(path);
        words.push(match move_away(path, aside).and_then(|()| kept.restore(path)) {
            Ok(true) => format!("`{name}` was replaced, and is again what it was"),
            Ok(false) => format!("`{name}` was taken away: other programs take from it what they run"),
            Err(error) => failed(&name, &error),
        });
    }
    for path in led {
        let name = aside.name(path);
        words.push(match move_away(path, aside) {
            Ok(()) => format!("`{name}` was taken away: it led git to another folder than before"),
            Err(error) => failed(&name, &error),
        });
    }
    for (file, causes) in causes {
        let name = aside.name(file);
        let what: Vec<String> = causes.iter().map(|cause| one_line(&cause.words(), SHOWN)).collect();
        words.push(match take_out(file, &causes, aside) {
            Ok(()) => format!(
                "`{name}` {}, which git runs outside of the sandbox: it was taken out",
                what.join(", ")
            ),
            Err(error) => failed(&name, &error),
        });
    }
    tracing::warn!(folder = %aside.folder.display(), ?words, "a command has left what others would run");
    let more = words.len().saturating_sub(NAMED);
    words.truncate(NAMED);
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words.push(format!(
        "the user finds what was set aside in {}. What is needed can be made with `outside` and a `reason`, or with the file tools: the user \
         is asked then",
        aside.folder.display()
    ));
    words
}

fn failed(name: &str, error: &io::Error) -> String {
    format!(
        "`{name}` is something that other programs run, and could not be set aside ({error}): the user should look at it"
    )
}

/// Takes what the causes name out of a file, and keeps a copy of the file.
fn take_out(file: &Path, causes: &Causes, aside: &Aside) -> io::Result<()> {
    let text = if file.ends_with("config") || file.ends_with("config.worktree") {
        fs::read_to_string(file).ok()
    } else {
        None
    };
    let rest = text.and_then(|text| without(&text, file, causes));
    let mode = fs::metadata(file).map_or(0o600, |there| there.permissions().mode() & 0o777);
    move_away(file, aside)?;
    match (rest, FolderEntry::of(file)?) {
        (Some(rest), Some(place)) => place.write(rest.as_bytes(), mode),
        _ => Ok(()),
    }
}

/// Moves a file or folder away, following no link.
fn move_away(path: &Path, aside: &Aside) -> io::Result<()> {
    let Some(FolderEntry { folder, name }) = FolderEntry::of(path)? else { return Ok(()) };
    let place = aside.place(path)?;
    match renameat_with(&folder, &name, CWD, &place, RenameFlags::NOREPLACE) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(Errno::XDEV) => {
            let there = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder));
            let there = Path::new(&there).join(&name);
            copy(&there, &place)?;
            if fs::symlink_metadata(&there)?.is_dir() {
                fs::remove_dir_all(there)
            } else {
                Ok(unlinkat(&folder, &name, AtFlags::empty())?)
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Copies files, folders and links; anything else is left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let there = fs::symlink_metadata(from)?;
    if there.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if there.is_file() {
        fs::copy(from, to)?;
        return fs::set_permissions(to, fs::Permissions::from_mode(0o600));
    }
    if there.is_dir() {
        fs::DirBuilder::new().mode(0o700).create(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}
