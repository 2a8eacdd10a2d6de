//! Replies that end because the model can read no more: some servers say so with a success, in the reply's
//! stop reason.

use crate::assembly::Fault;
use abide_protocol::transcript::Block;

/// Stop reasons that mean it.
const REASONS: [&str; 5] = [
    "model_context_window_exceeded",
    "context_window_exceeded",
    "context_length_exceeded",
    "max_context_length",
    "context_overflow",
];

pub(crate) fn is_overflow(stop_reason: &str) -> bool {
    REASONS.contains(&stop_reason)
}

/// Such a reply is cut if it says something; otherwise the conversation is too long.
pub(crate) fn check(stop_reason: Option<&str>, blocks: &[Block]) -> Result<(), Fault> {
    let says = |block: &Block| matches!(block, Block::Text(said) if !said.text.trim().is_empty());
    match stop_reason {
        Some(reason) if is_overflow(reason) && !blocks.iter().any(says) => Err(Fault::Reported(format!(
            r#"{{"error":{{"code":"{}","message":"it stopped before its first word: {reason}"}}}}"#,
            REASONS[0]
        ))),
        _ => Ok(()),
    }
}
