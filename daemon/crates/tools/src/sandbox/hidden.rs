//! What commands do not see, and the file tools do not touch: keys, passwords, and Abide's own.

/// Folders of the home.
pub(crate) const FOLDERS: [&str; 13] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".azure",
    ".docker",
    ".config/gh",
    ".config/gcloud",
    ".config/chromium",
    ".config/google-chrome",
    ".mozilla",
    ".password-store",
    ".local/share/keyrings",
];

/// Files of the home.
pub(crate) const FILES: [&str; 6] = [
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
];
