//! A model server on the loopback that replies by script and is as strict as the strictest provider.
//!
//! It speaks OpenAI Chat Completions, OpenAI Responses and Anthropic Messages. The number of replies in the
//! request determines the turn of the script, so crashes of the daemon do not matter. A request that a strict
//! provider would refuse gets a 400 and is kept as a violation. Dropping a server whose violations were not
//! taken fails its test.

mod anthropic;
mod check;
mod embeddings;
mod exchange;
mod frames;
mod gate;
mod http;
mod openai;
mod recall;
mod requests;
mod responses;
mod script;
mod view;

pub use embeddings::Embeddings;
pub use gate::Gate;
pub use requests::{Outcome, Seen};
pub use script::{Fault, Script, Turn};

use crate::wait;
use exchange::Exchange;
use hyper_util::rt::TokioIo;
use std::{net::SocketAddr, sync::Arc, thread};
use tokio::{net::TcpListener, task::JoinSet};

/// The one model that the server has.
pub const MODEL: &str = "scripted-1";

/// The server; it ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    exchange: Arc<Exchange>,
    _tasks: JoinSet<()>,
}

impl ModelServer {
    /// Listens on a free port of the loopback.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port of the loopback");
        let address = listener.local_addr().expect("a bound listener has an address");
        let exchange = Arc::new(Exchange::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(listener, Arc::clone(&exchange)));
        Self { address, exchange, _tasks: tasks }
    }

    /// The base URL of its OpenAI side, for both of OpenAI's APIs.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How it answers requests for embeddings from now on.
    pub fn embeds(&self, embeddings: Embeddings) {
        self.exchange.embeds(embeddings);
    }

    /// The base URL of its Anthropic side.
    #[must_use]
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the script of conversations whose first marker in a user's message is `[k:KEY]`.
    pub fn script(&self, key: &str, script: impl Into<Script>) {
        self.exchange.set_script(key, script.into());
    }

    /// Sets the script of all conversations that have none of their own.
    pub fn script_for_all(&self, script: impl Into<Script>) {
        self.exchange.set_script("", script.into());
    }

    /// Requests without this API key are refused with a 401.
    pub fn require_key(&self, key: &str) {
        self.exchange.require_key(key);
    }

    /// The requests of a conversation so far.
    #[must_use]
    pub fn requests(&self, key: &str) -> Vec<Seen> {
        self.exchange.seen(|all| all.iter().filter(|r| r.key == key).cloned().collect())
    }

    /// The last request of a conversation.
    #[must_use]
    pub fn last_request(&self, key: &str) -> Option<Seen> {
        self.exchange.seen(|all| all.iter().rfind(|r| r.key == key).cloned())
    }

    /// Waits until the requests of a conversation satisfy `is_so`.
    ///
    /// # Panics
    /// They do not become so in time.
    pub async fn wait_for_requests(
        &self,
        what: &str,
        key: &str,
        is_so: impl Fn(&[Seen]) -> bool,
    ) -> Vec<Seen> {
        let mut changes = self.exchange.changes();
        wait::within(what, async {
            loop {
                changes.borrow_and_update();
                let requests = self.requests(key);
                if is_so(&requests) {
                    return requests;
                }
                changes.changed().await.expect("the server outlives its tests");
            }
        })
        .await
    }

    /// Takes the violations so far; for tests that provoke them.
    #[must_use]
    pub fn take_violations(&self) -> Vec<String> {
        self.exchange.take_violations()
    }

    /// # Panics
    /// A request violated a strict provider's rules.
    pub fn assert_no_violations(&self) {
        let violations = self.take_violations();
        assert!(violations.is_empty(), "a strict provider would have refused:\n{}", violations.join("\n"));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let violations = self.take_violations();
        if violations.is_empty() {
            return;
        }
        let words = format!("a strict provider would have refused:\n{}", violations.join("\n"));
        // A second panic would abort and hide the first.
        assert!(thread::panicking(), "{words}");
        eprintln!("{words}");
    }
}

async fn listen(listener: TcpListener, exchange: Arc<Exchange>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Without this the kernel may join pieces that the script keeps apart.
        stream.set_nodelay(true).expect("a fresh stream takes options");
        connections.spawn(http::serve(TokioIo::new(stream), Arc::clone(&exchange)));
    }
}

#[cfg(test)]
mod tests;
