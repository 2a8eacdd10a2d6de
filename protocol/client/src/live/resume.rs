use super::{LiveError, LiveOptions, Update};
use crate::{Client, Connector, Disconnect, Notifications};
use abide_protocol::{
    Seq,
    method::{
        Subscribe,
        subscription::{Scope, SubscribeParams},
    },
    notification::{Notification, Snapshot},
};
use std::time::Duration;
use tokio::{sync::mpsc, time::Instant};

/// A subscription on one connection.
pub(super) struct Session {
    client: Client,
    notifications: Notifications,
    snapshot: Box<Snapshot>,
}

/// Reconnects and subscribes again whenever the connection ends.
pub(super) struct Resume<C> {
    connector: C,
    scope: Scope,
    /// The last record that was handed out, or the `seq` of the first snapshot.
    cursor: Option<Seq>,
    options: LiveOptions,
}

/// How a session ended.
struct End {
    reason: String,
    /// A notification came, so the next attempt to connect is made without a wait.
    got_a_notification: bool,
}

/// Nobody reads the updates any more.
struct Gone;

impl<C: Connector> Resume<C> {
    pub(super) const fn new(connector: C, scope: Scope, since: Option<Seq>, options: LiveOptions) -> Self {
        Self { connector, scope, cursor: since, options }
    }

    pub(super) async fn subscribe(&mut self) -> Result<Session, LiveError> {
        let client = self.connector.connect().await?;
        let notifications = client.notifications();
        // The overview has no records, so there is no cursor to resume from.
        let since = self.cursor.filter(|_| self.scope != Scope::Overview);
        let reply = client.call::<Subscribe>(SubscribeParams { scope: self.scope, since }).await?;
        let mut snapshot = Box::new(reply.snapshot);
        self.connector.heard(snapshot.daemon);
        // The daemon's own seq is ignored: everything after `since` is still to come.
        snapshot.seq = since.unwrap_or(snapshot.seq);
        self.cursor = Some(snapshot.seq);
        Ok(Session { client, notifications, snapshot })
    }

    pub(super) async fn run(mut self, first: Option<Session>, updates: mpsc::Sender<Update>) {
        // The error means that nobody reads the updates.
        let _ = self.drive(first, &updates).await;
    }

    async fn drive(&mut self, first: Option<Session>, updates: &mpsc::Sender<Update>) -> Result<(), Gone> {
        let mut session = first;
        let mut is_first = true;
        let mut wait = Duration::ZERO;
        let mut lost = Instant::now();
        let mut failures = 0_u32;
        let mut reported = None;
        loop {
            let reason = match session.take() {
                Some(Session { client, mut notifications, snapshot }) => {
                    let opening =
                        if is_first { Update::Snapshot(snapshot) } else { Update::Reconnected(snapshot) };
                    is_first = false;
                    (reported, failures) = (None, 0);
                    hand_out(updates, opening).await?;
                    let end = self.forward(&client, &mut notifications, updates).await?;
                    if end.got_a_notification {
                        wait = Duration::ZERO;
                    }
                    lost = Instant::now();
                    end.reason
                }
                None => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).max(self.options.first_wait).min(self.options.longest_wait);
                    match self.subscribe().await {
                        Ok(next) => {
                            session = Some(next);
                            continue;
                        }
                        Err(e) if e.is_transient() => {
                            failures = failures.saturating_add(1);
                            e.to_string()
                        }
                        Err(e) => return hand_out(updates, Update::Ended { reason: e.to_string() }).await,
                    }
                }
            };
            let patience = self.options.patience;
            let is_due = patience.is_zero() || failures > 1 && lost.elapsed() >= patience;
            // Each reason is reported once, not at each attempt.
            if is_due && reported.as_ref() != Some(&reason) {
                reported = Some(reason.clone());
                hand_out(updates, Update::Disconnected { reason }).await?;
            }
        }
    }

    /// Hands out notifications until the connection ends; returns why.
    async fn forward(
        &mut self,
        client: &Client,
        notifications: &mut Notifications,
        updates: &mpsc::Sender<Update>,
    ) -> Result<End, Gone> {
        let mut got_a_notification = false;
        while let Some(notification) = notifications.next().await {
            let seq = match &notification {
                // The cursor is the place to resume from: all before it was handed out, and it is
                // `resumeFrom` or later.
                Notification::Lagged(_) => {
                    return Ok(End { reason: "this client read too slowly".to_owned(), got_a_notification });
                }
                Notification::TaskMessage(message) => Some(message.seq),
                Notification::TaskEvent(event) => Some(event.seq),
                Notification::DaemonUpdate(daemon) => {
                    self.connector.heard(*daemon);
                    None
                }
                _ => None,
            };
            got_a_notification = true;
            if let Some(seq) = seq {
                if self.cursor.is_some_and(|cursor| seq <= cursor) {
                    continue;
                }
                self.cursor = Some(seq);
            }
            hand_out(updates, Update::Notification(notification)).await?;
        }
        let reason = client.disconnected().unwrap_or(Disconnect::Closed).to_string();
        Ok(End { reason, got_a_notification })
    }
}

async fn hand_out(updates: &mpsc::Sender<Update>, update: Update) -> Result<(), Gone> {
    updates.send(update).await.map_err(|_| Gone)
}
