//! What the daemon does for callers, whatever face they come by: a [`Line`] takes requests, gives replies, and feeds an outbox with
//! the notifications of its subscriptions. Faces ([`crate::ipc`]) keep greeting, framing and writing.

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
    events::Hub,
    launch::Launcher,
    session::Sessions,
    settings::Settings,
    supervisor::{Ending, Supervisor},
};
use abide_client::home::Home;
use abide_protocol::{Error, Timestamp, method::daemon::ShutdownReply};
use abide_store::Store;
use abide_tools::Tools;
use std::{path::PathBuf, sync::Arc};
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
