//! The connection to the daemon.

use crate::{
    error::CommandError,
    output::{screen, status},
};
use abide_client::{
    AtHome, CallError, Client, ConnectError, Live, LiveOptions, Options, Update,
    autostart::{self, Start},
    protocol::{
        method::{
            Access, ListModels, Method, Status,
            daemon::{ListModelsParams, StatusParams},
            subscription::Scope,
        },
        notification::DaemonUpdate,
        provider::{ANTHROPIC, KnownProvider, OPENAI, ProviderInfo},
    },
    view::{Connection, OverviewView},
};
use abide_host::{Home, home, program};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a request is sent that may be repeated: a daemon that hands over to another program may take a
/// connection, also a new one, that it does not serve any more.
const ATTEMPTS: usize = 3;
/// The pause between two attempts to reach a daemon that hands over.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The providers whose variables the daemon reads without a configuration.
const BUILT_IN: [KnownProvider; 2] = [ANTHROPIC, OPENAI];

/// A connection that is made again if it is found cut before a call.
pub(crate) struct Daemon {
    home: Home,
    client: Client,
    /// Whether a daemon is started if none runs any more, to send a request again. A command that is about
    /// the daemon that runs does not do that: perhaps a person has stopped it.
    starts: bool,
}

impl Daemon {
    /// Connects; the daemon is started if it is not running.
    pub(crate) async fn started() -> Result<Self, CommandError> {
        let home = Home::from_env()?;
        match autostart::connect_or_start(&home, options()).await {
            Ok(client) => Ok(Self { home, client, starts: true }),
            // Where systemd holds the socket, clients of a daemon that cannot start wait in vain. The program
            // says why it cannot.
            Err(waited @ ConnectError::Timeout(_)) => {
                let refused = program::check(&home, None).await.err();
                Err(refused.map_or(waited, |refused| ConnectError::Start(refused.into())).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to a daemon that is running.
    pub(crate) async fn running() -> Result<Self, CommandError> {
        let home = Home::from_env()?;
        let client = connect(&home).await?;
        Ok(Self { home, client, starts: false })
    }

    /// The version of the program that runs.
    pub(crate) fn version(&self) -> &str {
        &self.client.daemon().daemon.version
    }

    pub(crate) const fn home(&self) -> &Home {
        &self.home
    }

    /// Starts the daemon again after it died, unless it was told to stop. Its tasks go on by themselves.
    pub(crate) async fn revive(&self, last: DaemonUpdate) {
        if !last.shutting_down {
            // An error here also reaches the subscription, which retries and reports it.
            drop(autostart::connect_or_start(&self.home, options()).await);
        }
    }

    /// Waits until the daemon has handed over to another program, and connects to that one. A daemon that has
    /// ended instead is started again only by a command that may start one.
    pub(crate) async fn until_replaced(&mut self) -> Result<(), CommandError> {
        let mut notifications = self.client.notifications();
        while notifications.next().await.is_some() {}
        self.client = match self.starts {
            true => autostart::connect_or_start(&self.home, options()).await?,
            false => connect(&self.home).await?,
        };
        Ok(())
    }

    /// Sends a request. When the connection is cut, a request that reads is sent again. A request that acts is
    /// not: nobody knows whether it had its effect.
    pub(crate) async fn call<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CommandError> {
        match M::ACCESS {
            Access::Read => self.call_again::<M>(params).await,
            _ => self.call_once::<M>(params).await,
        }
    }

    /// Sends a request once, even if the request only reads. Commands that follow the daemon use this: they
    /// start a daemon by themselves, unless the daemon was told to stop.
    pub(crate) async fn call_once<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CommandError> {
        self.connect_again().await?;
        Ok(self.client.call::<M>(params).await?)
    }

    /// Connects again if the connection is cut and a daemon may be started.
    async fn connect_again(&mut self) -> Result<(), CommandError> {
        if let Some(cut) = self.client.disconnected().filter(|_| self.starts) {
            match autostart::connect_or_start(&self.home, options()).await {
                Ok(client) => self.client = client,
                Err(_) => return Err(CallError::Disconnected(cut).into()),
            }
        }
        Ok(())
    }

    /// Sends a request again if the daemon ends meanwhile, perhaps to hand over to another program: only for
    /// requests that may be repeated without harm.
    pub(crate) async fn call_again<M: Method>(
        &mut self,
        params: M::Params,
    ) -> Result<M::Reply, CommandError> {
        for _ in 1..ATTEMPTS {
            match self.call_once::<M>(params.clone()).await {
                Err(error) if error.is_end_of_daemon() => self.until_replaced().await?,
                settled => return settled,
            }
        }
        self.call_once::<M>(params).await
    }

    /// Sends a request without borrowing this connection, so that several run at once.
    pub(crate) fn asked<M: Method>(
        &self,
        params: M::Params,
    ) -> impl Future<Output = Result<M::Reply, CommandError>> + Send + 'static {
        let client = self.client.clone();
        async move { Ok(client.call::<M>(params).await?) }
    }

    /// Warns a person who starts a task of what may surprise them: a configuration that is refused, or a key
    /// that this shell has and the daemon lacks.
    pub(crate) async fn warn(&mut self) -> Result<(), CommandError> {
        let status = self.call::<Status>(StatusParams::default()).await?;
        if let Some(refused) = &status.config.refused {
            screen::note(&status::refused_config(refused))?;
        }
        let in_shell = |variable: &str| std::env::var_os(variable).is_some_and(|key| !key.is_empty());
        let variables = BUILT_IN.iter().filter_map(|known| Some((known.key_variable?, known.name)));
        for (variable, provider) in variables.filter(|(variable, _)| in_shell(variable)) {
            let known = &status.keys;
            if !known.iter().any(|k| k.eq_ignore_ascii_case(variable) || k.eq_ignore_ascii_case(provider)) {
                screen::note(&status::missing_key(variable, provider))?;
            }
        }
        Ok(())
    }

    /// Warns if the daemon has no provider of this name: it may be a typing error, or a provider that is
    /// configured later.
    pub(crate) async fn warn_of_unknown(&mut self, provider: &str) -> Result<(), CommandError> {
        let params = ListModelsParams { offline: true, provider: None };
        let known = self.call::<ListModels>(params).await?.providers;
        if known.iter().all(|known| known.name != provider) {
            let names: Vec<&str> = known.iter().map(|known| &*known.name).collect();
            screen::note(&status::unknown_provider(provider, &names))?;
        }
        Ok(())
    }

    /// Warns if the model's provider answers, and does not list it.
    pub(crate) async fn warn_of_unlisted(&mut self, model: &str) -> Result<(), CommandError> {
        let provider = model.split('/').next().map(str::to_owned);
        let params = ListModelsParams { offline: false, provider };
        let answered = self.call::<ListModels>(params).await?.providers;
        let is_scripted = |known: &ProviderInfo| known.api == "scripted";
        let lists = |known: &&ProviderInfo| !known.models.is_empty() && !is_scripted(known);
        for provider in answered.iter().filter(lists) {
            if !provider.models.iter().any(|listed| listed == model) {
                screen::note(&status::unlisted_model(model, provider))?;
            }
        }
        Ok(())
    }
}

/// The current state of all tasks, kept up through restarts of the daemon.
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

    /// Folds the next update in. If the daemon has died, it is started again. Cancel-safe until an update
    /// comes.
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

/// Connects to the daemon that holds the lock, or to the program that it hands over to.
async fn connect(home: &Home) -> Result<Client, CommandError> {
    let deadline = Instant::now() + Start::default().deadline;
    loop {
        // Lock and socket stay open while it hands over. Where systemd holds the socket, connecting would
        // start a daemon.
        if options().socket.is_none() && !home::is_held(home) {
            return Err(ConnectError::NotRunning { socket: home.socket()? }.into());
        }
        match Client::connect(home, options()).await {
            // The program that goes has taken the connection, and closed it.
            Err(ConnectError::NotRunning { .. } | ConnectError::Closed(_)) if Instant::now() < deadline => {
                sleep(LOOK_AGAIN).await;
            }
            settled => return Ok(settled?),
        }
    }
}

pub(crate) fn options() -> Options {
    Options::new("abide", env!("CARGO_PKG_VERSION")).at_named_socket()
}

/// Reconnects for a subscription. It starts no daemon: the caller knows whether it was told to stop.
pub(crate) fn connector(home: &Home) -> AtHome {
    AtHome { home: home.clone(), options: options(), start: None }
}
