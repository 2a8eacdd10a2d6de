//! Providers, their models, and which one is used if nobody names one.

use crate::output::{
    style::{BAD, FAINT, GOOD, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{method::daemon::ListModelsReply, provider::KeyState};
use std::fmt::Write as _;

/// A provider may have hundreds; `--json` has them all.
const MAX_MODELS: usize = 12;

pub(crate) fn models(reply: &ListModelsReply) -> String {
    let default = &reply.default;
    let mut out = format!(
        "Default: {} {}\n",
        paint(STRONG, &text::one_line(&default.model)),
        paint(FAINT, &format!("({})", text::one_line(&default.why)))
    );
    for provider in &reply.providers {
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
            let _ = writeln!(out, "  {}", paint(BAD, &text::one_line(problem)));
        }
        if provider.key == KeyState::Missing {
            let _ = writeln!(out, "  {}", paint(FAINT, &format!("abide key set {name}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::provider::{DefaultModel, ProviderInfo};

    #[test]
    fn the_default_comes_first_and_a_missing_key_has_a_way_out() {
        let reply = ListModelsReply {
            default: DefaultModel { model: "demo/demo".into(), why: "nothing else is there".into() },
            providers: vec![ProviderInfo {
                name: "anthropic".into(),
                api: "anthropic".into(),
                base_url: "https://api.anthropic.com".into(),
                source: "built in".into(),
                key: KeyState::Missing,
                models: (0..14).map(|i| format!("anthropic/m{i}")).collect(),
                problem: Some("it said\u{1b}[2J no".into()),
            }],
        };
        let shown = anstream::adapter::strip_str(&models(&reply)).to_string();
        assert!(shown.starts_with(
            "Default: demo/demo (nothing else is there)\n\nanthropic  no key  anthropic · https://api.anthropic.com · built in\n  anthropic/m0\n"
        ), "{shown}");
        assert!(shown.contains("  and 2 more: abide models --json\n"), "{shown}");
        assert!(shown.ends_with("  abide key set anthropic\n") && !shown.contains('\u{1b}'), "{shown:?}");
    }
}
