//! Memory goes back to the system when it is not used any more. The C library would keep most of what tasks needed while they ran, in
//! as many arenas as there were threads: after ten thousand tasks that is several times what the daemon uses.

use crate::{session::Sessions, supervisor::Supervisor};
use std::time::Duration;

/// From when a conversation has left memory until what it took is given back: others may leave with it.
const SOON: Duration = Duration::from_secs(2);

/// Keeps the number of arenas small. To be called before any other thread starts.
pub fn bound() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// One for the threads that run tasks, one for the one that writes.
        const ARENAS: libc::c_int = 2;
        #[expect(unsafe_code, reason = "there is no safe way to set up the allocator")]
        // SAFETY: sets a number, before any other thread runs; that it may not be heeded does no harm.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        }
    }
}

/// Gives back what conversations took that have left.
pub async fn give_back(sessions: Sessions, supervisor: Supervisor) {
    loop {
        tokio::select! {
            () = supervisor.ending() => return,
            () = sessions.one_has_left() => {}
        }
        tokio::select! {
            () = supervisor.ending() => return,
            () = tokio::time::sleep(SOON) => {}
        }
        let _ = tokio::task::spawn_blocking(trim).await;
    }
}

fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "there is no safe way to have the allocator give memory back")]
    // SAFETY: malloc_trim takes the allocator's own locks and touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
