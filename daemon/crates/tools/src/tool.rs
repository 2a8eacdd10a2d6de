//! The tools: what each is called and takes, what a call of it means, and carrying it out.

mod create_dir;
mod list;
mod patch;
mod read;
mod shell;
mod write;

pub(crate) use create_dir::CreateDir;
pub(crate) use list::List;
pub(crate) use patch::{Patch, PatchError};
pub(crate) use read::Read;
pub(crate) use shell::{Shell, ShellError, result as shell_result};
pub(crate) use write::Write;

use abide_protocol::transcript::{EffectClass, Risk, Tier, ToolSpec};
use serde_json::Value;

/// A call whose arguments make sense.
#[derive(Debug)]
pub(crate) enum Call {
    Shell(Shell),
    Read(Read),
    Write(Write),
    Patch(Patch),
    List(List),
    CreateDir(CreateDir),
}

impl Call {
    /// `None`: there is no such tool here.
    pub(crate) fn parse(tool: &str, arguments: Value) -> Option<Result<Self, serde_json::Error>> {
        use serde_json::from_value;
        Some(match tool {
            shell::NAME => from_value(arguments).map(Self::Shell),
            read::NAME => from_value(arguments).map(Self::Read),
            write::NAME => from_value(arguments).map(Self::Write),
            patch::NAME => from_value(arguments).map(Self::Patch),
            list::NAME => from_value(arguments).map(Self::List),
            create_dir::NAME => from_value(arguments).map(Self::CreateDir),
            _ => return None,
        })
    }

    /// What it does and to what; not yet fit to be shown.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Shell(call) => call.summary(),
            Self::Read(call) => call.summary(),
            Self::Write(call) => call.summary(),
            Self::Patch(call) => call.summary(),
            Self::List(call) => call.summary(),
            Self::CreateDir(call) => call.summary(),
        }
    }
}

/// All tools, in the order in which models see them.
pub(crate) fn specs() -> Vec<ToolSpec> {
    vec![shell::spec(), read::spec(), write::spec(), patch::spec(), list::spec(), create_dir::spec()]
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

/// `1 line`, `2 lines`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spec_has_its_call() {
        for spec in specs() {
            let unknown = serde_json::json!({});
            assert!(Call::parse(&spec.name, unknown).is_some(), "{}", spec.name);
            assert!(jsonschema::validator_for(&spec.parameters.value()).is_ok(), "{}", spec.name);
        }
    }
}
