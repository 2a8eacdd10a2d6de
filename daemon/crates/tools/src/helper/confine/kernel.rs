//! Calls for which rustix has no safe function, and attributes of the process.

use super::Failure;
use rustix::{
    fd::AsFd,
    io::Errno,
    net::{AddressFamily, SocketType, socket},
    process::{DumpableBehavior, set_dumpable_behavior},
    thread::{
        CapabilitiesSecureBits, CapabilitySet, CapabilitySets, UnshareFlags, capabilities,
        clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
        set_capabilities_secure_bits, set_no_new_privs, unshare_unsafe,
    },
};
use std::{ffi::CStr, io, mem::MaybeUninit, os::fd::AsRawFd as _};

/// Flags of a mount to set and to clear.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    pub(super) set: u64,
    pub(super) clear: u64,
    /// The flags of all mounts beneath change, too.
    pub(super) recursive: bool,
}

/// Changes the flags of the mount at `path` in `folder`, or of `folder` itself if the path is empty.
pub(super) fn set_attributes(folder: impl AsFd, path: &CStr, change: Attributes) -> Result<(), Errno> {
    let attributes =
        libc::mount_attr { attr_set: change.set, attr_clr: change.clear, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if change.recursive { libc::AT_RECURSIVE } else { 0 };
    #[expect(unsafe_code, reason = "rustix has no mount_setattr")]
    // SAFETY: the descriptor is borrowed, the path ends with a zero, and the structure is of the size that is
    // given; the call reads them and keeps nothing.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

/// Moves this process, which has one thread, into a new namespace.
pub(super) fn unshare(namespace: UnshareFlags) -> Result<(), Errno> {
    #[expect(unsafe_code, reason = "what other threads rely on may be shared no more, such as descriptors")]
    // SAFETY: there is no other thread, and callers name namespaces only.
    unsafe {
        unshare_unsafe(namespace)
    }
}

/// Makes the loopback device of this network namespace usable.
pub(super) fn bring_loopback_up() -> Result<(), Failure> {
    let fail = |error: Errno| Failure::new("bring the loopback device up", error);
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).map_err(fail)?;
    #[expect(unsafe_code, reason = "there is no safe way to change a network device")]
    // SAFETY: all zeros are a valid request. Its name ends with a zero. Both calls get a valid pointer and
    // keep nothing.
    let result = unsafe {
        let mut request: libc::ifreq = MaybeUninit::zeroed().assume_init();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) == 0 {
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
        } else {
            -1
        }
    };
    if result == 0 { Ok(()) } else { Err(fail(last_error())) }
}

/// Closes this process to other processes of the same user: none can look into it or change it.
pub(super) fn close_to_others() -> Result<(), Failure> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .and_then(|()| set_no_new_privs(true))
        .map_err(|error| Failure::new("give up new privileges", error))
}

/// No program that this process or one of its children executes gains rights. Needs the rights of root, or of
/// the first process of a user namespace.
pub(super) fn bound_capabilities() -> Result<(), Failure> {
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits)
        .and_then(|()| clear_ambient_capability_set())
        .and_then(|()| CapabilitySet::all().iter().try_for_each(remove_from_bounds))
        .map_err(|error| Failure::new("bound the capabilities", error))
}

/// Whether this process has rights of root, in whichever user namespace.
pub(super) fn has_capabilities() -> Result<bool, Failure> {
    let own = capabilities(None).map_err(|error| Failure::new("look at the capabilities", error))?;
    Ok(!own.permitted.is_empty())
}

/// Gives up the rights of root, and those of the first process of a user namespace.
pub(super) fn drop_capabilities() -> Result<(), Failure> {
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, none).map_err(|error| Failure::new("drop the capabilities", error))
}

/// A capability that this kernel does not know is not in its set.
fn remove_from_bounds(capability: CapabilitySet) -> Result<(), Errno> {
    match remove_capability_from_bounding_set(capability) {
        Err(Errno::INVAL) => Ok(()),
        removed => removed,
    }
}

fn last_error() -> Errno {
    io::Error::last_os_error().raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
