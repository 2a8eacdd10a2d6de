//! Carries out what a person presses in a notification: as a caller of the daemon's service, or by bringing
//! the window.

use super::{
    popup::{Act, WindowPage},
    window,
};
use crate::service::{Caller, Line, Service};
use abide_protocol::{
    Error, ErrorKind,
    method::{
        Access, Reply, Request,
        inbox::{DecideApprovalParams, UserResponseParams},
    },
    record::Via,
};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

/// The most windows that are being opened at a time.
const WINDOWS: usize = 2;

/// Something to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order<H> {
    /// The notification whose action it is.
    pub shown: H,
    pub act: Act,
    /// Lets the window come to the front.
    pub token: Option<String>,
    /// The notification server's name, for the record.
    pub server: String,
}

/// Something to say in place of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note<H> {
    pub shown: H,
    pub summary: &'static str,
    pub body: String,
}

impl<H> Note<H> {
    pub(super) fn busy(shown: H) -> Self {
        let body = "Abide is busy; it is still in the inbox.".to_owned();
        Self { shown, summary: "Not answered", body }
    }

    /// What there is to say about a reply; `None`: it was the first, and the notification is closed.
    fn about(shown: H, reply: Result<Reply, Error>) -> Option<Self> {
        let (summary, body) = match reply {
            Ok(Reply::DecideApproval(reply)) if !reply.won => {
                let what = if reply.decision.allows() { "allowed" } else { "rejected" };
                ("Already decided", format!("It was {what} before."))
            }
            Ok(Reply::UserResponse(reply)) if !reply.won => {
                let said = reply.response.map(|said| format!("The answer was: {said}"));
                ("Already answered", said.unwrap_or_else(|| "It was declined before.".to_owned()))
            }
            Ok(_) => return None,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ("Gone", "Its conversation was deleted.".to_owned())
            }
            Err(error) if error.kind() == ErrorKind::IllegalState => ("No longer open", error.message),
            Err(error) => ("Not answered", format!("{}; it is still in the inbox", error.message)),
        };
        Some(Self { shown, summary, body })
    }
}

/// What carries out orders.
pub struct Actions {
    service: Service,
    windows: Arc<Semaphore>,
}

impl Actions {
    #[must_use]
    pub fn new(service: Service) -> Self {
        Self { service, windows: Arc::new(Semaphore::new(WINDOWS)) }
    }

    /// Runs until all senders of orders are dropped.
    pub async fn run<H: Send + 'static>(
        self,
        mut orders: mpsc::Receiver<Order<H>>,
        notes: mpsc::Sender<Note<H>>,
    ) {
        while let Some(order) = orders.recv().await {
            self.carry_out(order, notes.clone()).await;
        }
    }

    async fn carry_out<H: Send + 'static>(&self, order: Order<H>, notes: mpsc::Sender<Note<H>>) {
        let Order { shown, act, token, server } = order;
        let request = match act {
            Act::Open(place) => return self.open(place, token, shown, notes),
            Act::Decide { approval, decision } => Request::DecideApproval(DecideApprovalParams {
                approval_id: approval.to_string(),
                decision,
                note: None,
                rule: None,
            }),
            Act::Answer { task, question, response } => Request::UserResponse(UserResponseParams {
                task_id: task.to_string(),
                question_id: Some(question.to_string()),
                response: Some(response),
            }),
        };
        let caller = Caller { via: Via::Notification, name: server, may: Access::Act };
        let say = move |reply| {
            if let Some(note) = Note::about(shown, reply) {
                // Dropped if many wait: the inbox says it too.
                let _ = notes.try_send(note);
            }
        };
        Line::open(self.service.clone(), caller).request(request, say).await;
    }

    fn open<H: Send + 'static>(
        &self,
        place: WindowPage,
        token: Option<String>,
        shown: H,
        notes: mpsc::Sender<Note<H>>,
    ) {
        let Ok(permit) = self.windows.clone().try_acquire_owned() else { return };
        let home = Arc::clone(&self.service.home);
        self.service.supervisor.spawn("open the window", async move {
            if let Err(error) = window::open(&home, place, token.as_deref()).await {
                tracing::warn!("the window was not opened: {error}");
                let note = Note { shown, summary: "The window was not opened", body: error.to_string() };
                let _ = notes.try_send(note);
            }
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests;
