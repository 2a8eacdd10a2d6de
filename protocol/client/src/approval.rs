//! What approvals say.

use abide_protocol::inbox::Approval;

/// Whether the sentence that says why it asks ends with all of this argument, so that it need not be shown twice.
#[must_use]
pub fn is_quoted(approval: &Approval, argument: &str, value: &str) -> bool {
    let quote = format!("\u{201c}{}\u{201d}", value.trim());
    argument == "reason" && approval.why.as_deref().is_some_and(|why| why.ends_with(&quote))
}
