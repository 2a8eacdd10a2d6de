//! Desktop notifications of what no window shows, and answers from them. The daemon sends them, because it
//! runs when no client does. Nothing depends on them: questions and approvals wait in the inbox.
//!
//! A [`Feed`] says what commits mean; the [`Notifier`] keeps what should be on the screen (`board`), brings
//! the screen there step by step, and hears what a person presses; the [`Actions`] carry that out, as a
//! caller of the daemon's service like any other.

mod actions;
mod board;
mod desktop;
mod feed;
mod item;
mod notifier;
mod popup;
mod quiet;
mod step;
mod window;
mod words;

pub use actions::{Actions, Note, Order};
pub use board::Entry;
pub use desktop::{Desktop, Heard, Screen, Server, SystemDesktop};
pub use feed::{Change, Feed, News, Over};
pub use item::{Answers, Asks, Decide, End, Item};
pub use notifier::Notifier;
pub use popup::{Abilities, Act, Button, Popup, WindowPage};
pub use quiet::{Quiet, QuietError};

use std::time::Duration;
use tokio::{sync::mpsc, time::timeout};

/// The most waiting changes. When there are more, the notifier reads the inbox.
pub const QUEUE: usize = 64;
/// The most orders, and the most notes, that wait.
const ORDERS: usize = 16;
/// How long it may take to find the notification server.
const SERVER_TIME: Duration = Duration::from_secs(5);

/// What may be shown of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Show,
    /// These are quiet hours.
    Hold,
    /// Notifications are off, or those of this conversation.
    Drop,
}

/// The notifier's end of the channels to the [`Actions`].
pub type ToHands<H> = (mpsc::Sender<Order<H>>, mpsc::Receiver<Note<H>>);
/// The actions' end.
pub type OfHands<H> = (mpsc::Receiver<Order<H>>, mpsc::Sender<Note<H>>);

/// The channels between a notifier and its actions.
#[must_use]
pub fn channels<H>() -> (ToHands<H>, OfHands<H>) {
    let (orders, ordered) = mpsc::channel(ORDERS);
    let (notes, noted) = mpsc::channel(ORDERS);
    ((orders, noted), (ordered, notes))
}

async fn within<T>(answer: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    timeout(SERVER_TIME, answer).await.unwrap_or_else(|_| Err("it does not answer".to_owned()))
}

#[cfg(test)]
mod tests;
