//! For a daemon whose history is older than the server: replies that count as given before.

use super::{ModelServer, openai};

impl ModelServer {
    /// The first `replies` of the conversation's script count as given over the OpenAI API, each at its first attempt.
    pub fn has_given(&self, key: &str, replies: usize) {
        self.exchange.recall(key, replies, openai::parts);
    }
}
