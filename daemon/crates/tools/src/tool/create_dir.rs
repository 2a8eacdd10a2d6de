use crate::workspace::{PathError, Workspace};
use abide_protocol::transcript::{EffectClass, ToolResult, ToolSpec};
use serde::Deserialize;
use serde_json::json;

pub(super) const NAME: &str = "create_dir";

#[derive(Debug, Deserialize)]
pub(crate) struct CreateDir {
    pub(crate) path: String,
}

pub(super) fn spec() -> ToolSpec {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A folder in the workspace."},
    });
    let description = "Creates a folder in the workspace, with those above it that are missing. If it exists, nothing happens.";
    super::spec(NAME, EffectClass::Verifiable, description, &properties, &["path"])
}

impl CreateDir {
    pub(super) fn summary(&self) -> String {
        format!("create folder {}", self.path)
    }

    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ToolResult, PathError> {
        let spot = workspace.resolve(&self.path)?;
        let created = workspace.create_folder(&spot)?;
        let state = if created { "is created" } else { "already exists" };
        Ok(ToolResult::success(format!("the folder {} {state}", spot.relative.to_string_lossy()), None))
    }
}
