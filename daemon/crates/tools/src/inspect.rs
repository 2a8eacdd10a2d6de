//! After a restart: finds out the effects of a call that was started and has no result.

use crate::{
    EditState, Inspection, SandboxSettings,
    assess::parse,
    command::SpoolFiles,
    edit,
    guard::Aside,
    process,
    run::{CallRunner, mark},
    sandbox::Sandbox,
    workspace::Workspace,
};
use abide_protocol::{
    CallId, ConversationId,
    record::{CallAssessed, EditHashes},
    transcript::EffectClass,
};
use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

/// How long a helper has to end its tree after its daemon is gone. Then this daemon kills the tree.
const PATIENCE: Duration = Duration::from_secs(2);

impl CallRunner {
    pub(crate) fn inspect(
        &self,
        conversation: ConversationId,
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
        let mut output = files.output();
        if let (Some(begun), true) = (files.noted_at(), assessed.sandbox != Sandbox::NONE.name()) {
            for words in
                self.set_aside_since(begun, workspace, self.planner.private.aside(conversation, call))
            {
                output.push_str(&words);
                output.push('\n');
            }
        }
        self.guard.running.is_looked_at(call);
        Inspection { output, edit }
    }

    /// Sets aside what a command that began at `begun` has left for others to run. Returns words about each
    /// thing.
    fn set_aside_since(&self, begun: SystemTime, workspace: &str, folder: PathBuf) -> Vec<String> {
        let Ok(workspace) = self.workspace(workspace) else { return Vec::new() };
        let scene = self.planner.scene(&workspace, &SandboxSettings::default());
        let aside = Aside { folder, workspace: scene.workspace.clone() };
        self.guard.after_crash(&scene, begun, &aside)
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
    let found = content.map(|found| edit::hash(&found.content));
    if found.as_ref() == Some(&hashes.after) {
        EditState::Done
    } else if found == hashes.before {
        EditState::NotDone
    } else {
        EditState::Unknown
    }
}
