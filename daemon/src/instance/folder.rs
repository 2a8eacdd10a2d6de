use super::InstanceError;
use std::path::Path;

/// Creates the folder (0700) and its missing parents, or checks that it can hold private data: it must be
/// ours, and no other user may be able to write to it or replace it. If others could only read it, it is made
/// private.
///
/// # Errors
/// It cannot be created or is not fit.
#[cfg(unix)]
pub fn private_folder(path: &Path) -> Result<(), InstanceError> {
    use std::{
        fs::{self, DirBuilder, Permissions},
        os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    };

    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(InstanceError::io("make the folder", path))?;
    let found = fs::symlink_metadata(path).map_err(InstanceError::io("look at", path))?;
    if !found.is_dir() {
        return Err(InstanceError::WrongKind {
            path: path.to_owned(),
            found: kind(&found),
            wanted: "a folder",
        });
    }
    if found.uid() != our_uid() {
        return Err(InstanceError::NotOurs { path: path.to_owned() });
    }
    if found.mode() & 0o022 != 0 {
        return Err(InstanceError::OpenToOthers { path: path.to_owned() });
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))
            .map_err(InstanceError::io("close to others", path))?;
    }
    let real = fs::canonicalize(path).map_err(InstanceError::io("look at", path))?;
    for above in real.ancestors().skip(1) {
        let found = fs::metadata(above).map_err(InstanceError::io("look at", above))?;
        match way_in(&found) {
            None => {}
            Some(WayIn::Owns) => return Err(InstanceError::NotOurs { path: above.to_owned() }),
            Some(WayIn::MayWrite) => return Err(InstanceError::OpenToOthers { path: above.to_owned() }),
        }
    }
    Ok(())
}

/// How a user other than this one and root can change a file, or what lies in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayIn {
    Owns,
    MayWrite,
}

/// `None`: no other user can.
#[cfg(unix)]
#[must_use]
pub fn way_in(found: &std::fs::Metadata) -> Option<WayIn> {
    use std::os::unix::fs::MetadataExt as _;

    if found.uid() != our_uid() && found.uid() != 0 {
        return Some(WayIn::Owns);
    }
    // In a sticky folder (/tmp) others cannot rename our files. Our own group has only us on most systems.
    let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
    let others = found.mode() & 0o002 != 0 || (found.mode() & 0o020 != 0 && found.gid() != our_gid());
    (others && !sticky).then_some(WayIn::MayWrite)
}

#[cfg(not(unix))]
pub fn private_folder(_: &Path) -> Result<(), InstanceError> {
    Err(InstanceError::Unsupported)
}

#[cfg(unix)]
pub(super) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn our_gid() -> u32 {
    rustix::process::getegid().as_raw()
}

/// The kind of a file, in words.
#[cfg(unix)]
#[must_use]
pub fn kind(found: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = found.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_file() => "a file",
        () if kind.is_socket() => "a socket",
        () if kind.is_fifo() => "a pipe",
        () => "something else",
    }
}
