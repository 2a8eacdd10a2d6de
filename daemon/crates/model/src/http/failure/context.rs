//! Requests that are longer than a model's context, in the words of its server.

use super::complaint::Complaint;
use regex::Regex;
use std::sync::LazyLock;

const CODES: [&str; 8] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "model_context_window_exceeded",
    "context_window_exceeded",
    "contextwindowexceedederror",
    "model_max_prompt_tokens_exceeded",
    "tokens_limit_reached",
];

const WORDS: [&str; 58] = [
    "maximum context length",
    "max context length",
    "maximum context",
    "context length exceeded",
    "context length is only",
    "context length of only",
    "model's context length",
    "exceeds the context length",
    "exceeds context length",
    "exceed context length",
    "greater than the context length",
    "longer than the context length",
    "reached context length",
    "exceed context limit",
    "context limit exceeded",
    "context window",
    "contextwindowexceeded",
    "context size has been exceeded",
    "exceeds the available context size",
    "exceed the available context size",
    "exceeds context size",
    "when context the overflows",
    "n_keep",
    "prompt is too long",
    "prompt too long",
    "prompt is longer",
    "longer than the maximum model length",
    "maximum model length",
    "fit into the model",
    "exceeds max length",
    "exceeds maximum length",
    "exceeds the maximum length",
    "exceeds maximum input length",
    "exceeds the maximum input length",
    "greater than max_seq_len",
    "input is too long",
    "inputs is too long",
    "input too long",
    "input length exceeds",
    "range of input length should be",
    "maximum prompt length",
    "prompt token count",
    "input token count",
    "input tokens exceed",
    "too many input tokens",
    "too many tokens: ",
    "total number of tokens in the prompt",
    "exceeds the maximum number of tokens",
    "exceeds the maximum number of input tokens",
    "exceeds the maximum allowed input",
    "exceeded model token limit",
    "more than max tokens allowed",
    "too large for model with",
    "`inputs` tokens + `max_new_tokens`",
    "`inputs` must have less than",
    "reduce the length of the messages",
    "reduce the length of the input",
    "requested token count exceeds",
];

/// The tokens of the input, and those of the reply.
static COUNTS: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    let input = r"(\d+) (?:in (?:the messages|your prompt|the prompt)|of text input|(?:\w+ )?input tokens|tokens from the input|`inputs` tokens)|(\d+) \+ \d+ > \d+|> \d+ - (\d+)\)";
    let reply = r"(\d+) (?:in the (?:completion|output)|for the completion|output tokens|tokens for the completion|`max_new_tokens`)|\d+ \+ (\d+) > \d+|\((\d+) > \d+ - \d+\)";
    Some([Regex::new(input).ok()?, Regex::new(reply).ok()?])
});

/// The length of the reply that was asked for, by its usual names.
const REPLY_LENGTH: [&str; 4] =
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"];

impl Complaint {
    pub(super) fn is_about_context(&self, status: u16) -> bool {
        if matches!(status, 401..=404 | 429) || self.is_about_reply() {
            return false;
        }
        status == 413 || CODES.iter().any(|code| self.has(code)) || self.says(&WORDS) || self.leaves_no_room()
    }

    /// The reply that was asked for is too long, whatever the conversation.
    fn is_about_reply(&self) -> bool {
        match (self.count(0), self.count(1)) {
            (Some(input), Some(reply)) => reply > input,
            (Some(_), None) => false,
            (None, _) => self.says(&REPLY_LENGTH) && !self.leaves_no_room(),
        }
    }

    /// The server has subtracted the conversation from the context, and less than nothing is left.
    fn leaves_no_room(&self) -> bool {
        self.says(&["max_tokens must be at least 1, got -", "max_tokens must be at least 1, got 0"])
    }

    fn count(&self, of: usize) -> Option<u64> {
        let found = COUNTS.as_ref()?.get(of)?.captures(&self.text)?;
        found.iter().skip(1).flatten().find_map(|digits| digits.as_str().parse().ok())
    }
}
