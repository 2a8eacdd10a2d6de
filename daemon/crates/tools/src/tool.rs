//! The tools: what each is called and takes, what a call of it means, and how it is carried out. Each is a module, and a line in the
//! [`Registry`].

mod create_dir;
mod error;
mod list;
mod patch;
mod read;
mod registry;
mod shell;
mod write;

pub(crate) use error::CallError;
pub(crate) use registry::Registry;
pub(crate) use shell::{Shell, result as shell_result};

use crate::{
    Sandbox,
    edit::{Applied, Edit, Overlay},
    text::escape,
    workspace::{Spot, Workspace},
};
use abide_protocol::{
    record::{EditHashes, EditState},
    transcript::{EffectClass, Risk, Tier, ToolResult, ToolSpec},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use tokio_util::sync::CancellationToken;

/// A tool.
pub(crate) struct Tool {
    /// As models see it.
    spec: ToolSpec,
    parse: Parse,
}

type Parse = Box<dyn Fn(Value) -> Result<Box<dyn Call>, serde_json::Error> + Send + Sync>;

impl Tool {
    /// One whose arguments are read as a `C`.
    fn of<C: Call + DeserializeOwned + 'static>(spec: ToolSpec) -> Self {
        Self { spec, parse: Box::new(|arguments| Ok(Box::new(serde_json::from_value::<C>(arguments)?))) }
    }
}

/// A call whose arguments make sense.
pub(crate) trait Call: Debug + Send {
    /// What it does and to what; not yet fit to be shown.
    fn summary(&self) -> String;

    /// Looks at it before anything runs, and says in `outlook` where this call is not like every other of its tool.
    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError>;

    /// How it is carried out.
    fn work(self: Box<Self>) -> Work;

    /// After a crash: what became of a change that leaves no [`EditHashes`] to compare.
    fn state(&self, _workspace: &Workspace) -> EditState {
        EditState::NotAnEdit
    }
}

/// Where a call is assessed: as if those before it in the same reply had run.
pub(crate) struct Site<'a> {
    pub(crate) workspace: &'a Workspace,
    /// The workspace, as it is named.
    pub(crate) folder: &'a str,
    /// The `PATH` that commands get.
    pub(crate) path: Option<&'a str>,
    pub(crate) overlay: &'a mut Overlay,
}

/// What is expected of a call. It begins as the tool's spec has it.
pub(crate) struct Outlook {
    pub(crate) effect: EffectClass,
    pub(crate) risk: Risk,
    pub(crate) tier: Tier,
    /// What will confine its processes.
    pub(crate) sandbox: Sandbox,
    /// The change of a file.
    pub(crate) edit: Option<Edit>,
}

impl From<&ToolSpec> for Outlook {
    fn from(spec: &ToolSpec) -> Self {
        Self { effect: spec.effect, risk: spec.risk, tier: spec.tier, sandbox: Sandbox::None, edit: None }
    }
}

/// How a call is carried out.
pub(crate) enum Work {
    Look(Look),
    Change(Change),
    /// It runs a command under a helper.
    Command(Shell),
}

/// Work that only looks, and is not waited for longer than it matters: the token is cancelled when it does not any more.
pub(crate) type Look =
    Box<dyn FnOnce(&Workspace, &CancellationToken) -> Result<ToolResult, CallError> + Send>;

/// Work that changes the workspace. Short, and waited for whatever happens, so that it is not left half-way.
pub(crate) type Change = Box<dyn FnOnce(&Workspace, &Proposal) -> Result<ToolResult, CallError> + Send>;

/// A change as it was assessed.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// Of the file before and after.
    pub(crate) edit: Option<EditHashes>,
    /// Names what the attempt leaves on the disk while it works.
    pub(crate) mark: String,
}

impl Proposal {
    fn hashes(&self) -> Result<&EditHashes, CallError> {
        self.edit.as_ref().ok_or(CallError::Unassessed)
    }
}

/// `properties` is the inside of a JSON Schema object.
fn spec(
    name: &str,
    effect: EffectClass,
    description: &str,
    properties: &Value,
    required: &[&str],
) -> ToolSpec {
    let (risk, tier) = match effect {
        EffectClass::Pure | EffectClass::Control => (Risk::Low, Tier::Allow),
        EffectClass::Verifiable => (Risk::Medium, Tier::Ask),
        EffectClass::Unsafe => (Risk::High, Tier::Ask),
    };
    let parameters = serde_json::json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let (name, description) = (name.to_owned(), description.to_owned());
    ToolSpec { name, description, parameters: parameters.into(), effect, risk, tier }
}

/// `src/main.rs written`
fn applied(spot: &Spot, done: &str, applied: Applied) -> String {
    let path = escape(&spot.relative.to_string_lossy());
    match applied {
        Applied::Written => format!("{path} {done}"),
        Applied::Already => format!("{path} is already as it should become"),
    }
}

/// `1 line`, `2 lines`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
