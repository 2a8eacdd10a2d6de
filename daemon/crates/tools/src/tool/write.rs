use abide_protocol::transcript::{EffectClass, ToolSpec};
use serde::Deserialize;
use serde_json::json;

pub(super) const NAME: &str = "write";

#[derive(Debug, Deserialize)]
pub(crate) struct Write {
    pub(crate) path: String,
    pub(crate) content: String,
}

pub(super) fn spec() -> ToolSpec {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A file in the workspace; its folder must exist."},
        "content": {"type": "string", "description": "The whole content."},
    });
    let description = "Creates a file in the workspace, or replaces the whole of one. To change a part of a file, use patch.";
    super::spec(NAME, EffectClass::Verifiable, description, &properties, &["path", "content"])
}

impl Write {
    pub(super) fn summary(&self) -> String {
        format!("write {} ({})", self.path, self.size())
    }

    pub(crate) fn size(&self) -> String {
        super::counted(self.content.lines().count(), "line", "lines")
    }
}
