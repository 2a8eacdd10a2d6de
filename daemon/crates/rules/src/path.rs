//! Paths of the workspace in rules: `src/**`, `**/.env`.

use crate::{Effect, RuleError};
use globset::{GlobBuilder, GlobMatcher};

/// Files and folders of a repository from which programs take what they run. No rule allows a change of them:
/// it asks.
pub const PROTECTED: [&str; 29] = [
    ".abide",
    ".amazonq",
    ".claude",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".envrc",
    ".exrc",
    ".gemini",
    ".git",
    ".gvimrc",
    ".hg",
    ".husky",
    ".idea",
    ".jj",
    ".kiro",
    ".mcp.json",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".roo",
    ".trae",
    ".vimrc",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Whether the path is one of these, or beneath one.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    path.split('/').any(|part| PROTECTED.iter().any(|name| part.eq_ignore_ascii_case(name)))
}

#[derive(Debug, Clone)]
pub(crate) struct PathPattern(GlobMatcher);

impl PathPattern {
    /// A rule that denies or asks matches letters of either case.
    pub(crate) fn parse(text: &str, effect: Effect) -> Result<Self, RuleError> {
        if text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..") {
            return Err(RuleError::Outside);
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .case_insensitive(effect != Effect::Allow)
            .build()
            .map_err(|error| RuleError::Path(error.kind().to_string()))?;
        Ok(Self(glob.compile_matcher()))
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}
