//! A model behind real HTTP on the loopback that answers by script, and is as strict as the strictest provider.
//!
//! It speaks OpenAI Chat Completions and Anthropic Messages. Which turn of a script answers follows from the replies in the
//! request, so it does not matter how often the daemon died in between. Whatever a strict provider would refuse is refused with
//! a 400 and kept as a violation; a server that is dropped with violations that nobody took fails its test.

mod anthropic;
mod check;
mod exchange;
mod frames;
mod gate;
mod http;
mod openai;
mod recall;
mod requests;
mod script;
mod view;

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

    /// The base URL of its OpenAI side.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL of its Anthropic side.
    #[must_use]
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers the conversations whose first user message carries `[k:KEY]`.
    pub fn script(&self, key: &str, script: impl Into<Script>) {
        self.exchange.set_script(key, script.into());
    }

    /// Answers all conversations that have no script of their own.
    pub fn script_for_all(&self, script: impl Into<Script>) {
        self.exchange.set_script("", script.into());
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

    /// Waits until the requests of a conversation are as `is_so` says.
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

    /// What was refused so far, in words; a test that provoked it takes it.
    #[must_use]
    pub fn take_violations(&self) -> Vec<String> {
        self.exchange.take_violations()
    }

    /// # Panics
    /// A request was not as a strict provider wants it.
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
        // A second panic would hide the first.
        assert!(thread::panicking(), "{words}");
        eprintln!("{words}");
    }
}

async fn listen(listener: TcpListener, exchange: Arc<Exchange>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // Without this the kernel may join what the script wants apart.
        stream.set_nodelay(true).expect("a fresh stream takes options");
        connections.spawn(http::serve(TokioIo::new(stream), Arc::clone(&exchange)));
    }
}

#[cfg(test)]
mod tests;
