//! Returns unused memory to the system. The C library would keep most of what tasks needed, in as many arenas
//! as there were threads: after ten thousand tasks that is several times what the daemon uses.

use crate::{session::Sessions, supervisor::Supervisor};
use std::time::Duration;

/// The delay between a conversation's leaving memory and the trim: others may leave meanwhile.
const TRIM_DELAY: Duration = Duration::from_secs(2);

/// Keeps the number of arenas small. Call it before any other thread starts.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// One for the threads that run tasks, one for the writer thread.
        const ARENAS: libc::c_int = 2;
        #[expect(unsafe_code, reason = "there is no safe way to set up the allocator")]
        // SAFETY: sets a number before any other thread runs; a failure is harmless.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        }
    }
}

/// Trims the allocator after conversations have left memory.
pub async fn trim_after_unload(sessions: Sessions, supervisor: Supervisor) {
    loop {
        tokio::select! {
            () = supervisor.ending() => return,
            () = sessions.conversation_unloaded() => {}
        }
        tokio::select! {
            () = supervisor.ending() => return,
            () = tokio::time::sleep(TRIM_DELAY) => {}
        }
        let _ = tokio::task::spawn_blocking(trim).await;
    }
}

/// Gives the system back what nothing uses.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "there is no safe way to have the allocator give memory back")]
    // SAFETY: malloc_trim takes the allocator's own locks and touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
