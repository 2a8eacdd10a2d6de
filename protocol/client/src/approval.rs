//! What approvals say.

use abide_protocol::{
    inbox::{Approval, NamedFile},
    measure::counted,
};

/// Whether the daemon makes the change itself, beneath the workspace only: there is no process that a sandbox
/// could confine.
#[must_use]
pub fn is_made_by_daemon(approval: &Approval) -> bool {
    // Changes of a file have a preview, a new folder has none.
    approval.preview.is_some() || &*approval.tool == "create_dir"
}

/// Whether the sentence that says why it asks ends with all of this argument, so that it need not be shown
/// twice.
#[must_use]
pub fn is_quoted(approval: &Approval, argument: &str, value: &str) -> bool {
    let quote = format!("\u{201c}{}\u{201d}", value.trim());
    argument == "reason" && approval.why.as_deref().is_some_and(|why| why.ends_with(&quote))
}

/// What must still be so when an allowed call starts, in a sentence without its "if"; `None`: it names no
/// file. Not escaped.
#[must_use]
pub fn condition(approval: &Approval) -> Option<String> {
    let named = |NamedFile { path, bytes, sha256 }: &NamedFile| {
        format!("{path} ({}, sha256 {})", counted(*bytes, "byte"), sha256.get(..12).unwrap_or(sha256))
    };
    let names: Vec<String> = approval.files.iter().map(named).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {are} unchanged", names.join(", ")))
}
