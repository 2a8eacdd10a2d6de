use std::{io, path::PathBuf};

/// Why the tools cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use {path} for the tools: {source}; make it a folder that only you can write to", path = .path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("no command is given that starts the tool helper")]
    NoHelper,
}
