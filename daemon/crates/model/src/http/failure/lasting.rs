//! Errors that a server calls its own, and that come back whenever the same request is sent.

use super::complaint::Complaint;

/// Why a server can never work on the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasting {
    Tools,
    Template,
    Thinking,
    Images,
    Memory,
}

/// A runner that has crashed is started again.
const PASSING: [&str; 2] = ["unexpectedly stopped", "model is loading"];

const WORDS: [(Lasting, &[&str]); 5] = [
    (
        Lasting::Tools,
        &[
            "does not support tool",
            "do not support tool",
            "doesn't support tool",
            "not support function call",
            "support tool use",
            "tools are not supported",
            "tools is not supported",
            "tool use is not supported",
            "tool calling is not supported",
            "function calling is not",
            "tools param requires",
            "auto-tool-choice",
            "tool-call-parser",
            "parse tool call",
            "parsing tool call",
            "tool call parsing",
        ],
    ),
    (
        Lasting::Thinking,
        &["does not support thinking", "thinking is not supported", "does not support reasoning"],
    ),
    (
        Lasting::Images,
        &[
            "does not support image",
            "support image input",
            "image input is not supported",
            "images are not supported",
            "does not support vision",
            "not a multimodal model",
            "mmproj",
        ],
    ),
    (
        Lasting::Memory,
        &[
            "more system memory",
            "out of memory",
            "outofmemory",
            "failed to allocate",
            "unable to allocate",
            "insufficient memory",
            "not enough memory",
            "insufficient system resources",
            "model failed to load",
            "failed to load model",
            "unable to load model",
            "error loading model",
        ],
    ),
    (
        Lasting::Template,
        &[
            "roles must alternate",
            "no user query found",
            "jinja",
            "template error",
            "chat template",
            "chat_template",
            "rendering prompt",
            "raise_exception",
            "must be at the beginning",
            "only user and assistant roles",
            "system role not supported",
        ],
    ),
];

impl Complaint {
    /// `None`: another request, or the same one later, may succeed.
    pub(super) fn lasting(&self) -> Option<Lasting> {
        let found = WORDS.iter().find(|(_, words)| self.says(words)).map(|&(lasting, _)| lasting);
        found.filter(|_| !self.says(&PASSING))
    }
}

impl Lasting {
    /// What a person can do.
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::Tools => {
                "it is asked without tools with `--mode chat` or `--tools none`; with tools take another model"
            }
            Self::Template => {
                "its chat template does not take such a conversation: give the server another template, take another model, or ask it \
                 without tools (`--mode chat` or `--tools none`)"
            }
            Self::Thinking => "take another model, or ask this one without a level of thought",
            Self::Images => "take a model that can see images",
            Self::Memory => "take a smaller model or a smaller context, or free memory on the server",
        }
    }
}
