//! What approvals say.

use abide_protocol::inbox::Approval;

/// Whether the daemon makes the change itself, beneath the workspace only: there is no process that a sandbox could confine.
#[must_use]
pub fn is_made_by_daemon(approval: &Approval) -> bool {
    // Changes of a file have a preview, a new folder has none.
    approval.preview.is_some() || &*approval.tool == "create_dir"
}

/// Whether the sentence that says why it asks ends with all of this argument, so that it need not be shown twice.
#[must_use]
pub fn is_quoted(approval: &Approval, argument: &str, value: &str) -> bool {
    let quote = format!("\u{201c}{}\u{201d}", value.trim());
    argument == "reason" && approval.why.as_deref().is_some_and(|why| why.ends_with(&quote))
}
