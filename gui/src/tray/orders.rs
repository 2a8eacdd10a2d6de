//! What the person chooses at the icon. Of several choices the newest counts, so a flood of them needs no
//! memory.

use crate::arguments::ShowRequest;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Takes choices; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Orders {
    wanted: watch::Sender<Option<(ShowRequest, Option<String>)>>,
    quit: watch::Sender<bool>,
    /// The token that the desktop has sent for the next choice.
    token: Arc<Mutex<Option<String>>>,
}

/// Gives them to the process.
#[derive(Debug)]
pub(super) struct Wishes {
    wanted: watch::Receiver<Option<(ShowRequest, Option<String>)>>,
    pub(super) quit: watch::Receiver<bool>,
}

pub(super) fn orders() -> (Orders, Wishes) {
    let ((wanted, wants), (quit, quits)) = (watch::channel(None), watch::channel(false));
    (Orders { wanted, quit, token: Arc::default() }, Wishes { wanted: wants, quit: quits })
}

impl Orders {
    pub(super) fn show(&self, wanted: ShowRequest) {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.wanted.send_replace(Some((wanted, token)));
    }

    pub(super) fn quit(&self) {
        self.quit.send_replace(true);
    }

    /// The next choice may raise a window by this token.
    pub(super) fn allow(&self, token: String) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }
}

impl Wishes {
    /// The newest choice, with the token that allows to raise a window; `None`: nothing can be chosen any
    /// more.
    pub(super) async fn next(&mut self) -> Option<(ShowRequest, Option<String>)> {
        loop {
            self.wanted.changed().await.ok()?;
            let newest = self.wanted.borrow_and_update().clone();
            if newest.is_some() {
                return newest;
            }
        }
    }
}
