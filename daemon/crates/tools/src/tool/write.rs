use super::{Call, CallError, Outlook, Proposal, Site, Subject, Tool, Work};
use crate::{
    edit::{self, Edit, EditError, LineEnds},
    workspace::Workspace,
};
use abide_protocol::transcript::{EffectClass, ToolResult};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct Write {
    path: String,
    content: String,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A file in the workspace."},
        "content": {"type": "string", "description": "The whole content."},
    });
    let description = "Creates a file in the workspace, with the folders above it that are missing, or replaces the whole of one. To change a part of a file, use patch. A file keeps its encoding and byte order mark, and its CRLF if all its lines end so; other hard links keep the old content.";
    Tool::of::<Write>(super::spec(
        "write",
        EffectClass::Verifiable,
        description,
        &properties,
        &["path", "content"],
    ))
}

impl Call for Write {
    fn summary(&self) -> String {
        format!("write {} ({})", self.path, self.size())
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Edit(&self.path)
    }

    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError> {
        let spot = site.workspace.resolve(&self.path)?;
        let before = site.overlay.file(site.workspace, &spot)?;
        let after = self.bytes(before.as_ref().map(|found| &*found.content))?;
        outlook.edit = Some(Edit { spot, before, after });
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Change(Box::new(move |workspace, proposal| self.run(workspace, proposal)))
    }
}

impl Write {
    fn size(&self) -> String {
        super::counted(self.content.lines().count(), "line", "lines")
    }

    /// The new content of the file, with the encoding and line ends of the old content.
    fn bytes(&self, before: Option<&[u8]>) -> Result<Vec<u8>, EditError> {
        let Some(before) = before else { return Ok(self.content.clone().into_bytes()) };
        edit::rewrite(&self.path, before, |old| {
            let text = match old.encoding.has_bom() {
                true => self.content.strip_prefix('\u{feff}').unwrap_or(&self.content),
                false => &self.content,
            };
            let is_crlf = LineEnds::of(&old.text) == LineEnds::CrLf;
            Ok(if is_crlf { edit::to_crlf(text) } else { text.to_owned() })
        })
    }

    fn run(self, workspace: &Workspace, proposal: &Proposal) -> Result<ToolResult, CallError> {
        let (spot, size) = (workspace.resolve(&self.path)?, self.size());
        let content = |before: Option<&[u8]>| self.bytes(before);
        let applied = edit::apply(workspace, &spot, proposal.hashes()?, &proposal.mark, content)
            .map_err(CallError::Edit)?;
        let message = format!("{} ({size})", super::applied(&spot, "written", applied));
        Ok(ToolResult::success(message, None))
    }
}
