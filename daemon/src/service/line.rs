//! One caller's requests, their replies, and its subscriptions. Requests are handled in order; a slow one
//! (one that asks a provider, or waits for room on a full disk) does not block those after it.

use super::{
    Caller, Service, handlers,
    request_error::RequestError,
    subscription::{Subscription, Subscriptions},
};
use crate::{
    events::{Focus, Outbox},
    http::Door,
};
use abide_protocol::{
    Error, ErrorKind,
    limits::{MAX_REQUESTS, MAX_URGENT_REQUESTS},
    method::{
        Priority, Reply, Request,
        conversation::{FocusParams, FocusReply},
        http::{ServeHttpParams, ServeHttpReply},
        subscription::{SubscribeParams, SubscribeReply, UnsubscribeReply},
    },
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long a request may block those after it.
const INLINE_TIME: Duration = Duration::from_millis(100);

/// The state of a connected caller.
pub struct Line {
    service: Service,
    caller: Caller,
    outbox: Outbox,
    /// Cancels this line's requests and subscriptions.
    closing: CancellationToken,
    /// Cancelled when nobody is there any more for whom tasks could be held or started.
    gone: CancellationToken,
    subscriptions: Mutex<Subscriptions>,
    focus: Mutex<Option<Focus>>,
    /// The doors of the HTTP interface that are open as long as this line is.
    doors: Mutex<Vec<Door>>,
    /// Requests without a reply so far.
    pending: TaskTracker,
}

impl Line {
    #[must_use]
    pub fn open(service: Service, caller: Caller) -> Arc<Self> {
        tracing::debug!(via = ?caller.via, name = ?caller.name, "a caller has connected");
        service.updates.look();
        Arc::new(Self {
            service,
            caller,
            outbox: Outbox::default(),
            closing: CancellationToken::new(),
            gone: CancellationToken::new(),
            subscriptions: Mutex::default(),
            focus: Mutex::default(),
            doors: Mutex::default(),
            pending: TaskTracker::new(),
        })
    }

    /// The notifications of this line's subscriptions. A transport with a single stream puts its replies in
    /// as well.
    #[must_use]
    pub const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The transport cancels this when its peer is gone.
    #[must_use]
    pub const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// The caller has gone without waiting for its replies. What it asked for is done all the same, but no
    /// task is held for it, and a start that is not committed yet is withdrawn.
    pub fn caller_has_gone(&self) {
        self.gone.cancel();
    }

    /// Carries out a request and passes its reply to `deliver`. Runs inline for 100 ms, then in a spawned
    /// task.
    pub async fn request(
        self: &Arc<Self>,
        request: Request,
        deliver: impl FnOnce(Result<Reply, Error>) + Send + 'static,
    ) {
        if let Err(refusal) = self.caller.allowed(&request).and_then(|()| self.check_capacity(&request)) {
            return deliver(Err(refusal));
        }
        let mut work = Box::pin(self.pending.track_future(self.clone().carry_out(request, deliver)));
        if tokio::time::timeout(INLINE_TIME, &mut work).await.is_err() {
            let closing = self.closing.clone();
            self.service.supervisor.spawn("request", async move {
                closing.run_until_cancelled(work).await;
            });
        }
    }

    fn check_capacity(&self, request: &Request) -> Result<(), Error> {
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

    /// Carries out requests about the line itself; a handler carries out all others.
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
            Request::Focus(params) => Ok(Reply::Focus(self.set_focus(params))),
            Request::ServeHttp(params) => {
                self.serve_http(&params).map(Reply::ServeHttp).map_err(RequestError::from)
            }
            Request::Shutdown(params) => {
                // The daemon closes connections once `drained` has no receiver; this one lives until the
                // reply is delivered.
                let mut drained = service.drained.subscribe();
                let reply = handlers::daemon::shut_down(service, &params, &mut drained).await;
                return deliver(reply.map(Reply::Shutdown).map_err(Error::from));
            }
            request @ Request::UpdateDaemon(_) => tokio::select! {
                reply = handlers::handle(service, &self.caller, request, &self.gone) => reply,
                () = self.gone.cancelled() => return,
            },
            request => handlers::handle(service, &self.caller, request, &self.gone).await,
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

    /// Sets what this caller's person looks at, until the next call or the line's end.
    fn set_focus(&self, shown: FocusParams) -> FocusReply {
        match &mut *self.focus.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(focus) => focus.set(shown),
            none => *none = Some(self.service.hub.focus(shown)),
        }
        FocusReply { conversation_id: shown.conversation_id, inbox: shown.inbox }
    }

    /// Opens the HTTP interface, for as long as this line is there unless it shall outlast it.
    fn serve_http(&self, params: &ServeHttpParams) -> Result<ServeHttpReply, Error> {
        let doors = self.service.http.open(&self.service, params)?;
        let urls = doors.iter().map(|door| door.url().to_owned()).collect();
        match params.detach {
            true => doors.into_iter().for_each(Door::detach),
            false => self.doors.lock().unwrap_or_else(PoisonError::into_inner).extend(doors),
        }
        Ok(ServeHttpReply { urls })
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when no more requests come. Returns when all of them have their replies.
    pub async fn end(&self) {
        self.pending.close();
        tokio::select! {
            () = self.pending.wait() => {}
            () = self.service.supervisor.ending() => {}
        }
        drop(self.focus.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.doors.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
