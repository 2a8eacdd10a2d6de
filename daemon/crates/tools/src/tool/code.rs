//! `code`: the file tools under one name. A call of it is assessed, approved and carried out as a call of the
//! tool of its action; only the model's request knows it as `code`.

use super::{Call, Tool, create_dir, list, patch, read, spec, write};
use abide_protocol::transcript::EffectClass;
use serde::de::Error as _;
use serde_json::{Map, Value, json};

const NAME: &str = "code";

/// What `list` calls `glob`.
const PATTERN: &str = "pattern";

/// The arguments are those of all the file tools.
pub(super) fn tool() -> Tool {
    let tools = [read::tool(), write::tool(), patch::tool(), list::tool(), create_dir::tool()];
    let actions: Vec<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
    let mut properties = Map::from_iter([
        ("action".to_owned(), json!({ "enum": actions, "description": "What to do." })),
        (
            "path".to_owned(),
            json!({ "type": "string", "description": "A file or a folder in the workspace." }),
        ),
    ]);
    for tool in &tools {
        let schema = tool.spec.parameters.value();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let name = if name == "glob" { PATTERN } else { name };
            properties.entry(name).or_insert_with(|| property.clone());
        }
    }
    let description = "Works with the files of the workspace. `read` {path, offset, limit}: a text file, whole or from a line on. \
                       `write` {path, content}: creates or replaces a file. `patch` {path, old, new, all}: replaces a piece of \
                       a file. `list` {path, pattern}: a folder, or what beneath it matches. `create_dir` {path}: creates a folder.";
    let spec = spec(NAME, EffectClass::Verifiable, description, &properties.into(), &["action"]);
    let parse = |_| Err::<Box<dyn Call>, _>(serde_json::Error::custom("`code` is called by its actions"));
    Tool { spec, needs: None, parse: Box::new(parse) }
}

/// The file tool that a call of `code` stands for; `arguments` become those of the file tool. `None`: the call
/// names another tool than `code`, or no action.
pub(crate) fn resolve(name: &str, arguments: &mut Value) -> Option<String> {
    let fields = arguments.as_object_mut().filter(|_| name == NAME)?;
    let action = fields.remove("action")?.as_str()?.to_owned();
    if action == "list"
        && let Some(pattern) = fields.remove(PATTERN)
    {
        fields.insert("glob".to_owned(), pattern);
    }
    Some(action)
}
