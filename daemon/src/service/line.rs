//! One caller's requests in order, their replies, and its subscriptions. What takes long (asking providers, waiting for room on a full
//! disk) does not hold up the rest.

use super::{
    Caller, Service, handlers,
    request_error::RequestError,
    subscription::{Subscription, Subscriptions},
};
use crate::events::{Focus, Outbox};
use abide_protocol::{
    Error, ErrorKind,
    limits::{MAX_REQUESTS, MAX_URGENT_REQUESTS},
    method::{
        Priority, Reply, Request,
        conversation::{FocusParams, FocusReply},
        subscription::{SubscribeParams, SubscribeReply, UnsubscribeReply},
    },
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long a request holds up those after it.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a caller has while it is connected.
pub struct Line {
    service: Service,
    caller: Caller,
    outbox: Outbox,
    /// Ends the tasks of this line: requests and subscriptions.
    closing: CancellationToken,
    subscriptions: Mutex<Subscriptions>,
    focus: Mutex<Option<Focus>>,
    /// Requests that have no reply yet.
    pending: TaskTracker,
}

impl Line {
    #[must_use]
    pub fn open(service: Service, caller: Caller) -> Arc<Self> {
        tracing::debug!(via = ?caller.via, name = ?caller.name, "a caller has come");
        Arc::new(Self {
            service,
            caller,
            outbox: Outbox::default(),
            closing: CancellationToken::new(),
            subscriptions: Mutex::default(),
            focus: Mutex::default(),
            pending: TaskTracker::new(),
        })
    }

    /// The notifications of this line's subscriptions. A face that has one order for everything puts its replies in, too.
    #[must_use]
    pub const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Cancelled by the face when its peer is gone: nothing goes on for it.
    #[must_use]
    pub const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Carries out a request and gives its reply to `deliver`. Returns with the reply, or when the request has taken so long that those
    /// after it are not to wait.
    pub async fn request(
        self: &Arc<Self>,
        request: Request,
        deliver: impl FnOnce(Result<Reply, Error>) + Send + 'static,
    ) {
        if let Err(refusal) = self.caller.allowed(&request).and_then(|()| self.has_room(&request)) {
            return deliver(Err(refusal));
        }
        let mut work = Box::pin(self.pending.track_future(self.clone().carry_out(request, deliver)));
        if tokio::time::timeout(PATIENCE, &mut work).await.is_err() {
            let closing = self.closing.clone();
            self.service.supervisor.spawn("request", async move {
                closing.run_until_cancelled(work).await;
            });
        }
    }

    fn has_room(&self, request: &Request) -> Result<(), Error> {
        let most = match request.priority() {
            Priority::Ordinary => MAX_REQUESTS,
            Priority::Urgent => MAX_URGENT_REQUESTS,
        };
        if self.pending.len() < most {
            return Ok(());
        }
        let words = format!("{most} requests of this connection are under way; wait for one");
        Err(Error::new(ErrorKind::Overloaded, words))
    }

    /// Requests about the line itself are carried out here, all others by their handler.
    async fn carry_out(self: Arc<Self>, request: Request, deliver: impl FnOnce(Result<Reply, Error>) + Send) {
        let service = &self.service;
        let reply = match request {
            Request::Subscribe(params) => match self.subscribe(params).await {
                Ok((reply, subscription)) => {
                    deliver(Ok(Reply::Subscribe(reply)));
                    return self.follow(subscription);
                }
                Err(error) => Err(error),
            },
            Request::Unsubscribe(params) => {
                let was_subscribed = self.subscriptions().end(params.subscription_id);
                Ok(Reply::Unsubscribe(UnsubscribeReply { was_subscribed }))
            }
            Request::Focus(params) => Ok(Reply::Focus(self.look_at(params))),
            Request::Shutdown(params) => {
                // The daemon closes connections when nobody listens here any more: not before the reply is delivered.
                let mut drained = service.drained.subscribe();
                let reply = handlers::daemon::shut_down(service, &params, &mut drained).await;
                return deliver(reply.map(Reply::Shutdown).map_err(Error::from));
            }
            request => handlers::handle(service, &self.caller, request).await,
        };
        deliver(reply.map_err(Error::from));
    }

    async fn subscribe(
        &self,
        params: SubscribeParams,
    ) -> Result<(SubscribeReply, Subscription), RequestError> {
        let (id, ended) = self.subscriptions().begin(&self.closing)?;
        match Subscription::open(&self.service, &self.outbox, id, ended, params).await {
            Ok((subscription, snapshot)) => {
                Ok((SubscribeReply { subscription_id: id, snapshot }, subscription))
            }
            Err(error) => {
                self.subscriptions().end(id);
                Err(error)
            }
        }
    }

    fn follow(&self, subscription: Subscription) {
        let (store, outbox) = (self.service.store.clone(), self.outbox.clone());
        self.service.supervisor.spawn("subscription", subscription.follow(store, outbox));
    }

    /// What this caller's person looks at, until it says otherwise or the line ends.
    fn look_at(&self, FocusParams { conversation_id }: FocusParams) -> FocusReply {
        let focus = conversation_id.map(|id| self.service.hub.focus(id));
        *self.focus.lock().unwrap_or_else(PoisonError::into_inner) = focus;
        FocusReply { conversation_id }
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No request comes any more. Returns when those under way have their replies.
    pub async fn end(&self) {
        self.pending.close();
        tokio::select! {
            () = self.pending.wait() => {}
            () = self.service.supervisor.ending() => {}
        }
        drop(self.focus.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
