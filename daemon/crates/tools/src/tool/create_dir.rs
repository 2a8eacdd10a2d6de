use super::{Call, CallError, Outlook, Site, Subject, Tool, Work};
use crate::workspace::{PathError, Workspace};
use abide_protocol::{
    record::EditState,
    transcript::{EffectClass, ToolResult},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct CreateDir {
    path: String,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A folder in the workspace."},
    });
    let description = "Creates a folder in the workspace, with those above it that are missing. If it exists, nothing happens.";
    Tool::of::<CreateDir>(super::spec(
        "create_dir",
        EffectClass::Verifiable,
        description,
        &properties,
        &["path"],
    ))
}

impl Call for CreateDir {
    fn summary(&self) -> String {
        format!("create folder {}", self.path)
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Edit(&self.path)
    }

    fn assess(&self, site: &mut Site<'_>, _: &mut Outlook) -> Result<(), CallError> {
        site.overlay.create_folder(&site.workspace.resolve(&self.path)?)?;
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Change(Box::new(move |workspace, _| Ok(self.run(workspace)?)))
    }

    fn state(&self, workspace: &Workspace) -> EditState {
        match workspace.resolve(&self.path) {
            Ok(spot) if spot.missing > 0 => EditState::NotDone,
            Ok(spot) if workspace.folder(&spot).is_ok() => EditState::Done,
            _ => EditState::Unknown,
        }
    }
}

impl CreateDir {
    fn run(&self, workspace: &Workspace) -> Result<ToolResult, PathError> {
        let spot = workspace.resolve(&self.path)?;
        let created = workspace.create_folder(&spot)?;
        let state = if created { "is created" } else { "already exists" };
        Ok(ToolResult::success(format!("the folder {} {state}", spot.relative.to_string_lossy()), None))
    }
}
