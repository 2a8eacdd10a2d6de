//! Edits of files: computes the new content, and writes it only if the file has not changed since.

mod line_ends;
mod overlay;
mod preview;
mod rewrite;

pub(crate) use line_ends::{LineEnds, to_crlf};
pub(crate) use overlay::Overlay;
pub(crate) use preview::preview;
pub(crate) use rewrite::rewrite;

use crate::{
    text::Encoding,
    workspace::{Found, PathError, Spot, Workspace},
};
use abide_protocol::record::EditHashes;
use sha2::{Digest as _, Sha256};

/// A file before, and its content after.
pub(crate) struct Edit {
    pub(crate) spot: Spot,
    pub(crate) before: Option<Found>,
    pub(crate) after: Vec<u8>,
}

/// Why an edit was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    #[error(
        "{0} was changed since the edit was proposed, perhaps by another task; nothing was written. Read it and try again"
    )]
    Changed(String),
    #[error(
        "{path} is not text: a binary file of {bytes} bytes. Only text is edited; to replace the file, remove it first"
    )]
    NotText { path: String, bytes: usize },
    #[error(
        "{path} has bytes that are not {encoding} or that an edit would not keep; nothing was written. Change it with a command"
    )]
    Damaged { path: String, encoding: Encoding },
    #[error(
        "{path} is {encoding}, which cannot hold {character} in line {line}; nothing was written. Use other characters, or convert the file with a command first"
    )]
    NotHeld { path: String, encoding: Encoding, character: String, line: usize },
    #[error(transparent)]
    Path(#[from] PathError),
}

/// How an edit was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    Written,
    /// The file had the new content already.
    Already,
}

impl Edit {
    pub(crate) fn hashes(&self) -> EditHashes {
        EditHashes {
            path: self.spot.relative.to_string_lossy().into_owned(),
            before: self.before.as_ref().map(|found| hash(&found.content)),
            after: hash(&self.after),
            bytes: self.after.len() as u64,
        }
    }

    /// Why the edit asks whatever its content, in a sentence without a full stop.
    pub(crate) fn why_it_asks(&self) -> Option<String> {
        let found = self.before.as_ref()?;
        let read_only =
            found.mode.is_read_only().then(|| format!("the file is read-only (mode {})", found.mode));
        let links = (found.links > 1).then(|| {
            let other = if found.links == 2 { "the other keeps" } else { "the others keep" };
            format!(
                "the file has {} names (hard links): this one gets the new content, {other} the old",
                found.links
            )
        });
        let why: Vec<String> = read_only.into_iter().chain(links).collect();
        (!why.is_empty()).then(|| why.join("; "))
    }
}

/// Writes an assessed edit if the file has not changed since. `content` computes the new content from the
/// old.
///
/// # Errors
/// The file has changed, it cannot be read or written, or `content` fails.
pub(crate) fn apply<E: From<EditError>>(
    workspace: &Workspace,
    spot: &Spot,
    hashes: &EditHashes,
    mark: &str,
    content: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
) -> Result<Applied, E> {
    let changed = || EditError::Changed(crate::text::one_line(&hashes.path, 200));
    if spot.relative.to_string_lossy() != hashes.path {
        return Err(changed().into());
    }
    let before = workspace.read(spot).map_err(EditError::Path)?;
    let found = before.as_ref().map(|found| hash(&found.content));
    if found.as_ref() == Some(&hashes.after) {
        return Ok(Applied::Already);
    }
    if found != hashes.before {
        return Err(changed().into());
    }
    let after = content(before.as_ref().map(|found| &*found.content))?;
    if hash(&after) != hashes.after {
        return Err(changed().into());
    }
    workspace.replace(spot, &after, before.map(|found| found.mode), mark).map_err(EditError::Path)?;
    Ok(Applied::Written)
}

/// SHA-256 in hex.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
