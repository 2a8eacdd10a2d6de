//! Sandboxes in words.

/// What a sandbox, as records name it, means for a command.
#[must_use]
pub fn confined(sandbox: &str) -> &str {
    match sandbox {
        "full" => "it writes to the workspace only, sees no keys, and has no network",
        "full, network" => "it writes to the workspace only and sees no keys, but has the network",
        "landlock" => "it writes to the workspace only, also to what other programs run, and has no network",
        "landlock, network" => {
            "it writes to the workspace only, also to what other programs run, and has the network"
        }
        other => other,
    }
}
