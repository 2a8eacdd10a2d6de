//! The tools: their names, arguments, assessment and work. A tool is a module, and a line in the
//! [`Registry`].

mod code;
mod command;
mod create_dir;
mod error;
mod list;
mod patch;
mod python;
mod read;
mod recall;
mod registry;
mod shell;
mod write;

pub(crate) use code::resolve;
pub(crate) use command::{
    Command, Program, maybe_limited, maybe_refused, maybe_unattended, result as command_result,
};
pub(crate) use error::CallError;
pub use recall::recall_query;
pub(crate) use registry::Registry;

use crate::{
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
    /// The specification that models get.
    spec: ToolSpec,
    /// The tool is offered where this program is on the `PATH`.
    needs: Option<&'static str>,
    parse: Parse,
}

type Parse = Box<dyn Fn(Value) -> Result<Box<dyn Call>, serde_json::Error> + Send + Sync>;

impl Tool {
    /// A tool whose arguments are parsed as a `C`.
    fn of<C: Call + DeserializeOwned + 'static>(spec: ToolSpec) -> Self {
        let parse: Parse = Box::new(|arguments| Ok(Box::new(serde_json::from_value::<C>(arguments)?)));
        Self { spec, needs: None, parse }
    }

    /// The tool is offered only where this program is on the `PATH`.
    fn needing(self, program: &'static str) -> Self {
        Self { needs: Some(program), ..self }
    }
}

/// A call with valid arguments.
pub(crate) trait Call: Debug + Send {
    /// What the call does, in one line; not yet escaped.
    fn summary(&self) -> String;

    /// What rules judge.
    fn subject(&self) -> Subject<'_> {
        Subject::Nothing
    }

    /// The folder in which the call's command runs, as the model names it; `None`: the workspace.
    fn working_dir(&self) -> Option<&str> {
        None
    }

    /// Why the call's command must leave the sandbox, in the words of the model; `None`: it need not.
    fn outside(&self) -> Option<&str> {
        None
    }

    /// Assesses the call before anything runs. Sets what differs from the tool's spec in `outlook`.
    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError>;

    /// The work to run.
    fn work(self: Box<Self>) -> Work;

    /// After a crash: the state of a change without [`EditHashes`] to compare.
    fn state(&self, _workspace: &Workspace) -> EditState {
        EditState::NotAnEdit
    }
}

/// What rules judge about a call. Paths are those of the model.
pub(crate) enum Subject<'a> {
    Nothing,
    /// A command line.
    Line(&'a str),
    /// Code that a program runs.
    Code,
    /// A file that is read, or a folder that is listed.
    Read(&'a str),
    /// A file that is changed, or a folder that is created.
    Edit(&'a str),
}

/// The place where a call is assessed, as if the calls before it in the same reply had run.
pub(crate) struct Site<'a> {
    pub(crate) workspace: &'a Workspace,
    /// The workspace's path, as the task names it.
    pub(crate) folder: &'a str,
    /// The `PATH` that commands get.
    pub(crate) path: Option<&'a str>,
    pub(crate) overlay: &'a mut Overlay,
}

/// The effect, risk and so on that are expected of a call; at first those of the tool's spec.
pub(crate) struct Outlook {
    pub(crate) effect: EffectClass,
    pub(crate) risk: Risk,
    pub(crate) tier: Tier,
    /// The file's change, if it is an edit.
    pub(crate) edit: Option<Edit>,
}

impl From<&ToolSpec> for Outlook {
    fn from(spec: &ToolSpec) -> Self {
        Self { effect: spec.effect, risk: spec.risk, tier: spec.tier, edit: None }
    }
}

/// The work of a call.
pub(crate) enum Work {
    Look(Look),
    Change(Change),
    /// A command under a helper.
    Command(Command),
    /// It needs what only the daemon has, which carries it out itself.
    Elsewhere,
}

/// Work that only reads. When the call is cancelled or takes too long, the work's token is cancelled, and
/// nobody waits for it.
pub(crate) type Look =
    Box<dyn FnOnce(&Workspace, &CancellationToken) -> Result<ToolResult, CallError> + Send>;

/// Short work that changes the workspace. It is always waited for, so that nothing is left half done.
pub(crate) type Change = Box<dyn FnOnce(&Workspace, &Proposal) -> Result<ToolResult, CallError> + Send>;

/// The change that was assessed.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// Hashes of the file before and after.
    pub(crate) edit: Option<EditHashes>,
    /// The name of the attempt's temporary file.
    pub(crate) mark: String,
}

impl Proposal {
    fn hashes(&self) -> Result<&EditHashes, CallError> {
        self.edit.as_ref().ok_or(CallError::Unassessed)
    }
}

/// `properties` is the content of the schema's `properties` object.
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
        Applied::Already => format!("{path} already has the new content"),
    }
}

/// `1 line`, `2 lines`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
