//! Providers, their models, and the default model.

use crate::output::{
    measure,
    style::{BAD, FAINT, GOOD, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{
    method::daemon::CheckModelReply,
    provider::{DefaultModel, KeyState, ProviderInfo},
};
use std::fmt::Write as _;

/// Some providers list hundreds; `--json` prints them all.
const MAX_MODELS: usize = 12;

/// The default model, and why.
pub(crate) fn default(default: &DefaultModel) -> String {
    format!(
        "Default: {} {}\n",
        paint(STRONG, &text::one_line(&default.model)),
        paint(FAINT, &format!("({})", text::one_line(&default.why)))
    )
}

/// The result of checking a model.
pub(crate) fn answers(reply: &CheckModelReply) -> String {
    let model = text::one_line(&reply.model);
    format!(
        "{} {} {}\n",
        paint(STRONG, &model),
        paint(GOOD, "answers"),
        paint(FAINT, &format!("(after {})", measure::took(reply.took_ms)))
    )
}

pub(crate) fn provider(provider: &ProviderInfo) -> String {
    let mut out = String::new();
    let (key, style) = match provider.key {
        KeyState::NotNeeded => ("no key needed", PLAIN),
        KeyState::Present => ("has a key", GOOD),
        KeyState::Missing => ("no key", BAD),
    };
    let from = [&provider.api, &provider.base_url, &provider.source].map(|s| text::one_line(s));
    let from = from.iter().filter(|s| !s.is_empty()).cloned().collect::<Vec<_>>().join(" · ");
    let name = text::one_line(&provider.name);
    let _ = writeln!(out, "\n{}  {}  {}", paint(STRONG, &name), paint(style, key), paint(FAINT, &from));
    for model in provider.models.iter().take(MAX_MODELS) {
        let _ = writeln!(out, "  {}", text::one_line(model));
    }
    if let Some(more) = provider.models.len().checked_sub(MAX_MODELS).filter(|more| *more > 0) {
        let _ = writeln!(out, "  {}", paint(FAINT, &format!("and {more} more: abide models --json")));
    }
    if let Some(problem) = &provider.problem {
        let _ = writeln!(out, "  {} {}", paint(BAD, "problem:"), text::one_line(problem));
    }
    if provider.key == KeyState::Missing {
        let _ = writeln!(out, "  {}", paint(FAINT, &format!("to give it a key: abide key set {name}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn the_default_comes_first_and_a_missing_key_has_a_hint() {
        let chosen = DefaultModel { model: "demo/demo".into(), why: "nothing else is there".into() };
        let asked = ProviderInfo {
            name: "anthropic".into(),
            api: "anthropic".into(),
            base_url: "https://api.anthropic.com".into(),
            source: "built in".into(),
            key: KeyState::Missing,
            models: (0..14).map(|i| format!("anthropic/m{i}")).collect(),
            problem: Some("it said\u{1b}[2J no".into()),
        };
        let shown = default(&chosen) + &provider(&asked);
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert_snapshot!(shown, @r"
        Default: demo/demo (nothing else is there)

        anthropic  no key  anthropic · https://api.anthropic.com · built in
          anthropic/m0
          anthropic/m1
          anthropic/m2
          anthropic/m3
          anthropic/m4
          anthropic/m5
          anthropic/m6
          anthropic/m7
          anthropic/m8
          anthropic/m9
          anthropic/m10
          anthropic/m11
          and 2 more: abide models --json
          problem: it said\x1b[2J no
          to give it a key: abide key set anthropic
        ");
    }
}
