//! The files that a call names and that other calls could change. A person allows the call with these files
//! as they are.
//!
//! Only the files in the words of a command line are known, not files that a program finds by itself, such as
//! those of a folder.

use crate::{
    SandboxSettings, command,
    edit::{self, Overlay},
    sandbox::{Planner, Sandbox, is_private},
    text::one_line,
    tool::{Call, Subject},
    workspace::Workspace,
};
use abide_protocol::{inbox::NamedFile, sandbox::SandboxLevel};
use rustix::fs::{Mode, OFlags, open};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

const MAX_FILES: usize = 32;

/// The largest file whose content is looked at, in bytes.
const MAX_SIZE: u64 = 8 << 20;

/// The most folders that a relative name may start from: the call's, and those that the line names.
const MAX_FOLDERS: usize = 16;

/// How many files a sentence names, and the longest name, in characters.
const SHOWN: (usize, usize) = (3, 100);

/// Where a call would run.
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) settings: &'a SandboxSettings,
    pub(crate) planner: &'a Planner,
    /// The commands' `PATH`.
    pub(crate) path: Option<&'a str>,
    pub(crate) sandbox: Sandbox,
    /// What earlier calls of the same reply will write.
    pub(crate) overlay: &'a Overlay,
}

/// The files that a call names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// In the order of the line.
    pub(crate) files: Vec<NamedFile>,
    /// Why a decision on the call counts only once, in a sentence without a full stop.
    pub(crate) only_once: Option<String>,
}

impl Named {
    /// Blocking.
    pub(crate) fn of(call: &dyn Call, ground: &Ground<'_>) -> Self {
        match call.subject() {
            Subject::Line(line) => {
                let folder = ground.workspace.resolve(call.working_dir().unwrap_or("."));
                let folder = folder.map_or_else(|_| ground.workspace.real().to_owned(), |spot| spot.real);
                Search::new(ground, folder).of_line(line)
            }
            Subject::Code => Self {
                files: Vec::new(),
                only_once: Some("which files its code uses is not known before it runs".to_owned()),
            },
            Subject::Nothing | Subject::Read(_) | Subject::Edit(_) => Self::default(),
        }
    }

    /// What differs from the files that a person was asked about, in a sentence without a full stop; `None`:
    /// nothing.
    pub(crate) fn differ(&self, asked: &[NamedFile]) -> Option<String> {
        let at = |files: &[NamedFile], path: &str| files.iter().find(|file| file.path == path).cloned();
        let mut changes: Vec<String> = Vec::new();
        for before in asked {
            let name = one_line(&before.path, SHOWN.1);
            match at(&self.files, &before.path) {
                Some(now) if now.sha256 == before.sha256 => {}
                Some(now) => changes.push(format!(
                    "`{name}` was changed since the user was asked (then {}, now {})",
                    identity(before),
                    identity(&now)
                )),
                None => changes.push(format!("`{name}` is no longer what the user was asked about")),
            }
        }
        for now in &self.files {
            if at(asked, &now.path).is_none() {
                changes.push(format!(
                    "`{}` was not there when the user was asked",
                    one_line(&now.path, SHOWN.1)
                ));
            }
        }
        let more = changes.len().saturating_sub(SHOWN.0);
        changes.truncate(SHOWN.0);
        if more > 0 {
            changes.push(format!("{more} more are not as they were"));
        }
        (!changes.is_empty()).then(|| changes.join("; "))
    }
}

fn identity(file: &NamedFile) -> String {
    format!("{} bytes, sha256 {}", file.bytes, file.sha256.get(..12).unwrap_or(&file.sha256))
}

