//! Looking at calls before anything runs: do they make sense, what would they change, may they.

mod error;
mod permission;
mod risk;
mod schemas;

pub(crate) use error::CallError;
pub(crate) use schemas::Schemas;

use crate::{
    Scope,
    edit::{self, Edit, Overlay},
    text::one_line,
    tool::{Call, Patch, Write},
    workspace::{Closed, PathError, Workspace},
};
use abide_protocol::{
    JsonText,
    inbox::Rule,
    record::{CallAssessed, Permission},
    transcript::{CallBlock, EffectClass, Risk, Tier, ToolSpec},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// A summary is no longer than this, in characters.
const SUMMARY: usize = 120;

/// Assesses the calls of one reply, each as if those before it had run.
pub(crate) struct Assessor<'a> {
    scope: &'a Scope<'a>,
    schemas: &'a Schemas,
    closed: Arc<Closed>,
    /// Opened when a call needs it: control calls do not.
    workspace: Option<Workspace>,
    overlay: Overlay,
}

impl<'a> Assessor<'a> {
    pub(crate) fn new(scope: &'a Scope<'a>, schemas: &'a Schemas, closed: Arc<Closed>) -> Self {
        Self { scope, schemas, closed, workspace: None, overlay: Overlay::default() }
    }

    pub(crate) fn assess(&mut self, block: &CallBlock) -> CallAssessed {
        let spec = self.scope.allowed.iter().find(|spec| spec.name == block.tool);
        let mut assessed = CallAssessed {
            call_id: block.id,
            tool: block.tool.clone(),
            arguments: block.arguments.clone(),
            summary: one_line(&format!("{} {}", block.tool, block.arguments), SUMMARY),
            effect: spec.map_or(EffectClass::Pure, |spec| spec.effect),
            risk: spec.map_or(Risk::Low, |spec| spec.risk),
            preview: None,
            edit: None,
            digest: digest(&block.tool, &block.arguments, self.scope.workspace),
            permission: Permission::Tier,
        };
        assessed.permission = self
            .consider(spec, block, &mut assessed)
            .unwrap_or_else(|error| Permission::Denied(error.to_string()));
        assessed
    }

    fn consider(
        &mut self,
        spec: Option<&ToolSpec>,
        block: &CallBlock,
        assessed: &mut CallAssessed,
    ) -> Result<Permission, CallError> {
        let Some(spec) = spec else { return Err(CallError::unknown(&block.tool, self.scope.allowed)) };
        let arguments = arguments(&block.arguments)?;
        self.schemas.check(spec, &arguments)?;
        if spec.effect == EffectClass::Control {
            assessed.summary = one_line(&control_summary(&block.tool, &arguments), SUMMARY);
            return Ok(Permission::Tier);
        }
        let call = typed(&block.tool, arguments)?;
        assessed.summary = one_line(&call.summary(), SUMMARY);
        let (edit, is_broad) = self.look(&call)?;
        if let Call::Shell(shell) = &call {
            let ground = risk::Ground { workspace: self.scope.workspace, path: self.scope.path, is_broad };
            assessed.risk = risk::of(&shell.command, &ground);
        }
        if let Some(edit) = edit {
            assessed.preview = Some(Box::new(edit::preview(&edit)));
            assessed.edit = Some(edit.hashes());
            self.overlay.write(&edit.spot, edit.after);
        }
        let tier = if is_broad { Tier::Ask } else { spec.tier };
        let remembered = (self.scope.remembered)(&rule(block, self.scope.workspace));
        Ok(permission::decide(remembered, self.scope.approvals, tier))
    }

    /// What the call would change, and whether the workspace is one where everything asks.
    fn look(&mut self, call: &Call) -> Result<(Option<Edit>, bool), CallError> {
        let workspace = match self.workspace.take() {
            Some(workspace) => workspace,
            None => Workspace::open(self.scope.workspace, Arc::clone(&self.closed))?,
        };
        let workspace = &*self.workspace.insert(workspace);
        let edit = match call {
            Call::Shell(shell) => {
                shell.check()?;
                if let Some(dir) = &shell.working_dir {
                    workspace.resolve(dir)?;
                }
                None
            }
            Call::Read(read) => {
                workspace.resolve(&read.path)?;
                None
            }
            Call::List(list) => {
                list.matcher()?;
                workspace.resolve(list.path())?;
                None
            }
            Call::Write(write) => Some(edit_by_write(workspace, &self.overlay, write)?),
            Call::Patch(patch) => Some(edit_by_patch(workspace, &self.overlay, patch)?),
            Call::CreateDir(create) => {
                self.overlay.create_folder(&workspace.resolve(&create.path)?)?;
                None
            }
        };
        Ok((edit, workspace.is_broad()))
    }
}

fn edit_by_write(workspace: &Workspace, overlay: &Overlay, write: &Write) -> Result<Edit, PathError> {
    let spot = workspace.resolve(&write.path)?;
    let before = overlay.content(workspace, &spot)?;
    Ok(Edit { spot, before, after: write.content.clone().into_bytes() })
}

fn edit_by_patch(workspace: &Workspace, overlay: &Overlay, patch: &Patch) -> Result<Edit, CallError> {
    let spot = workspace.resolve(&patch.path)?;
    let before = overlay.content(workspace, &spot)?;
    let after = patch.apply(before.as_deref())?;
    Ok(Edit { spot, before, after })
}

/// A call that was assessed before.
pub(crate) fn parse(tool: &str, arguments: &str) -> Result<Call, CallError> {
    typed(tool, self::arguments(arguments)?)
}

fn typed(tool: &str, arguments: Value) -> Result<Call, CallError> {
    Call::parse(tool, arguments)
        .ok_or_else(|| CallError::NotHere(tool.to_owned()))?
        .map_err(|error| CallError::Arguments(error.to_string()))
}

/// A call's arguments. Models send nothing at all where nothing is needed.
fn arguments(text: &str) -> Result<Value, CallError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|error| CallError::NotJson(error.to_string()))?;
    if value.is_object() { Ok(value) } else { Err(CallError::NotAnObject) }
}

/// What a person's "always" about this call is about.
fn rule(block: &CallBlock, workspace: &str) -> Rule {
    let arguments = JsonText::parse(block.arguments.clone()).unwrap_or_else(|_| JsonText::empty());
    Rule { tool: block.tool.clone(), arguments, workspace: workspace.to_owned() }
}

/// Each part with its length before it, so that no two calls have the same text.
fn digest(tool: &str, arguments: &str, workspace: &str) -> String {
    let mut hash = Sha256::new();
    for part in [tool, arguments, workspace] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tool and the first text among its arguments.
fn control_summary(tool: &str, arguments: &Value) -> String {
    let text = arguments.as_object().and_then(|fields| fields.values().find_map(Value::as_str));
    text.map_or_else(|| tool.to_owned(), |text| format!("{tool}: {text}"))
}
