use crate::{
    Client, ConnectError, Options,
    autostart::{self, Start},
};
use abide_host::Home;
use abide_protocol::notification::DaemonUpdate;

/// Makes a connection each time one is needed. A closure is one.
pub trait Connector: Send + 'static {
    /// # Errors
    /// Connecting failed; [`ConnectError::is_transient`] says whether to try again.
    fn connect(&mut self) -> impl Future<Output = Result<Client, ConnectError>> + Send;

    /// The daemon's state, as a [`crate::Live`] received it: always before the next connection is made,
    /// whether or not the updates have been read. A daemon that is shutting down need not be started again.
    fn heard(&mut self, _daemon: DaemonUpdate) {}
}

impl<F, C> Connector for F
where
    F: FnMut() -> C + Send + 'static,
    C: Future<Output = Result<Client, ConnectError>> + Send,
{
    fn connect(&mut self) -> impl Future<Output = Result<Client, ConnectError>> + Send {
        self()
    }
}

/// Connects to the daemon of a home.
#[derive(Debug, Clone)]
pub struct AtHome {
    pub home: Home,
    pub options: Options,
    /// How to start the daemon if it is not running; `None`: it is not started.
    pub start: Option<Start>,
}

impl Connector for AtHome {
    async fn connect(&mut self) -> Result<Client, ConnectError> {
        match &self.start {
            None => Client::connect(&self.home, self.options.clone()).await,
            Some(start) => autostart::connect_with(&self.home, self.options.clone(), start).await,
        }
    }
}
