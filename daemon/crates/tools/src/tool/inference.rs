//! `inference`: asks a model beside the task's own steps. The daemon asks; nothing here knows a model.

use super::{Call, CallError, Outlook, Site, Tool, Work, counted, spec};
use abide_protocol::{
    record::CallAssessed,
    transcript::{EffectClass, INFERENCE},
};
use serde::Deserialize;
use serde_json::json;

/// The most texts of an `embed`.
const MAX_TEXTS: usize = 32;
/// The most characters of each of them, and of a prompt.
const MAX_TEXT: usize = 10_000;
const MAX_PROMPT: usize = 100_000;

/// What a call of `inference` asks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Inference {
    /// A reply to this prompt alone.
    Complete { prompt: String },
    /// A plan for this request, as data.
    Plan { prompt: String },
    /// How near each text is in meaning to each other one.
    Embed {
        texts: Vec<String>,
        /// Their vectors, too.
        #[serde(default)]
        vectors: bool,
    },
}

/// The tool by one of its names.
pub(super) fn tool(name: &str) -> Tool {
    let properties = json!({
        "action": { "enum": ["complete", "plan", "embed"], "description": "What to ask for." },
        "prompt": { "type": "string", "minLength": 1, "maxLength": MAX_PROMPT,
            "description": "For `complete` and `plan`: all that the model is told." },
        "texts": { "type": "array", "minItems": 1, "maxItems": MAX_TEXTS,
            "items": { "type": "string", "minLength": 1, "maxLength": MAX_TEXT }, "description": "For `embed`." },
        "vectors": { "type": "boolean", "description": "For `embed`: return the vectors, too." },
    });
    let description = "Asks a model beside your own work. It knows nothing of this task, has no tools, and counts in the task's budget. \
                       `complete` {prompt}: its reply. `plan` {prompt}: a plan with calls of your tools; nothing of it is carried out. \
                       `embed` {texts, vectors}: how near the texts are in meaning.";
    Tool::of::<Inference>(spec(name, EffectClass::Pure, description, &properties, &["action"]))
}

impl Call for Inference {
    fn summary(&self) -> String {
        match self {
            Self::Complete { prompt } => format!("ask the model: {prompt}"),
            Self::Plan { prompt } => format!("ask the model for a plan: {prompt}"),
            Self::Embed { texts, .. } => {
                format!("compare {} in meaning", counted(texts.len(), "text", "texts"))
            }
        }
    }

    fn assess(&self, _: &mut Site<'_>, _: &mut Outlook) -> Result<(), CallError> {
        let (name, mut texts) = match self {
            Self::Complete { prompt } | Self::Plan { prompt } => {
                ("prompt", std::slice::from_ref(prompt).iter())
            }
            Self::Embed { texts, .. } => ("texts", texts.iter()),
        };
        if texts.any(|text| text.trim().is_empty()) {
            return Err(CallError::Blank(name));
        }
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Elsewhere
    }
}

/// What a call asks a model; `None`: it is a call of another tool than `inference`.
#[must_use]
pub fn inference(call: &CallAssessed) -> Option<Inference> {
    let is_inference = INFERENCE.contains(&call.tool.as_str());
    is_inference.then(|| serde_json::from_str(&call.arguments).ok()).flatten()
}
