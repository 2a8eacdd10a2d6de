//! The HTTP interface: requests become requests of a [`Line`](crate::service::Line), as on the local socket.
//! It has no state of its own but its doors and the tokens of devices, and while nobody has opened it there
//! is neither a listener nor a task.

mod agent;
mod answer;
mod cursor;
mod door;
mod narration;
mod outward;
mod overview;
mod page;
mod refusal;
mod route;
mod session;
mod socket;
mod source;
mod stream;
mod tokens;
mod voice;

pub use door::{Door, Kept};
pub(crate) use source::is_authority;

use crate::service::{Connections, Service};
use abide_protocol::{
    Error,
    method::http::{AddTokenReply, HttpStatus, ServeHttpParams, TokenAccess, TokenInfo},
};
use door::{Doors, Owner};
use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokens::Tokens;
use tokio::time::Instant;

/// Wrong tokens that are answered as such in [`GUESSING_TIME`].
const MAX_GUESSES: usize = 10;
const GUESSING_TIME: Duration = Duration::from_secs(60);

/// What the service keeps for the interface. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Http {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    tokens: Tokens,
    doors: Doors,
    connections: Connections,
    /// When wrong tokens were tried.
    guesses: Mutex<VecDeque<Instant>>,
    /// Why it does not listen where it should, by address.
    failed: Mutex<BTreeMap<String, String>>,
}

impl Http {
    /// With the tokens in this file.
    #[must_use]
    pub fn new(token_file: PathBuf) -> Self {
        Self {
            inner: Arc::new(Inner {
                tokens: Tokens::at(token_file),
                doors: Doors::default(),
                connections: Connections::default(),
                guesses: Mutex::default(),
                failed: Mutex::default(),
            }),
        }
    }

    /// Listens at all of the addresses until the returned doors are dropped or closed.
    ///
    /// # Errors
    /// One of them is no address, or cannot be listened on. Then none is.
    pub(crate) fn open(&self, service: &Service, params: &ServeHttpParams) -> Result<Vec<Door>, Error> {
        let doors = self.inner.doors.open(service, params)?;
        self.failed().retain(|url, _| !self.inner.doors.has(url));
        Ok(doors)
    }

    /// Closes all doors. Returns where they were.
    pub(crate) fn close(&self) -> Vec<String> {
        self.failed().clear();
        self.inner.doors.close_all()
    }

    /// The detached doors, for the program that takes this one's place.
    pub(crate) fn kept(&self) -> Kept {
        self.inner.doors.kept()
    }

    /// Listens where the configuration says, and where the program before this one was left open. Each
    /// address is opened by itself: one that fails takes no other with it.
    pub(crate) async fn start(&self, service: &Service, kept: Kept) {
        let config = service.settings.now().await.config().http.clone();
        for url in config.listen {
            self.start_at(service, url, config.plain, Owner::Configured);
        }
        for url in kept.0.into_iter().filter(|url| !self.inner.doors.has(url)) {
            // It was allowed when it was opened.
            self.start_at(service, url, true, Owner::Detached);
        }
    }

    fn start_at(&self, service: &Service, url: String, plain: bool, owner: Owner) {
        match self.open(service, &ServeHttpParams { urls: vec![url.clone()], plain, detach: true }) {
            Ok(doors) => doors.into_iter().for_each(|door| door.belongs_to(owner)),
            Err(error) => {
                tracing::error!(url, "the HTTP interface is not open there: {error}");
                self.failed().insert(url, error.message);
            }
        }
    }

    fn failed(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.inner.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn status(&self) -> HttpStatus {
        let (urls, plain) = self.inner.doors.urls();
        let failed: Vec<_> = self.failed().values().cloned().chain(self.inner.tokens.fault()).collect();
        HttpStatus { urls, plain, failed: (!failed.is_empty()).then(|| failed.join("; ")) }
    }

    pub(crate) fn add_token(&self, name: String, access: TokenAccess) -> Result<AddTokenReply, Error> {
        self.inner.tokens.add(name, access)
    }

    pub(crate) fn tokens(&self) -> Result<Vec<TokenInfo>, Error> {
        self.inner.tokens.list()
    }

    pub(crate) fn revoke_token(&self, name: &str) -> Result<TokenInfo, Error> {
        self.inner.tokens.revoke(name)
    }

    /// What is wrong with the file of tokens.
    pub(crate) fn token_fault(&self) -> Option<String> {
        self.tokens().err().map(|error| error.message)
    }

    /// Notes a wrong token. `false`: there were too many.
    fn may_guess(&self, now: Instant) -> bool {
        let mut guesses = self.inner.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        while guesses.front().is_some_and(|first| now.duration_since(*first) >= GUESSING_TIME) {
            guesses.pop_front();
        }
        let may = guesses.len() < MAX_GUESSES;
        if may {
            guesses.push_back(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_wrong_tokens_a_minute_are_answered() {
        let http = Http::new(PathBuf::new());
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert!((0..10).all(|n| http.may_guess(at(n))));
        assert!(!http.may_guess(at(10)) && !http.may_guess(at(59)));
        // The first is a minute old, the second is not.
        assert!(http.may_guess(at(60)) && !http.may_guess(at(60)));
    }
}
