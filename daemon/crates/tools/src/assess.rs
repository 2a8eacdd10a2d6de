//! Assesses calls before anything runs: are they valid, what would they change, may they run.

mod bounds;
mod built_in;
mod explain;
mod outlook;
mod permission;
mod ruling;
mod schema;

#[cfg(test)]
pub(crate) use schema::faults;

use bounds::{Bounds, CallContext};
use ruling::{Programs, Ruling};

use crate::{
    Checkpoints, Scope,
    edit::{self, Edit, Overlay},
    named::{Ground, Named},
    run::CallRunner,
    sandbox::Sandbox,
    text::one_line,
    tool::{Call, CallError, Outlook, Registry, Site, Subject, resolve},
    workspace::Workspace,
};
use abide_protocol::{
    JsonText,
    inbox::{Rule, WiderRule},
    record::{CallAssessed, Permission},
    transcript::{CallBlock, EffectClass, Risk, Tier, ToolSpec},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::cell::OnceCell;

/// The longest summary, in characters.
const SUMMARY: usize = 120;

/// Assesses the calls of one reply, each as if the calls before it had run.
pub(crate) struct Assessor<'a> {
    scope: &'a Scope<'a>,
    runner: &'a CallRunner,
    checkpoints: &'a Checkpoints,
    /// The workspace, opened when the first call needs it. Control calls do not.
    workspace: Option<Workspace>,
    overlay: Overlay,
}

impl<'a> Assessor<'a> {
    pub(crate) fn new(scope: &'a Scope<'a>, runner: &'a CallRunner, checkpoints: &'a Checkpoints) -> Self {
        Self { scope, runner, checkpoints, workspace: None, overlay: Overlay::default() }
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
            sandbox: Sandbox::NONE.name().to_owned(),
            rule: None,
            direct: None,
            wider: Vec::new(),
            why: None,
            in_passing: false,
            files: Vec::new(),
            only_once: None,
            for_task: false,
            notes: Vec::new(),
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
        let mut arguments = arguments(&block.arguments)?;
        schema::check(spec, &arguments)?;
        if spec.effect == EffectClass::Control {
            assessed.summary = one_line(&control_summary(&block.tool, &arguments), SUMMARY);
            return Ok(Permission::Tier);
        }
        let spec = match resolve(&spec.name, &mut arguments) {
            Some(real) => self.becomes(&real, &arguments, assessed)?,
            None => spec,
        };
        let call = self.runner.registry.parse(&spec.name, arguments.clone())?;
        assessed.summary = one_line(&call.summary(), SUMMARY);
        let Looked { outlook, ruling, sandbox, bounds, named, is_ordinary, is_broad } =
            self.look(spec, &*call)?;
        let must_leave = matches!(call.subject(), Subject::Line(_))
            && call.outside().is_none()
            && sandbox == Sandbox::NONE
            && matches!(bounds, Bounds::Leaves(_));
        // A remembered denial of the unmarked call still counts.
        let refused = must_leave.then(|| self.remembered(assessed)).flatten().filter(|allows| !allows);
        if must_leave {
            // From here on the call counts as marked to leave. Decisions about it are decisions about
            // leaving.
            arguments["outside"] = Value::Bool(true);
            assessed.arguments = arguments.to_string();
            assessed.digest = digest(&spec.name, &assessed.arguments, self.scope.workspace);
        }
        let Outlook { effect, risk, tier, edit } = outlook;
        (assessed.effect, assessed.risk) = (effect, risk);
        // A call that leaves the sandbox is never of low risk, so nobody approves it in passing.
        if matches!(bounds, Bounds::Leaves(_)) {
            assessed.risk = risk.max(Risk::Medium);
        }
        sandbox.name().clone_into(&mut assessed.sandbox);
        if let Some(edit) = edit {
            assessed.preview = Some(Box::new(edit::preview(&edit)));
            assessed.edit = Some(edit.hashes());
            self.overlay.write(edit);
        }
        let tier = if is_broad { Tier::Ask } else { tier };
        // A remembered permission does not cover content that may have changed.
        let remembered = refused.or_else(|| self.remembered(assessed));
        let remembered = remembered.filter(|allows| !allows || named.only_once.is_none());
        assessed.rule = ruling.rule().map(str::to_owned);
        let approvals = self.scope.approvals.of_call(matches!(call.subject(), Subject::Edit(_)));
        let permission = permission::decide(remembered, &ruling, approvals, tier, &bounds);
        if permission == Permission::Ask {
            (assessed.files, assessed.only_once) = (named.files, named.only_once);
            if !matches!(bounds, Bounds::Leaves(_)) {
                assessed.wider = self.offers(&*call);
            }
            // A person who approves in passing reads only the summary.
            let is_told = is_ordinary && one_line(&call.summary(), 2 * SUMMARY) == assessed.summary;
            assessed.in_passing = is_told
                && !is_broad
                && assessed.risk < Risk::High
                && !ruling.may_deny()
                && bounds.are_kept(sandbox, &call.subject());
            assessed.for_task =
                matches!(bounds, Bounds::CannotUndo(_)) && !matches!(ruling, Ruling::Asks { .. });
            let why: Vec<String> = ruling.why().map(str::to_owned).into_iter().chain(bounds.why()).collect();
            assessed.why = (!why.is_empty()).then(|| why.join("; "));
        }
        if let (Permission::Rule, None, Ruling::Allowed { direct, .. }) = (&permission, remembered, ruling) {
            assessed.direct = direct;
        }
        Ok(permission)
    }

