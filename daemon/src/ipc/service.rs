use crate::{
    daemon::Ending, events::Hub, launch::Launcher, session::Sessions, settings::Settings,
    supervisor::Supervisor,
};
use abide_client::home::Home;
use abide_protocol::{Error, Timestamp, method::daemon::ShutdownReply};
use abide_store::Store;
use abide_tools::Tools;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::watch;

/// All that handlers may use. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    pub store: Store,
    pub hub: Hub,
    pub sessions: Sessions,
    pub settings: Settings,
    pub tools: Tools,
    pub launcher: Launcher,
    pub home: Arc<Home>,
    pub socket: PathBuf,
    pub supervisor: Supervisor,
    pub connections: Connections,
    pub started_at: Timestamp,
    /// Set to ask the daemon to end.
    pub ending: Arc<watch::Sender<Option<Ending>>>,
    /// Set when nothing runs any more.
    pub drained: Arc<watch::Sender<Option<Drained>>>,
}

/// What the daemon leaves behind, or why it cannot tell.
pub type Drained = Result<ShutdownReply, Error>;

/// Counts connections. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    open: Arc<AtomicUsize>,
}

impl Connections {
    /// A slot, given back when dropped; none if there are `max` already.
    #[must_use]
    pub fn take_slot(&self, max: usize) -> Option<ConnectionSlot> {
        let taken =
            self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n < max).then_some(n + 1));
        taken.ok().map(|_| ConnectionSlot { open: self.open.clone() })
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }
}

/// One connection's slot.
#[derive(Debug)]
pub struct ConnectionSlot {
    open: Arc<AtomicUsize>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
    }
}
