//! What the daemon does not keep of the process that starts it, however it is started. A client leaves more
//! behind ([`abide_host::fresh`]); a unit's umask and nice value are meant.

use abide_protocol::limits::MAX_CONNECTIONS;

/// Relative paths of the environment must have been read before.
#[cfg(unix)]
pub(crate) fn begin() {
    abide_host::fresh::restore();
    // A folder that is somebody's working folder cannot be unmounted.
    let _ = std::env::set_current_dir("/");
}

/// Logs what could not be restored.
#[cfg(unix)]
pub(crate) fn warn() {
    use rustix::process::{Resource, getpriority_process, getrlimit};

    let is_by_client =
        std::env::var(abide_host::login::STARTED_BY).as_deref() == Ok(abide_host::login::BY_CLIENT);
    let nice = getpriority_process(None).unwrap_or(0);
    if is_by_client && nice > 0 {
        tracing::warn!(
            nice,
            "the client that started the daemon runs with low priority, and only root can raise it: all tasks run with it. To end that, \
             run `abide daemon restart` in a shell that has not been started with `nice`"
        );
    }
    let files = getrlimit(Resource::Nofile).current;
    if files.is_some_and(|files| files < MAX_CONNECTIONS as u64) {
        tracing::warn!(
            files,
            "few files can be open at a time, and the limit cannot be raised. To end that, run `abide daemon restart` in a shell whose \
             hard limit (`ulimit -H -n`) is higher"
        );
    }
}

#[cfg(not(unix))]
pub(crate) fn begin() {}

#[cfg(not(unix))]
pub(crate) fn warn() {}
