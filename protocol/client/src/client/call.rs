use super::{
    Client,
    shared::{Disconnect, Shared},
};
use abide_protocol::{
    Error,
    codec::{DecodeError, EncodeError, ReplyBody},
    method::{Method, Reply, Request},
};
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The daemon refused; its message is for people.
    #[error(transparent)]
    Daemon(Error),
    #[error("{0}; whether it did what was asked is not known")]
    Disconnected(Disconnect),
    #[error("the daemon did not answer `{method}` within {} ms; see `abide daemon logs`", limit.as_millis())]
    Timeout { method: &'static str, limit: Duration },
    #[error("cannot read the daemon's answer to `{method}`: {source}")]
    Decode { method: &'static str, source: DecodeError },
    #[error("cannot send `{method}`: {source}")]
    Encode { method: &'static str, source: EncodeError },
}

impl CallError {
    /// The daemon's refusal, if the error is one.
    #[must_use]
    pub const fn daemon(&self) -> Option<&Error> {
        if let Self::Daemon(error) = self { Some(error) } else { None }
    }
}

/// Waits for a reply. Dropping it removes the entry of its id.
struct Waiting<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.forget(self.id);
    }
}

impl Client {
    /// Sends a request and waits for the reply, at most [`crate::Options::call_timeout`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Reply, CallError> {
        let method = M::NAME;
        let body = self.exchange(&M::request(params)).await?;
        M::reply(&body).map_err(|source| CallError::Decode { method, source })
    }

    /// The same for a request of any method.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn ask(&self, request: &Request) -> Result<Reply, CallError> {
        let body = self.exchange(request).await?;
        request.reply(&body).map_err(|source| CallError::Decode { method: request.name(), source })
    }

    /// Sends a request and waits for the body of its reply.
    async fn exchange(&self, request: &Request) -> Result<ReplyBody, CallError> {
        let (method, id) = (request.name(), self.next_id());
        let message = self.0.codec.encode_request(id, request);
        let message = message.map_err(|source| CallError::Encode { method, source })?;
        let limit = self.0.call_timeout;
        let shared = &*self.0.shared;
        let answer = shared.expect(id).map_err(CallError::Disconnected)?;
        let _waiting = Waiting { shared, id };
        let gone = || CallError::Disconnected(shared.disconnected().unwrap_or(Disconnect::Closed));
        let exchange = async {
            self.0.outbox.send(message).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())
        };
        match tokio::time::timeout(limit, exchange).await {
            Err(_) => Err(CallError::Timeout { method, limit }),
            Ok(Err(e)) => Err(e),
            Ok(Ok(reply)) => reply.map_err(CallError::Daemon),
        }
    }
}
