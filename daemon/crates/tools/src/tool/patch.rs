use super::{Call, CallError, Outlook, Proposal, Site, Subject, Tool, Work};
use crate::{
    edit::{self, Edit},
    text::one_line,
    workspace::Workspace,
};
use abide_protocol::transcript::{EffectClass, ToolResult};
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
    #[error("{0} is not UTF-8 text")]
    NotText(String),
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
    let description = "Replaces a piece of a text file in the workspace by another. Other hard links of the file keep the old content.";
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
        let content = |before: Option<&[u8]>| Ok(self.apply(before)?);
        let applied =
            edit::apply::<CallError>(workspace, &spot, proposal.hashes()?, &proposal.mark, content)?;
        Ok(ToolResult::success(super::applied(&spot, "patched", applied), None))
    }

    /// The new content, from the old.
    fn apply(&self, before: Option<&[u8]>) -> Result<Vec<u8>, PatchError> {
        let path = one_line(&self.path, 200);
        let Some(before) = before else { return Err(PatchError::NoFile(path)) };
        let Ok(text) = std::str::from_utf8(before) else { return Err(PatchError::NotText(path)) };
        if self.old == self.new {
            return Err(PatchError::Same);
        }
        let (old, new) = self.with_line_ends_of(text);
        match text.matches(&*old).count() {
            0 => Err(PatchError::NotFound { path, nearest: nearest(text, &old) }),
            1 => Ok(text.replacen(&*old, &new, 1).into_bytes()),
            _ if self.all => Ok(text.replace(&*old, &new).into_bytes()),
            count => Err(PatchError::Several { path, count }),
        }
    }

    /// Models write `
    /// `; in a file with `\r
    /// ` they mean that.
    fn with_line_ends_of(&self, text: &str) -> (String, String) {
        let to_crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        if text.contains("\r\n") && !text.contains(&self.old) {
            (to_crlf(&self.old), to_crlf(&self.new))
        } else {
            (self.old.clone(), self.new.clone())
        }
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

/// How much of two lines is equal from both ends, in percent of the longer one; surrounding white space is ignored.
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
    fn line_ends_are_kept() {
        assert_eq!(patch("a\nb", "c\nd", false, "a\r\nb\r\n").unwrap(), "c\r\nd\r\n");
        assert_eq!(patch("a\r\nb", "c", false, "a\r\nb\r\n").unwrap(), "c\r\n");
    }

    #[test]
    fn only_text_that_is_there() {
        let patch = Patch { path: "f".to_owned(), old: "a".to_owned(), new: "b".to_owned(), all: false };
        assert_eq!(patch.apply(None), Err(PatchError::NoFile("f".to_owned())));
        assert_eq!(patch.apply(Some(b"a\xff")), Err(PatchError::NotText("f".to_owned())));
    }
}
