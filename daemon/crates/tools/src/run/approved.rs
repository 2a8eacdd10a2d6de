//! Whether what was approved is what would run.

use super::{CallRunner, command::Ordered};
use crate::{
    assess::parse,
    edit::Overlay,
    named::{Ground, Named},
    sandbox::{Network, Sandbox},
};
use abide_protocol::{record::Permission, sandbox::SandboxLevel};
use std::sync::Arc;

impl CallRunner {
    /// Why a command that leaves the sandbox must not start: a file that the command names has changed since
    /// the person was asked. Call this as late as possible, because later changes go unnoticed.
    pub(super) async fn not_as_approved(self: &Arc<Self>, ordered: &Ordered) -> Option<String> {
        let assessed = &ordered.run.assessed;
        let sandbox = Sandbox::named(&assessed.sandbox).filter(|sandbox| sandbox.network == Network::Host)?;
        // Nobody has looked at a call that `--yes` allowed.
        if !matches!(assessed.permission, Permission::Ask | Permission::Rule) {
            return None;
        }
        let (runner, ordered) = (Arc::clone(self), ordered.clone());
        let looked = tokio::task::spawn_blocking(move || runner.difference(&ordered, sandbox)).await;
        let difference = looked
            .unwrap_or_else(|error| Some(format!("the files that it names cannot be looked at: {error}")))?;
        Some(format!(
            "{difference}; nothing ran. If the call is still right, make it again, alone: the user is asked again"
        ))
    }

    /// Blocking.
    fn difference(&self, ordered: &Ordered, sandbox: Sandbox) -> Option<String> {
        let Ordered { run, sandbox: settings, .. } = ordered;
        let call = parse(&self.registry, &run.assessed.tool, &run.assessed.arguments).ok()?;
        if call.outside().is_none() && sandbox.level == SandboxLevel::None {
            return None;
        }
        let workspace = match self.workspace(&run.workspace) {
            Ok(workspace) => workspace,
            Err(error) => return Some(error.to_string()),
        };
        let ground = Ground {
            workspace: &workspace,
            settings,
            planner: &self.planner,
            path: run.environment.get("PATH").map(String::as_str),
            sandbox,
            overlay: &Overlay::default(),
        };
        Named::of(&*call, &ground).differ(&run.assessed.files)
    }
}
