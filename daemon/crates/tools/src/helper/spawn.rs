//! Starts the command. `fork` would copy the helper's memory for a child that executes another program at
//! once. So the child shares the memory until then, as with `posix_spawn`, which cannot set a parent-death
//! signal.

use super::{
    protocol::{Fittings, Program},
    stage,
};
use rustix::{
    process::{Pid, WaitOptions, fchdir, getpid, waitpid},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};
use std::{
    ffi::{c_char, c_int, c_void},
    io, ptr,
    sync::atomic::{AtomicI32, Ordering},
};

/// The size of the child's stack in units of 16 bytes, its alignment.
const STACK: usize = 64 * 1024 / 16;

/// The child's input, in the memory that the child shares with this process.
struct Child<'a> {
    helper: Pid,
    fittings: &'a Fittings,
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    /// The error number if executing the command failed, else 0.
    failed: AtomicI32,
}

/// Starts the command in its directory, with its output pipes and its stdin.
pub(super) fn spawn(program: &Program, fittings: &Fittings) -> io::Result<Pid> {
    let [arguments, environment] = program.lists();
    let [first, _, ..] = arguments[..] else { return Err(io::ErrorKind::InvalidInput.into()) };
    let child = Child {
        helper: getpid(),
        fittings,
        program: first,
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        failed: AtomicI32::new(0),
    };
    let mut stack = Vec::<u128>::with_capacity(STACK);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    #[expect(
        unsafe_code,
        reason = "there is no safe way to spawn with a parent-death signal, and without a copy"
    )]
    // SAFETY: this process has one thread, which stands still until the child has executed its program or
    // ended (CLONE_VFORK), so what the child borrows lives on and is not touched meanwhile. The child has a
    // stack of its own, and what it does on it neither allocates nor locks. The pointer is one past the end
    // of the stack, which grows downwards.
    let pid = unsafe {
        libc::clone(
            become_command,
            stack.spare_capacity_mut().as_mut_ptr_range().end.cast(),
            flags,
            ptr::from_ref(&child).cast_mut().cast(),
        )
    };
    let pid = match pid {
        1.. => Pid::from_raw(pid),
        _ => None,
    };
    let pid = pid.ok_or_else(io::Error::last_os_error)?;
    match child.failed.load(Ordering::Relaxed) {
        0 => Ok(pid),
        error => {
            let _ = waitpid(Some(pid), WaitOptions::empty());
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// Runs in the child until it executes the command.
extern "C" fn become_command(child: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "see where it is called")]
    // SAFETY: it is what `spawn` passes, which stands still meanwhile. It is only read, but for the atomic.
    let child = unsafe { &*child.cast::<Child<'_>>() };
    let Fittings { directory, stdin, stdout, stderr } = child.fittings;
    let prepared = stdin
        .as_ref()
        .map_or(Ok(()), dup2_stdin)
        .and_then(|()| dup2_stdout(stdout))
        .and_then(|()| dup2_stderr(stderr))
        .and_then(|()| fchdir(directory))
        .and_then(|()| stage::prepare(child.helper));
    let error = match prepared {
        Ok(()) => {
            #[expect(unsafe_code, reason = "there is no safe way to become another program")]
            // SAFETY: the three are what `spawn` made: a string, and two lists of strings that end with a
            // null.
            unsafe {
                libc::execve(child.program, child.arguments, child.environment);
            }
            io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOEXEC)
        }
        Err(error) => error.raw_os_error(),
    };
    child.failed.store(error, Ordering::Relaxed);
    127
}