    /// From here on the call is one of the tool of this name. The model's request keeps what it has written.
    fn becomes(
        &self,
        real: &str,
        arguments: &Value,
        assessed: &mut CallAssessed,
    ) -> Result<&'a ToolSpec, CallError> {
        let spec = self.runner.registry.spec(real)?;
        (assessed.tool, assessed.arguments) = (spec.name.clone(), arguments.to_string());
        assessed.digest = digest(&spec.name, &assessed.arguments, self.scope.workspace);
        (assessed.effect, assessed.risk) = (spec.effect, spec.risk);
        assessed.summary = one_line(&format!("{} {}", spec.name, assessed.arguments), SUMMARY);
        schema::check(spec, arguments)?;
        Ok(spec)
    }

    /// A person's remembered decision on the call.
    fn remembered(&self, call: &CallAssessed) -> Option<bool> {
        let arguments = JsonText::parse(call.arguments.clone()).unwrap_or_else(|_| JsonText::empty());
        let rule = Rule::of(&call.tool, &arguments, self.scope.workspace);
        (self.scope.remembered)(&rule)
    }

    /// The rules that an approval of the call offers, as far as they would allow the call.
    fn offers(&self, call: &dyn Call) -> Vec<WiderRule> {
        let Some(workspace) = &self.workspace else { return Vec::new() };
        let programs = Programs { path: self.scope.path, workspace, writable: &self.scope.sandbox.writable };
        ruling::offers(call, &programs)
    }

    fn look(&mut self, spec: &ToolSpec, call: &dyn Call) -> Result<Looked, CallError> {
        let workspace = match self.workspace.take() {
            Some(workspace) => workspace,
            None => self.runner.workspace(self.scope.workspace)?,
        };
        let workspace = &*self.workspace.insert(workspace);
        let mut site = Site {
            workspace,
            folder: self.scope.workspace,
            path: self.scope.path,
            overlay: &mut self.overlay,
        };
        let mut outlook = Outlook::from(spec);
        call.assess(&mut site, &mut outlook)?;
        let programs = Programs { path: self.scope.path, workspace, writable: &self.scope.sandbox.writable };
        let ruling = Ruling::of(self.scope.rules, call, &programs)?;
        let place = CallContext {
            workspace,
            settings: self.scope.sandbox,
            runner: self.runner,
            checkpoints: self.checkpoints,
            path: self.scope.path,
            repository: OnceCell::new(),
        };
        let why_it_asks = outlook.edit.as_ref().and_then(Edit::why_it_asks);
        let is_ordinary = why_it_asks.is_none();
        let (sandbox, bounds) = place.of(call, why_it_asks);
        let named = match bounds {
            Bounds::Leaves(_) => Named::of(
                call,
                &Ground {
                    workspace,
                    settings: self.scope.sandbox,
                    planner: &self.runner.planner,
                    path: self.scope.path,
                    sandbox,
                    overlay: &self.overlay,
                },
            ),
            _ => Named::default(),
        };
        let is_broad = workspace.is_broad();
        Ok(Looked { outlook, ruling, sandbox, bounds, named, is_ordinary, is_broad })
    }
}

/// What was found out about a call.
struct Looked {
    outlook: Outlook,
    ruling: Ruling,
    sandbox: Sandbox,
    bounds: Bounds,
    named: Named,
    /// The call is not an edit that asks because of its file.
    is_ordinary: bool,
    /// The workspace is so broad that even reading needs approval.
    is_broad: bool,
}

/// Parses a call that was assessed before.
pub(crate) fn parse(registry: &Registry, tool: &str, text: &str) -> Result<Box<dyn Call>, CallError> {
    registry.parse(tool, arguments(text)?)
}

/// A call's arguments; empty text is an empty object, as models send it.
fn arguments(text: &str) -> Result<Value, CallError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value: Value = serde_json::from_str(text).map_err(|error| CallError::NotJson(error.to_string()))?;
    if value.is_object() { Ok(value) } else { Err(CallError::NotAnObject) }
}

/// Each part follows its length, so that no two different calls give the same text.
fn digest(tool: &str, arguments: &str, workspace: &str) -> String {
    let mut hash = Sha256::new();
    for part in [tool, arguments, workspace] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tool's name and the first text among its arguments.
fn control_summary(tool: &str, arguments: &Value) -> String {
    let text = arguments.as_object().and_then(|fields| fields.values().find_map(Value::as_str));
    text.map_or_else(|| tool.to_owned(), |text| format!("{tool}: {text}"))
}
