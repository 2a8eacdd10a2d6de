//! Replies that the server has not given itself: of a history that is older than the server, or imported.

use super::{ModelServer, Turn, openai};

impl ModelServer {
    /// The first `replies` of the conversation's script count as given over the OpenAI API, each at its first
    /// attempt.
    pub fn has_given(&self, key: &str, replies: usize) {
        self.exchange.recall(key, replies, openai::parts);
    }

    /// The conversation's requests begin with these replies of another conversation. The script's replies are
    /// counted after them.
    pub fn imports(&self, key: &str, replies: impl Into<Vec<Turn>>) {
        self.exchange.import(key, replies.into());
    }
}
