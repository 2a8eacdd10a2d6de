//! One window for each session and home. The window owns a name on the session bus
//! (`abide_host::application::bus_name`); a second start finds the name taken, hands over what it was asked
//! to show, and ends. Without a session bus each start opens a window.

pub(crate) mod application;
mod owner;

pub(crate) use owner::{has_owner, owned};

use crate::arguments::ShowRequest;
use abide_host::{Home, application as names};
use application::Application;
use futures_util::{Stream, stream};
use std::{hash::Hash, time::Duration};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use zbus::{
    Connection,
    connection::Builder,
    fdo::{self, RequestNameFlags, RequestNameReply},
};

/// How long the bus, or the window that runs, may take to answer. A person waits for a window.
const PATIENCE: Duration = Duration::from_secs(3);
/// The least time between two requests that the window carries out: a flood of them would open a conversation
/// for each.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the name is asked for while its owner goes away.
const ATTEMPTS: usize = 3;

/// The window's place on the session bus. Clones share it.
#[derive(Debug, Clone)]
pub struct Bus {
    connection: Connection,
    wanted: watch::Receiver<Option<ShowRequest>>,
}

/// Whether this process is to open a window.
#[derive(Debug)]
pub enum Claim {
    /// It is. Without a bus other starts do not find it.
    Open(Option<Bus>),
    /// Another one shows what was wanted.
    HandedOver,
}

/// Takes the window's name, or hands over what is wanted to the window that has it. `is_service`: the bus
/// waits for the plain name.
pub async fn claim(home: &Home, wanted: &ShowRequest, is_service: bool) -> Claim {
    let name = names::bus_name(home);
    let claimed = match timeout(PATIENCE, connect()).await {
        Ok(Ok(bus)) => claim_on(bus, &name, wanted).await,
        Ok(Err(error)) => {
            tracing::debug!(%error, "there is no session bus; each start opens a window");
            return Claim::Open(None);
        }
        Err(_) => {
            tracing::warn!("the session bus does not answer; a window that runs is not looked for");
            return Claim::Open(None);
        }
    };
    if let (Claim::Open(Some(bus)), true) = (&claimed, is_service && name != names::ID) {
        // The bus has started this program in an environment with another home, which the activation is for.
        take(&bus.connection, names::ID).await;
    }
    claimed
}

async fn connect() -> zbus::Result<Bus> {
    let (sender, wanted) = watch::channel(None);
    let builder = Builder::session().serve_at(names::PATH, Application::new(sender));
    Ok(Bus { connection: builder.build().await?, wanted })
}

async fn claim_on(bus: Bus, name: &str, wanted: &ShowRequest) -> Claim {
    for _ in 0..ATTEMPTS {
        if take(&bus.connection, name).await {
            return Claim::Open(Some(bus));
        }
        match timeout(PATIENCE, application::ask(&bus.connection, name, wanted, application::token())).await {
            Ok(Ok(())) => return Claim::HandedOver,
            // It has ended meanwhile.
            Ok(Err(zbus::Error::FDO(error))) if is_gone(&error) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "the window that runs cannot show what is wanted; another one opens");
                return Claim::Open(None);
            }
            Err(_) => {
                tracing::warn!("the window that runs does not answer; another one opens");
                return Claim::Open(None);
            }
        }
    }
    Claim::Open(None)
}

/// Whether the name is ours now.
pub(crate) async fn take(connection: &Connection, name: &str) -> bool {
    let flags = RequestNameFlags::DO_NOT_QUEUE;
    match timeout(PATIENCE, connection.request_name_with_flags(name, flags)).await {
        Ok(Ok(reply)) => {
            matches!(reply, RequestNameReply::PrimaryOwner | RequestNameReply::AlreadyOwner)
        }
        _ => false,
    }
}

/// Whether the name's owner has gone away, before or after it got the call.
const fn is_gone(error: &fdo::Error) -> bool {
    matches!(
        error,
        fdo::Error::ServiceUnknown(_)
            | fdo::Error::NameHasNoOwner(_)
            | fdo::Error::NoReply(_)
            | fdo::Error::Disconnected(_)
    )
}

impl Bus {
    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What other processes ask the window to show: the first request at once, and of those that come shortly
    /// after it the newest.
    pub fn wanted(&self) -> impl Stream<Item = ShowRequest> + use<> {
        stream::unfold((self.wanted.clone(), Duration::ZERO), |(mut wanted, pause)| async move {
            sleep(pause).await;
            loop {
                wanted.changed().await.ok()?;
                let newest = wanted.borrow_and_update().clone();
                if let Some(newest) = newest {
                    return Some((newest, (wanted, PAUSE)));
                }
            }
        })
    }
}

/// A process has one bus.
impl Hash for Bus {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        "the session bus".hash(state);
    }
}
