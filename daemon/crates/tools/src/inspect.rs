//! After a restart: finds out the effects of a call that was started and has no result.

use crate::{
    EditState, Inspection,
    assess::parse,
    command::SpoolFiles,
    edit, process,
    run::{Runner, mark},
    workspace::Workspace,
};
use abide_protocol::{
    CallId,
    record::{CallAssessed, EditHashes},
    transcript::EffectClass,
};
use std::time::Duration;

/// How long the helper has to end its tree by itself after the daemon is gone; then the tree is killed from here.
const PATIENCE: Duration = Duration::from_secs(2);

impl Runner {
    pub(crate) fn inspect(
        &self,
        call: CallId,
        attempt: u32,
        assessed: &CallAssessed,
        workspace: &str,
    ) -> Inspection {
        let files = SpoolFiles::of(&self.spool_dir, call, attempt);
        if let Some(helper) = files.noted() {
            if let Some((_, handle)) = helper.open() {
                process::wait_gone(&handle, PATIENCE);
            }
            let leftover = process::end_call(Some(&helper), &call.to_string(), PATIENCE);
            if leftover != process::Leftover::default() {
                tracing::warn!(%call, ?leftover, "an interrupted call had left processes behind");
            }
        }
        let edit = self.edit_state(assessed, workspace, &mark(call, attempt));
        Inspection { output: files.output(), edit }
    }

    fn edit_state(&self, assessed: &CallAssessed, workspace: &str, mark: &str) -> EditState {
        let open = self.workspace(workspace);
        match (&assessed.edit, parse(&self.registry, &assessed.tool, &assessed.arguments)) {
            (Some(hashes), _) => open.map_or(EditState::Unknown, |open| file_state(&open, hashes, mark)),
            (None, Ok(call)) if assessed.effect == EffectClass::Verifiable => {
                open.map_or(EditState::Unknown, |open| call.state(&open))
            }
            (None, _) => EditState::NotAnEdit,
        }
    }
}

fn file_state(workspace: &Workspace, hashes: &EditHashes, mark: &str) -> EditState {
    let Ok(spot) = workspace.resolve(&hashes.path) else { return EditState::Unknown };
    workspace.clean_up(&spot, mark);
    let Ok(content) = workspace.read(&spot) else { return EditState::Unknown };
    let found = content.map(|(content, _)| edit::hash(&content));
    if found.as_ref() == Some(&hashes.after) {
        EditState::Done
    } else if found == hashes.before {
        EditState::NotDone
    } else {
        EditState::Unknown
    }
}
