mod replace;

use super::{Call, CallError, Outlook, Proposal, Site, Subject, Tool, Work};
use crate::{
    edit::{self, Edit},
    text::one_line,
    workspace::Workspace,
};
use abide_protocol::transcript::{EffectClass, ToolResult};
use replace::replace;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct Patch {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// Why a patch cannot be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("{0} does not exist; to create a file, use write")]
    NoFile(String),
    #[error("`old` and `new` are the same: nothing would change")]
    Same,
    #[error("`old` does not occur in {path}{}", Self::hint(.nearest.as_ref()))]
    NotFound { path: String, nearest: Option<(usize, String)> },
    #[error(
        "`old` occurs {count} times in {path}; take more lines into it so that it is unique, or set `all`"
    )]
    Several { path: String, count: usize },
}

impl PatchError {
    fn hint(nearest: Option<&(usize, String)>) -> String {
        nearest.map_or_else(
            || "; read the file and copy it exactly".to_owned(),
            |(line, text)| {
                format!("; the nearest is line {line}: {text:?}. It must match exactly, white space too")
            },
        )
    }
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A file in the workspace."},
        "old": {"type": "string", "minLength": 1,
            "description": "The text to replace, exactly as it stands in the file. It must occur once, unless `all` is set."},
        "new": {"type": "string", "description": "What takes its place."},
        "all": {"type": "boolean", "default": false, "description": "Replace every occurrence."},
    });
    let description = "Replaces a piece of a text file in the workspace by another. The file keeps its encoding, byte order mark and line ends: `\\n` in `old` matches each kind, and in `new` it becomes the one of its place; other hard links keep the old content.";
    Tool::of::<Patch>(super::spec(
        "patch",
        EffectClass::Verifiable,
        description,
        &properties,
        &["path", "old", "new"],
    ))
}

impl Call for Patch {
    fn summary(&self) -> String {
        let (old, new) = (self.old.lines().count(), self.new.lines().count());
        let every = if self.all { ", everywhere" } else { "" };
        format!("patch {} ({} for {old}{every})", self.path, super::counted(new, "line", "lines"))
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Edit(&self.path)
    }

    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError> {
        let spot = site.workspace.resolve(&self.path)?;
        let before = site.overlay.file(site.workspace, &spot)?;
        let after = self.apply(before.as_ref().map(|found| &*found.content))?;
        outlook.edit = Some(Edit { spot, before, after });
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Change(Box::new(move |workspace, proposal| self.run(workspace, proposal)))
    }
}

impl Patch {
    fn run(&self, workspace: &Workspace, proposal: &Proposal) -> Result<ToolResult, CallError> {
        let spot = workspace.resolve(&self.path)?;
        let content = |before: Option<&[u8]>| self.apply(before);
        let applied = edit::apply(workspace, &spot, proposal.hashes()?, &proposal.mark, content)?;
        Ok(ToolResult::success(super::applied(&spot, "patched", applied), None))
    }

    /// The new content, from the old.
    fn apply(&self, before: Option<&[u8]>) -> Result<Vec<u8>, CallError> {
        let path = one_line(&self.path, 200);
        let Some(before) = before else { return Err(PatchError::NoFile(path).into()) };
        edit::rewrite(&self.path, before, |found| Ok(self.applied(&found.text, path)?))
    }

    fn applied(&self, text: &str, path: String) -> Result<String, PatchError> {
        if self.old == self.new {
            return Err(PatchError::Same);
        }
        replace(text, &self.old, &self.new, self.all).map_err(|count| match count {
            0 => PatchError::NotFound { path, nearest: nearest(text, &self.old) },
            count => PatchError::Several { path, count },
        })
    }
}

/// The line most like the first line of `old`, with its number.
fn nearest(text: &str, old: &str) -> Option<(usize, String)> {
    let wanted = old.lines().find(|line| !line.trim().is_empty())?;
    let (score, number, line) = text
        .lines()
        .enumerate()
        .map(|(at, line)| (likeness(line, wanted), at + 1, line))
        // Of equal lines the first.
        .max_by_key(|(score, number, _)| (*score, std::cmp::Reverse(*number)))?;
    (score >= 50).then(|| (number, line.chars().take(200).collect()))
}

/// How much of two lines is equal from both ends, in percent of the longer line. Surrounding white space is
/// ignored.
fn likeness(a: &str, b: &str) -> usize {
    let (a, b) = (a.trim(), b.trim());
    let longer = a.chars().count().max(b.chars().count());
    let shorter = a.chars().count().min(b.chars().count());
    let head = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let tail = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).count();
    (head + tail).min(shorter) * 100 / longer.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(old: &str, new: &str, all: bool, text: &str) -> Result<String, String> {
        let patch = Patch { path: "f".to_owned(), old: old.to_owned(), new: new.to_owned(), all };
        patch.apply(Some(text.as_bytes())).map(|b| String::from_utf8(b).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn one_place_or_all() {
        assert_eq!(patch("b", "x", false, "abc").unwrap(), "axc");
        assert_eq!(patch("b", "", true, "bab").unwrap(), "a");
        assert_eq!(
            patch("b", "x", false, "bab").unwrap_err(),
            "`old` occurs 2 times in f; take more lines into it so that it is unique, or set `all`"
        );
        assert_eq!(
            patch("b", "b", true, "b").unwrap_err(),
            "`old` and `new` are the same: nothing would change"
        );
    }

    #[test]
    fn a_miss_names_the_nearest_line() {
        assert_eq!(
            patch("let x = 1;\nfoo", "", false, "fn a() {\n    let x = 2;\n}\n").unwrap_err(),
            "`old` does not occur in f; the nearest is line 2: \"    let x = 2;\". It must match exactly, white space too"
        );
        assert_eq!(
            patch("zzz", "", false, "a\nb").unwrap_err(),
            "`old` does not occur in f; read the file and copy it exactly"
        );
    }

    #[test]
    fn only_text_that_is_there() {
        let patch = Patch { path: "f".to_owned(), old: "a".to_owned(), new: "b".to_owned(), all: false };
        let words = |before| patch.apply(before).unwrap_err().to_string();
        assert_eq!(words(None), "f does not exist; to create a file, use write");
        assert!(words(Some(b"a\0")).starts_with("f is not text: a binary file of 2 bytes"));
    }
}
