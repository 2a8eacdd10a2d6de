//! Replies that were given before this server was there: to a daemon whose history is older than the test.

use super::{ModelServer, openai};

impl ModelServer {
    /// The first `replies` of the conversation's script count as given, over the OpenAI side, each at its first attempt.
    pub fn has_given(&self, key: &str, replies: usize) {
        self.exchange.recall(key, replies, openai::parts);
    }
}
