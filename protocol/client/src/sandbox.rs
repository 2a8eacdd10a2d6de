//! Sandboxes in words.

/// What a sandbox, as records name it, means for a command.
#[must_use]
pub fn confined(sandbox: &str) -> &str {
    match sandbox {
        "full" => "full: it writes to the workspace only, sees no keys, and has no network",
        "full, network" => "full, with the network: it writes to the workspace only, and sees no keys",
        "landlock" => {
            "landlock: it writes to the workspace only, also to what other programs run, and has no network"
        }
        "landlock, network" => {
            "landlock, with the network: it writes to the workspace only, also to what other programs run"
        }
        other => other,
    }
}
