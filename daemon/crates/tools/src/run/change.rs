use super::Runner;
use crate::{
    Run,
    assess::CallError,
    edit::{self, Applied},
    text::escape,
    tool::Call,
    workspace::Spot,
};
use abide_protocol::{CallId, record::EditHashes, transcript::ToolResult};

impl Runner {
    /// Makes an assessed change of the workspace.
    pub(super) fn change(&self, call: &Call, run: &Run) -> Result<ToolResult, CallError> {
        let workspace = self.workspace(&run.workspace)?;
        let mark = mark(run.call_id, run.attempt);
        let message = match call {
            Call::Write(write) => {
                let spot = workspace.resolve(&write.path)?;
                let content = |_: Option<&[u8]>| Ok(write.content.clone().into_bytes());
                let applied = edit::apply(&workspace, &spot, hashes(run)?, &mark, content)?;
                format!("{} ({})", said(&spot, "written", applied), write.size())
            }
            Call::Patch(patch) => {
                let spot = workspace.resolve(&patch.path)?;
                let content = |before: Option<&[u8]>| patch.apply(before);
                said(&spot, "patched", edit::apply(&workspace, &spot, hashes(run)?, &mark, content)?)
            }
            Call::CreateDir(create) => return Ok(create.run(&workspace)?),
            Call::Shell(_) | Call::Read(_) | Call::List(_) => {
                return Err(CallError::NotHere(run.assessed.tool.clone()));
            }
        };
        Ok(ToolResult::success(message, None))
    }
}

/// Names what an attempt leaves on the disk while it works.
pub(crate) fn mark(call: CallId, attempt: u32) -> String {
    format!("{call}-{attempt}")
}

fn hashes(run: &Run) -> Result<&EditHashes, CallError> {
    run.assessed.edit.as_ref().ok_or(CallError::Unassessed)
}

fn said(spot: &Spot, done: &str, applied: Applied) -> String {
    let path = escape(&spot.relative.to_string_lossy());
    match applied {
        Applied::Written => format!("{path} {done}"),
        Applied::Already => format!("{path} is already as it should become"),
    }
}
