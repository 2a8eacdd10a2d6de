//! The daemon's API, independent of the transport: a [`Line`] takes one caller's requests, gives their
//! replies, and fills an outbox with the notifications of its subscriptions. Transports such as
//! [`crate::ipc`] do hello, framing and writing.

mod caller;
mod connections;
mod handlers;
mod line;
mod request_error;
mod subscription;

pub use caller::Caller;
pub use connections::{ConnectionSlot, Connections};
pub use line::Line;

use crate::{
    embedder::Embedder,
    events::Hub,
    http::Http,
    launch::Launcher,
    session::Sessions,
    settings::Settings,
    supervisor::{Ending, Supervisor},
    update::Updates,
};
use abide_host::home::Home;
use abide_protocol::{Error, Timestamp, method::daemon::ShutdownReply, start::StartedBy};
use abide_store::Store;
use abide_tools::Tools;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;

/// What handlers work with. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    pub store: Store,
    pub embedder: Embedder,
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
    pub started_by: StartedBy,
    /// Set to end the daemon.
    pub ending: Arc<watch::Sender<Option<Ending>>>,
    /// Set once the daemon has drained.
    pub drained: Arc<watch::Sender<Option<Drained>>>,
    pub updates: Updates,
    pub http: Http,
}

/// The unfinished tasks at shutdown, or why they cannot be counted.
pub type Drained = Result<ShutdownReply, Error>;
