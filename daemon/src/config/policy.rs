//! `[policy]`: the rules that stand everywhere.

use super::{Problem, error::line_of, sandbox::Asking};
use abide_rules::{Effect, Rule, RuleError, Source, Standing};
use serde::Deserialize;
use std::sync::Arc;
use toml::Spanned;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    deny: Vec<Spanned<String>>,
    ask: Vec<Spanned<String>>,
    allow: Vec<Spanned<String>>,
    /// Whether commands ask that stay in the sandbox.
    pub(super) shell: Option<Asking>,
    /// Whether changes of files ask that can be undone.
    pub(super) edits: Option<Asking>,
}

impl PolicyConfig {
    /// The rules. Those that are none are left out; `check` has refused them.
    #[must_use]
    pub fn rules(&self) -> Vec<Standing> {
        let standing = |effect, text: &Spanned<String>| {
            let rule = Arc::new(parse(text, effect).ok()?);
            Some(Standing { rule, effect, source: Source::Policy })
        };
        self.all().filter_map(|(_, effect, text)| standing(effect, text)).collect()
    }

    pub(super) fn check(&self, file: &str) -> Result<(), Problem> {
        for (key, effect, text) in self.all() {
            if let Err(error) = parse(text, effect) {
                let what = format!("`{}` {error}", text.get_ref().escape_debug());
                let problem = Problem::new(format!("policy.{key}"), what, "correct it, or remove it");
                return Err(Problem { line: Some(line_of(file, &text.span())), ..problem });
            }
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, Effect, &Spanned<String>)> {
        let lists = [
            ("deny", Effect::Deny, &self.deny),
            ("ask", Effect::Ask, &self.ask),
            ("allow", Effect::Allow, &self.allow),
        ];
        lists.into_iter().flat_map(|(key, effect, texts)| texts.iter().map(move |text| (key, effect, text)))
    }
}

fn parse(text: &Spanned<String>, effect: Effect) -> Result<Rule, RuleError> {
    Rule::parse(text.get_ref(), effect)
}
