//! What is being done at the screen: one thing at a time, for as long as the server takes.

use super::{
    board::CardId,
    desktop::{Desktop, Screen},
    popup::Popup,
};
use futures_util::future::BoxFuture;

/// The handle of a desktop's notifications.
pub(super) type HandleOf<D> = <<D as Desktop>::Screen as Screen>::Handle;

/// What is being done.
pub(super) enum Step<D: Desktop> {
    Nothing,
    Connecting(BoxFuture<'static, Result<D::Screen, String>>),
    Showing { card: CardId, popup: Popup, shown: BoxFuture<'static, Result<HandleOf<D>, String>> },
    Saying(BoxFuture<'static, Result<HandleOf<D>, String>>),
    Closing(BoxFuture<'static, ()>),
}

/// What has been done.
pub(super) enum Done<D: Desktop> {
    Connected(Result<D::Screen, String>),
    Showed { card: CardId, popup: Popup, shown: Result<HandleOf<D>, String> },
    Said(Result<HandleOf<D>, String>),
    Closed,
}

impl<D: Desktop> Step<D> {
    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The end of the step, after which nothing is being done. Never if nothing is. Safe to cancel.
    pub(super) async fn done(&mut self) -> Done<D> {
        let done = match self {
            Self::Nothing => std::future::pending().await,
            Self::Connecting(screen) => Done::Connected(screen.await),
            Self::Showing { card, popup, shown } => {
                let shown = shown.await;
                Done::Showed { card: *card, popup: popup.clone(), shown }
            }
            Self::Saying(said) => Done::Said(said.await),
            Self::Closing(closed) => {
                closed.await;
                Done::Closed
            }
        };
        *self = Self::Nothing;
        done
    }
}
