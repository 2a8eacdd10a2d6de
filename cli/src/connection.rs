//! How commands reach the daemon.

use crate::{
    error::CommandError,
    output::{screen, status},
};
use abide_client::{
    AtHome, CallError, Client, Home, Live, LiveOptions, Options, Update, autostart,
    protocol::{
        method::{Method, Status, daemon::StatusParams, subscription::Scope},
        notification::DaemonUpdate,
    },
    view::{Connection, OverviewView},
};

/// API keys that shells usually have, and whose they are.
const KEY_VARIABLES: [(&str, &str); 2] = [("ANTHROPIC_API_KEY", "anthropic"), ("OPENAI_API_KEY", "openai")];

/// A connection that is made again when it is found cut before a call.
pub(crate) struct Daemon {
    home: Home,
    client: Client,
}

impl Daemon {
    /// Connects; the daemon is started if it is not running.
    pub(crate) async fn started() -> Result<Self, CommandError> {
        let home = Home::from_env()?;
        let client = autostart::connect_or_start(&home, options()).await?;
        Ok(Self { home, client })
    }

    /// Connects to a daemon that is running.
    pub(crate) async fn running() -> Result<Self, CommandError> {
        let home = Home::from_env()?;
        let client = Client::connect(&home, options()).await?;
        Ok(Self { home, client })
    }

    pub(crate) const fn home(&self) -> &Home {
        &self.home
    }

    /// The daemon is gone. Unless it was told to go, it is started again: its tasks go on by themselves.
    pub(crate) async fn revive(&self, last: DaemonUpdate) {
        if !last.shutting_down {
            // What fails here is seen by the subscription, which goes on trying and says so.
            drop(autostart::connect_or_start(&self.home, options()).await);
        }
    }

    /// Asks once: what a cut connection leaves unknown is said, not tried again.
    pub(crate) async fn call<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CommandError> {
        Ok(self.ask::<M>(params).await?)
    }

    /// Asks again if the connection is cut meanwhile. For what may be asked twice without harm.
    pub(crate) async fn call_again<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CommandError>
    where
        M::Params: Clone,
    {
        match self.ask::<M>(params.clone()).await {
            Err(CallError::Disconnected(_)) => self.call::<M>(params).await,
            settled => Ok(settled?),
        }
    }

    async fn ask<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CallError> {
        if let Some(cut) = self.client.disconnected() {
            match autostart::connect_or_start(&self.home, options()).await {
                Ok(client) => self.client = client,
                Err(_) => return Err(CallError::Disconnected(cut)),
            }
        }
        self.client.call::<M>(params).await
    }

    /// Asks beside other requests: what is returned does not hold this connection.
    pub(crate) fn asked<M: Method>(
        &self,
        params: M::Params,
    ) -> impl Future<Output = Result<M::Reply, CommandError>> + Send + 'static {
        let client = self.client.clone();
        async move { Ok(client.call::<M>(params).await?) }
    }

    /// Says what about the daemon may surprise who starts a task: a configuration that it refuses, a key of this shell that it
    /// lacks.
    pub(crate) async fn warn(&mut self) -> Result<(), CommandError> {
        let status = self.call::<Status>(StatusParams::default()).await?;
        if let Some(refused) = &status.config.refused {
            screen::note(&status::refused_config(refused))?;
        }
        let in_shell = |variable: &str| std::env::var_os(variable).is_some_and(|key| !key.is_empty());
        for (variable, provider) in KEY_VARIABLES.into_iter().filter(|(variable, _)| in_shell(variable)) {
            let known = &status.keys;
            if !known.iter().any(|k| k.eq_ignore_ascii_case(variable) || k.eq_ignore_ascii_case(provider)) {
                screen::note(&status::missing_key(variable, provider))?;
            }
        }
        Ok(())
    }
}

/// All tasks as they stand, kept up while the daemon is restarted.
pub(crate) struct Overview {
    live: Live,
    pub(crate) view: OverviewView,
}

impl Overview {
    pub(crate) async fn open(daemon: &Daemon) -> Result<Self, CommandError> {
        let live =
            Live::open(connector(daemon.home()), Scope::Overview, None, LiveOptions::default()).await?;
        Ok(Self { live, view: OverviewView::default() })
    }

    /// Takes in the next update. A daemon that has died is started again. Cancel-safe up to the update.
    pub(crate) async fn next(&mut self, daemon: &Daemon) -> Result<(), CommandError> {
        let update = self.live.next().await;
        let is_lost = matches!(update, Update::Disconnected { .. });
        self.view.apply(update);
        if is_lost {
            daemon.revive(self.view.daemon()).await;
        }
        match self.view.connection() {
            Connection::Ended { reason } => Err(CommandError::failed(format!("lost the daemon: {reason}"))),
            Connection::Live | Connection::Opening | Connection::Lost { .. } => Ok(()),
        }
    }
}

pub(crate) fn options() -> Options {
    Options::new("abide", env!("CARGO_PKG_VERSION"))
}

/// Connects again and again for one who follows. It starts no daemon: whoever follows knows whether one was told to go.
pub(crate) fn connector(home: &Home) -> AtHome {
    AtHome { home: home.clone(), options: options(), start: None }
}
