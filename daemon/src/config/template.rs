//! Templates of tasks: a prompt with a place for the message, and settings that go with it.

use abide_engine::prompt::template::{self, Value};
use abide_protocol::task::{LimitsRequest, Mode};
use serde::Deserialize;

/// The name of the message's place in the prompt, in braces.
const INPUT: &str = "input";

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateConfig {
    pub prompt: String,
    pub persona: Option<String>,
    pub mode: Option<Mode>,
    /// `None`: the persona's, else all tools.
    pub tools: Option<Vec<String>>,
    #[serde(default)]
    pub limits: TemplateLimits,
}

/// The limits of a template's tasks; 0 means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateLimits {
    pub max_steps: Option<u32>,
    pub max_duration_secs: Option<u64>,
    pub step_delay_ms: Option<u64>,
    pub max_tokens: Option<u64>,
    pub max_cost_micros: Option<u64>,
    pub question_timeout_secs: Option<u64>,
    pub max_depth: Option<u32>,
    pub max_children: Option<u32>,
    pub max_tasks: Option<u32>,
}

impl From<TemplateLimits> for LimitsRequest {
    fn from(limits: TemplateLimits) -> Self {
        Self {
            max_steps: limits.max_steps,
            max_duration_secs: limits.max_duration_secs,
            step_delay_ms: limits.step_delay_ms,
            max_tokens: limits.max_tokens,
            max_cost_micros: limits.max_cost_micros,
            question_timeout_secs: limits.question_timeout_secs,
            max_depth: limits.max_depth,
            max_children: limits.max_children,
            max_tasks: limits.max_tasks,
        }
    }
}

impl TemplateConfig {
    /// Whether the message has a place in the prompt.
    pub(super) fn takes_input(&self) -> bool {
        self.prompt.contains(&format!("{{{INPUT}}}"))
    }

    /// The prompt with the message in its place.
    #[must_use]
    pub fn fill(&self, message: &str) -> String {
        template::fill_whole(&self.prompt, &[Value { name: INPUT, text: message }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_takes_the_place_of_input_and_is_not_searched_again() {
        let template = TemplateConfig {
            prompt: "Review {input} as {\"json\"}.".to_owned(),
            ..TemplateConfig::default()
        };
        let long = format!("{{input}} {}", "x".repeat(10_000));
        assert_eq!(template.fill(&long), format!("Review {long} as {{\"json\"}}."));
    }
}
