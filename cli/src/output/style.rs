//! Colours by meaning.

use anstyle::{AnsiColor, Style};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// A person has to act.
pub(crate) const NEEDS_YOU: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const BUSY: Style = AnsiColor::Cyan.on_default();

/// Code in the agent's text.
pub(crate) const CODE: Style = AnsiColor::Cyan.on_default();
pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const TITLE: Style = Style::new().bold().underline();

pub(crate) fn paint(style: Style, text: &str) -> String {
    if style.is_plain() || text.is_empty() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}
