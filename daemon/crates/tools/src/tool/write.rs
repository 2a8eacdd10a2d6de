use super::{Call, CallError, Outlook, Proposal, Site, Subject, Tool, Work};
use crate::{
    edit::{self, Edit},
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
    let description = "Creates a file in the workspace, with the folders above it that are missing, or replaces the whole of one. To change a part of a file, use patch. Other hard links of a file keep the old content.";
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
        outlook.edit = Some(Edit { spot, before, after: self.content.clone().into_bytes() });
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

    fn run(self, workspace: &Workspace, proposal: &Proposal) -> Result<ToolResult, CallError> {
        let (spot, size) = (workspace.resolve(&self.path)?, self.size());
        let content = |_: Option<&[u8]>| Ok(self.content.into_bytes());
        let applied =
            edit::apply::<CallError>(workspace, &spot, proposal.hashes()?, &proposal.mark, content)?;
        let message = format!("{} ({size})", super::applied(&spot, "written", applied));
        Ok(ToolResult::success(message, None))
    }
}
