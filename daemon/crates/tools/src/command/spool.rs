use crate::{
    process::Identity,
    text::{Capture, RESULT_CHARS, clip},
};
use abide_fail_point::{Point, pass};
use abide_protocol::CallId;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// The size in bytes beyond which a file is reduced to its head and tail.
const MAX_FILE: u64 = 512 * 1024;

/// Pieces that may wait for a slow disk.
const WAITING: usize = 64;

/// The files that keep the output of a call's attempt until its result is committed.
#[derive(Debug, Clone)]
pub(crate) struct SpoolFiles {
    output: PathBuf,
    helper: PathBuf,
}

impl SpoolFiles {
    pub(crate) fn of(dir: &Path, call: CallId, attempt: u32) -> Self {
        Self {
            output: dir.join(format!("{call}-{attempt}.out")),
            helper: dir.join(format!("{call}-{attempt}.json")),
        }
    }

    /// Writes down the helper's identity.
    pub(super) fn note(&self, identity: Option<&Identity>) -> io::Result<()> {
        private(&self.helper)?.write_all(&serde_json::to_vec(&identity)?)
    }

    /// The helper's identity, if one was written down.
    pub(crate) fn noted(&self) -> Option<Identity> {
        serde_json::from_slice(&fs::read(&self.helper).ok()?).ok()?
    }

    /// When the identity was written down, which is before the command began.
    pub(crate) fn noted_at(&self) -> Option<SystemTime> {
        fs::metadata(&self.helper).ok()?.modified().ok()
    }

    /// The output so far, in the form of a result.
    pub(crate) fn output(&self) -> String {
        let mut bytes = Vec::new();
        let Ok(file) = File::open(&self.output) else { return String::new() };
        let _ = file.take(2 * MAX_FILE).read_to_end(&mut bytes);
        clip(&String::from_utf8_lossy(&bytes), RESULT_CHARS).into_owned()
    }

    pub(crate) fn remove(&self) {
        for path in [&self.output, &self.helper] {
            remove(path);
        }
    }
}

/// All files in a spool folder, by call.
pub(crate) fn kept(dir: &Path) -> io::Result<BTreeMap<CallId, Vec<PathBuf>>> {
    let mut kept = BTreeMap::<CallId, Vec<PathBuf>>::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        // The id contains dashes, too; the attempt follows the last dash.
        let call = name.to_str().and_then(|name| name.rsplit_once('-')?.0.parse().ok());
        if let Some(call) = call {
            kept.entry(call).or_default().push(entry.path());
        }
    }
    Ok(kept)
}

pub(crate) fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "cannot remove a spool file");
    }
}

/// Writes a command's output to a file without ever waiting for the disk. The first output makes the file.
pub(crate) struct Spool {
    path: PathBuf,
    /// Once cancelled, nothing more is written: a stop is recorded at once, and the files are removed then.
    cancel: CancellationToken,
    writing: Option<Writing>,
}

struct Writing {
    pieces: mpsc::Sender<String>,
    /// A piece was dropped; the next one is marked with a gap.
    gap: bool,
    writer: JoinHandle<()>,
}

impl Spool {
    pub(super) fn new(files: &SpoolFiles, cancel: CancellationToken) -> Self {
        Self { path: files.output.clone(), cancel, writing: None }
    }

    /// Writes a piece, or drops it if the disk is far behind. Needs a runtime.
    pub(super) fn write(&mut self, piece: &str) {
        let begin = || Writing::begin(self.path.clone(), self.cancel.clone());
        let writing = self.writing.get_or_insert_with(begin);
        let gap = if writing.gap { "\n[… some output is missing here …]\n" } else { "" };
        writing.gap = writing.pieces.try_send(format!("{gap}{piece}")).is_err();
    }

    pub(super) async fn finish(self) {
        if let Some(Writing { pieces, writer, .. }) = self.writing {
            drop(pieces);
            let _ = writer.await;
        }
    }
}

impl Writing {
    fn begin(path: PathBuf, cancel: CancellationToken) -> Self {
        let (pieces, mut coming) = mpsc::channel::<String>(WAITING);
        let writer = tokio::task::spawn_blocking(move || {
            let mut file = Rolling::create(&path);
            if cancel.is_cancelled() {
                // The file may have been made after the call's other files were removed.
                remove(&path);
                return;
            }
            while let Some(piece) = coming.blocking_recv().filter(|_| !cancel.is_cancelled()) {
                // After an error (a full disk, say) the rest is dropped. The result does not depend on this
                // file.
                file = file.and_then(|mut file| file.write(&piece).map(|()| file));
            }
            if let Err(error) = file {
                tracing::warn!(path = %path.display(), %error, "cannot keep the output of a tool");
            }
        });
        Self { pieces, gap: false, writer }
    }
}

/// A file of limited size.
struct Rolling {
    file: File,
    path: PathBuf,
    ends: Capture,
    size: u64,
}

impl Rolling {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: private(path)?, path: path.to_owned(), ends: Capture::default(), size: 0 })
    }

    fn write(&mut self, piece: &str) -> io::Result<()> {
        self.ends.push(piece);
        self.file.write_all(piece.as_bytes())?;
        pass(Point::OutputKept);
        self.size += piece.len() as u64;
        if self.size > MAX_FILE {
            let ends = self.ends.text(RESULT_CHARS);
            let new = self.path.with_extension("new");
            self.file = private(&new)?;
            self.file.write_all(ends.as_bytes())?;
            fs::rename(&new, &self.path)?;
            self.size = ends.len() as u64;
        }
        Ok(())
    }
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
