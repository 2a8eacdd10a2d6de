//! Sends the window's requests.

use super::{Reply, Request, config, config_of};
use crate::daemon::{Daemon, Failure};
use abide_client::{
    protocol::{
        ErrorKind,
        method::{
            config::ModelChoice,
            daemon::{SetKeyParams, SetKeyReply},
        },
    },
    provider::{Draft, removal},
};
use futures_util::future::BoxFuture;
use std::{fmt, sync::Arc};

/// Sends one request.
type Ask = dyn Fn(Request) -> BoxFuture<'static, Result<Reply, Failure>> + Send + Sync;

/// The receiver of requests.
#[derive(Clone)]
pub struct Asker(Arc<Ask>);

impl Asker {
    /// Sends requests to this function.
    pub fn new(
        ask: impl Fn(Request) -> BoxFuture<'static, Result<Reply, Failure>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(ask))
    }

    pub(crate) fn ask(&self, request: Request) -> BoxFuture<'static, Result<Reply, Failure>> {
        (self.0)(request)
    }

    /// Stores a provider: its key, then what the configuration has of it. Returns the second request with its
    /// reply.
    pub(crate) async fn set_up(self, draft: Draft) -> (Request, Result<Reply, Failure>) {
        let change = Request::UpdateConfig(draft.change());
        let stored = match draft.set_key().map(|key| self.ask(Request::SetKey(key))) {
            Some(stored) => Some(stored.await),
            None => None,
        };
        let is_new = match stored {
            Some(Err(failure)) => return (change, Err(failure)),
            Some(Ok(Reply::SetKey(SetKeyReply { had_key, .. }))) => !had_key,
            Some(Ok(_)) | None => false,
        };
        let changed = self.ask(change.clone()).await;
        if changed.is_err() && is_new {
            // The error that matters is the first one.
            drop(self.ask(without_key(draft.entry.name)).await);
        }
        (change, changed)
    }

    /// Removes a provider from the configuration, then its key. Returns the first of these requests with its
    /// reply.
    pub(crate) async fn remove_provider(self, name: String) -> (Request, Result<Reply, Failure>) {
        let now = self.ask(config()).await;
        let default = now.as_ref().ok().and_then(config_of).map(|config| config.model.clone());
        let change = Request::UpdateConfig(removal(&name, &default.unwrap_or(ModelChoice::Automatic)));
        if now.is_err() {
            return (change, now);
        }
        let changed = match self.ask(change.clone()).await {
            // One that is built in has no entry, but may have a key.
            Err(failure) if failure.kind == Some(ErrorKind::NotFound) => now,
            changed => changed,
        };
        match changed {
            Ok(changed) => (change, self.ask(without_key(name)).await.map(|_| changed)),
            failed => (change, failed),
        }
    }
}

fn without_key(provider: String) -> Request {
    Request::SetKey(SetKeyParams { provider, key: None })
}

impl From<Daemon> for Asker {
    fn from(daemon: Daemon) -> Self {
        Self::new(move |request| Box::pin(daemon.clone().ask(request)))
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asker")
    }
}
