use super::{Call, CallError, Outlook, Site, Subject, Tool, Work};
use crate::{
    text::escape,
    workspace::{PathError, Workspace},
};
use abide_protocol::transcript::{EffectClass, ToolResult};
use cap_std::fs::Dir;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::json;
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

/// The limits of a result: entries, and characters together.
const MAX_SHOWN: usize = 1000;
const MAX_CHARS: usize = 25_000;

/// How many entries are read.
const MAX_SEEN: usize = 100_000;

/// How deep folders may be nested.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Deserialize)]
struct List {
    path: Option<String>,
    glob: Option<String>,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "path": {"type": "string", "description": "A folder in the workspace; the workspace itself if absent."},
        "glob": {"type": "string", "minLength": 1, "maxLength": 1000,
            "description": "A pattern for paths beneath the folder, such as `*.md` or `src/**/*.rs`."},
    });
    let description = "Lists a folder of the workspace (folders end with a slash), or with a pattern everything beneath it that matches.";
    Tool::of::<List>(super::spec("list", EffectClass::Pure, description, &properties, &[]))
}

impl Call for List {
    fn summary(&self) -> String {
        match &self.glob {
            Some(glob) => format!("list {} ({glob})", self.path()),
            None => format!("list {}", self.path()),
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Read(self.path())
    }

    fn assess(&self, site: &mut Site<'_>, _: &mut Outlook) -> Result<(), CallError> {
        self.matcher()?;
        site.workspace.resolve(self.path())?;
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Look(Box::new(move |workspace, stop| Ok(self.run(workspace, stop)?)))
    }
}

impl List {
    fn path(&self) -> &str {
        self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".")
    }

    fn matcher(&self) -> Result<Option<GlobMatcher>, globset::Error> {
        let Some(glob) = &self.glob else { return Ok(None) };
        Ok(Some(GlobBuilder::new(glob).literal_separator(true).build()?.compile_matcher()))
    }

    fn run(&self, workspace: &Workspace, cancel: &CancellationToken) -> Result<ToolResult, PathError> {
        let matcher = match self.matcher() {
            Ok(matcher) => matcher,
            Err(error) => return Ok(ToolResult::failure(format!("the glob is not valid: {error}"))),
        };
        let spot = workspace.resolve(self.path())?;
        let folder = workspace.folder(&spot)?;
        let mut walk = Walk {
            workspace,
            at: spot.relative.clone(),
            matcher,
            cancel,
            found: Vec::new(),
            chars: 0,
            seen: 0,
            cut: false,
        };
        walk.folder(&folder, Path::new(""), 0);
        let message = format!(
            "{} in {}",
            super::counted(walk.found.len(), "entry", "entries"),
            escape(&spot.relative.to_string_lossy())
        );
        let mut result =
            ToolResult::success(message, Some(json!({ "entries": walk.found.join("\n") }).into()));
        if walk.cut {
            result
                .diagnostics
                .push("there is more; list a folder further down or use a narrower glob".to_owned());
        }
        Ok(result)
    }
}

/// Depth first, sorted. Links are shown, not followed.
struct Walk<'a> {
    workspace: &'a Workspace,
    /// The folder it starts at, relative to the workspace.
    at: PathBuf,
    matcher: Option<GlobMatcher>,
    cancel: &'a CancellationToken,
    found: Vec<String>,
    chars: usize,
    seen: usize,
    cut: bool,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Dir, beneath: &Path, depth: usize) {
        // A folder that cannot be read is shown as empty.
        for (name, is_folder) in self.entries(folder).unwrap_or_default() {
            if self.cut || self.cancel.is_cancelled() {
                return;
            }
            let path = beneath.join(&name);
            self.consider(&path, is_folder);
            let descend = is_folder && self.matcher.is_some() && name != ".git" && !self.is_closed(&path);
            if descend && depth < MAX_DEPTH {
                // If a link has replaced the folder meanwhile, opening the link cannot leave the parent
                // folder.
                if let Ok(inner) = folder.open_dir(&name) {
                    self.folder(&inner, &path, depth + 1);
                }
            }
        }
    }

    /// Sorted.
    fn entries(&mut self, folder: &Dir) -> io::Result<Vec<(OsString, bool)>> {
        let mut entries = Vec::new();
        for entry in folder.entries()? {
            self.seen += 1;
            if self.seen > MAX_SEEN {
                self.cut = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            entries.push((entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
        entries.sort_unstable();
        Ok(entries)
    }

    fn consider(&mut self, path: &Path, is_folder: bool) {
        if self.matcher.as_ref().is_some_and(|glob| !glob.is_match(path)) {
            return;
        }
        let shown = escape(&path.to_string_lossy()) + if is_folder { "/" } else { "" };
        self.chars += shown.chars().count() + 1;
        if self.found.len() == MAX_SHOWN || self.chars > MAX_CHARS {
            self.cut = true;
        } else {
            self.found.push(shown);
        }
    }

    fn is_closed(&self, path: &Path) -> bool {
        let relative: PathBuf = if self.at == Path::new(".") { path.to_owned() } else { self.at.join(path) };
        self.workspace.is_closed(&relative)
    }
}