/// A search for the files that a line names.
struct Search<'a> {
    ground: &'a Ground<'a>,
    /// Folders that commands may write to besides the workspace, without links.
    writable: Vec<PathBuf>,
    /// Folders that a relative name may start from.
    folders: Vec<PathBuf>,
    files: Vec<NamedFile>,
    /// Why the content of a file is not known.
    unseen: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(ground: &'a Ground<'a>, folder: PathBuf) -> Self {
        let Ground { workspace, settings, planner, .. } = ground;
        let git = planner.repository(workspace).map(|repository| repository.folders).unwrap_or_default();
        let configured = settings.writable.iter().filter_map(|folder| fs::canonicalize(folder).ok());
        let private = fs::canonicalize(planner.private.root()).ok();
        let writable = git.into_iter().chain(configured).chain(private).collect();
        // A shell looks for programs beneath its own folder, too, if the `PATH` says so.
        let relative = ground.path.unwrap_or_default().split(':').filter(|entry| !entry.starts_with('/'));
        let mut folders: Vec<PathBuf> = relative.map(|entry| folder.join(entry)).collect();
        folders.truncate(MAX_FOLDERS / 2);
        folders.insert(0, folder);
        Self { ground, writable, folders, files: Vec::new(), unseen: Vec::new() }
    }

    fn of_line(mut self, line: &str) -> Named {
        let abide_rules::Named { words, unclear } = abide_rules::Named::of(line);
        // Twice: a folder may be named after a file in it.
        for word in words.iter().chain(&words) {
            self.word(word);
        }
        let Self { files, unseen, .. } = self;
        let unclear = unclear.map(|why| format!("which files it uses is not known: {why}"));
        let changeable = (!files.is_empty()).then(|| changeable(&files));
        let why: Vec<String> = unclear.into_iter().chain(changeable).chain(unseen).collect();
        Named { files, only_once: (!why.is_empty()).then(|| why.join("; ")) }
    }

    /// A word may name a file as a whole or in a part: in `--opt=path`, in a list with colons or commas,
    /// after an `@`.
    fn word(&mut self, word: &str) {
        let parts = word.split(['=', ':', ',']).map(|part| part.trim_start_matches('@'));
        for part in std::iter::once(word).chain(parts.filter(|part| *part != word)) {
            if part.is_empty() || part.contains('\0') {
                continue;
            }
            let is_name = !part.contains('/');
            if let Some(program) = command::find(part, self.ground.path).filter(|_| is_name) {
                self.place(Path::new(&program));
            }
            for folder in self.folders.clone() {
                self.place(&folder.join(part));
            }
        }
    }

    fn place(&mut self, path: &Path) {
        let named = plain(path);
        let real = fs::canonicalize(path).ok();
        let is_writable =
            self.is_writable(&named) || real.as_ref().is_some_and(|real| self.is_writable(real));
        if !is_writable {
            if self.ground.sandbox.level == SandboxLevel::Full
                && is_private(&named, &self.ground.planner.home)
            {
                let name = one_line(&named.to_string_lossy(), SHOWN.1);
                self.unseen(format!("`{name}` lies in a folder that only its sandbox sees"));
            }
            return;
        }
        let path = self.ground.workspace.shown(&named);
        if self.files.iter().any(|file| file.path == path) {
            return;
        }
        if let Some(content) = self.planned(&named, real.as_deref()) {
            self.add(path, Ok(Some((content.len() as u64, edit::hash(content)))));
        } else if let Some(real) = real {
            match fs::metadata(&real) {
                Ok(found) if found.is_dir() => self.folder(real),
                Ok(found) if found.is_file() => self.add(path, look(&real)),
                _ => {}
            }
        }
    }

    /// The file as it will be when the earlier calls have run.
    fn planned(&self, named: &Path, real: Option<&Path>) -> Option<&'a [u8]> {
        let overlay = self.ground.overlay;
        real.and_then(|real| overlay.written(real)).or_else(|| overlay.written(named))
    }

    fn folder(&mut self, folder: PathBuf) {
        if self.folders.contains(&folder) {
            return;
        }
        if self.folders.len() < MAX_FOLDERS {
            self.folders.push(folder);
        } else {
            self.unseen(format!("it names more than {MAX_FOLDERS} folders"));
        }
    }

    /// `content`: size and hash, or `None` if it is too large.
    fn add(&mut self, path: String, content: io::Result<Option<(u64, String)>>) {
        match content {
            _ if self.files.len() == MAX_FILES => {
                self.unseen(format!("it names more than {MAX_FILES} files that other calls could change"));
            }
            Ok(Some((bytes, sha256))) => self.files.push(NamedFile { path, bytes, sha256 }),
            Ok(None) => self.unseen(format!(
                "`{}` is larger than {} MiB, so a change of it is not noticed",
                one_line(&path, SHOWN.1),
                MAX_SIZE >> 20
            )),
            Err(error) => self.unseen(format!("`{}` cannot be read ({error})", one_line(&path, SHOWN.1))),
        }
    }

    fn unseen(&mut self, why: String) {
        if !self.unseen.contains(&why) && self.unseen.len() < SHOWN.0 {
            self.unseen.push(why);
        }
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.ground.workspace.holds(path) || self.writable.iter().any(|folder| path.starts_with(folder))
    }
}

/// ``it names `deploy.sh`, which other calls could change``
fn changeable(files: &[NamedFile]) -> String {
    let names: Vec<String> =
        files.iter().take(SHOWN.0).map(|file| format!("`{}`", one_line(&file.path, SHOWN.1))).collect();
    let more = match files.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more files"),
    };
    format!("it names {}{more}, which other calls could change", names.join(", "))
}

/// The path without `.` and `..`. Links are not looked at.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Size and hash of a file; `None` if it is too large. The opened file is read, whatever takes its place
/// meanwhile.
fn look(path: &Path) -> io::Result<Option<(u64, String)>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no longer a file"));
    }
    let mut content = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut content)?;
    let bytes = content.len() as u64;
    Ok((bytes <= MAX_SIZE).then(|| (bytes, edit::hash(&content))))
}
