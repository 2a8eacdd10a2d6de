//! The signals that ask the daemon to end.

use abide_daemon::supervisor::Ending;
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// How long running attempts may take to finish after a signal.
const DRAIN: Duration = Duration::from_secs(5);

#[cfg(unix)]
pub(crate) use unix::{end_at_once, until_signal};

#[cfg(unix)]
mod unix {
    use super::{Arc, DRAIN, Duration, Ending, watch};
    use std::{
        io,
        sync::atomic::{AtomicBool, Ordering},
    };
    use tokio::signal::unix::{SignalKind, signal};

    const SIGNALS: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGINT];

    /// Whether one has come. tokio passes signals on only as long as its runtime runs.
    static HAS_COME: AtomicBool = AtomicBool::new(false);

    /// From here on a signal asks the daemon to end, even while it starts. The returned future passes signals
    /// on and never ends.
    pub(crate) fn until_signal(
        ending: Arc<watch::Sender<Option<Ending>>>,
    ) -> io::Result<impl Future<Output = ()>> {
        note_all()?;
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(async move {
            let mut drain = DRAIN;
            loop {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
                ending.send_replace(Some(Ending::Asked { drain }));
                // A second signal ends the daemon without a drain.
                drain = Duration::ZERO;
            }
        })
    }

    #[expect(unsafe_code, reason = "what a signal's handler may do is not checked by the compiler")]
    fn note_all() -> io::Result<()> {
        for signal in SIGNALS {
            // SAFETY: the handler stores one lock-free atomic, which is async-signal-safe.
            unsafe { signal_hook_registry::register(signal, || HAS_COME.store(true, Ordering::SeqCst)) }?;
        }
        Ok(())
    }

    /// From here on a signal ends this process at once, as it does every process that has not asked for
    /// another effect. Returns whether one has come before. So none is lost between the end of the runtime
    /// and the moment when the next program listens.
    #[expect(unsafe_code, reason = "std has no way to change what a signal does")]
    pub(crate) fn end_at_once() -> bool {
        for signal in SIGNALS {
            // SAFETY: the default effect calls no code of this process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        HAS_COME.load(Ordering::SeqCst)
    }
}

#[cfg(not(unix))]
pub(crate) fn until_signal(
    ending: Arc<watch::Sender<Option<Ending>>>,
) -> std::io::Result<impl Future<Output = ()>> {
    Ok(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        ending.send_replace(Some(Ending::Asked { drain: DRAIN }));
    })
}
