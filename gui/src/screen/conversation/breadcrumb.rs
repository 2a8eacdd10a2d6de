//! The way from the root task to the sub-task that is shown; each part opens its timeline.

use super::{Conversation, Message};
use crate::{
    font,
    screen::tree::line,
    theme::{size, space, style},
    widget::{Element, elide::elided, press::press, yielding},
    words,
};
use iced::{Theme, widget::text};

/// The most characters of a task above the one that is shown.
const MAX_CRUMB: usize = 24;

impl Conversation {
    /// How many sub-tasks there are, and how many of them wait; it shows or hides the tree.
    pub(super) fn tree_count<'a>(&self) -> Option<Element<'a, Message>> {
        let count = self.family()?.count();
        let all = words::counted((count.live + count.ended) as u64, "sub-task");
        let (words, ink): (_, fn(&Theme) -> text::Style) = match count.waiting {
            0 => (all, style::muted),
            waiting => (format!("{all}, {}", words::need_you(waiting as u64)), style::needs_you),
        };
        let words = text(words).size(size::SECONDARY).style(ink);
        let count = press(words).padding([0.0, space::XS]).style(style::quiet);
        Some(count.on_press(Message::TreeToggled).into())
    }

    /// Root › Child › …; `None` in the timeline of the root tasks.
    pub(super) fn breadcrumb<'a>(&self, conversation: &str) -> Option<Element<'a, Message>> {
        let path = self.path();
        let (shown, above) = path.split_last()?;
        let mut parts: Vec<Element<'a, Message>> = Vec::new();
        for task in above {
            let title = words::first_line(&line::title(task, conversation), MAX_CRUMB);
            let crumb = press(text(title).size(size::TITLE)).padding([1.0, 0.0]).style(style::quiet);
            parts.push(crumb.on_press(Message::TaskOpened(task.id)).into());
            parts.push(text("›").size(size::TITLE).style(style::muted).into());
        }
        let yields = parts.len();
        parts.push(elided(line::title(shown, conversation), size::TITLE, font::STRONG).into());
        Some(yielding::row(parts, yields, space::XS))
    }
}
