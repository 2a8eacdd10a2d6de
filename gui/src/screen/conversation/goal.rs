//! Scrolls to a message that was found, or to the beginning, loading pages as needed.
//!
//! A goal is set, then [`Conversation::seek`] runs after each page: it requests the next page while the goal
//! is not loaded ([`Conversation::further`]), and else builds the rows around the goal, which the list
//! scrolls into view. The way to a message leads through all pages after it; the beginning is requested by
//! itself, and leaves a gap between it and the end. At most one page is under way (`Gap::is_loading`). The
//! goal ends when its row has been in view, when it turns out not to exist, or when the person scrolls by
//! key.

use super::{Conversation, Gap, Goal, Row, marks::Phrases};
use crate::{
    effect::{Effect, Scroll},
    request::LONG_PAGE,
    widget::list::{View, WhichMatch},
};
use abide_client::protocol::Seq;

impl Conversation {
    /// Goes to that message, once it is loaded, at the first match of the query; all matches are marked.
    pub fn go_to(&mut self, seq: Seq, query: &str) -> Vec<Effect> {
        self.go_to_found(seq, Phrases::of_query(query), WhichMatch::First)
    }

    /// What was sought is elsewhere.
    pub(crate) fn forget_goal(&mut self) {
        (self.goal, self.found) = (None, None);
        self.reframe();
    }

    /// If the beginning is not loaded, the beginning of the loaded part is shown meanwhile.
    pub(super) fn scroll(&mut self, scroll: Scroll) -> Vec<Effect> {
        if scroll != Scroll::ToStart {
            self.goal = None;
            return vec![Effect::Scroll(scroll)];
        }
        self.goal = Some(Goal::Beginning);
        let mut effects = self.seek();
        if !self.has_start() {
            effects.push(Effect::Scroll(scroll));
        }
        effects
    }

    /// Requests the pages up to the goal, and scrolls to it once it is loaded.
    pub(super) fn seek(&mut self) -> Vec<Effect> {
        if let Some(further) = self.further() {
            return vec![further];
        }
        let Some(goal) = self.goal else { return Vec::new() };
        if let Goal::Row(row) = goal {
            self.unfold_to(row);
        }
        let is_under_way = self.gap.is_some_and(|gap| gap.is_loading && goal.is_in(gap));
        if !is_under_way {
            if self.goal_row().is_none() && !self.rows.is_empty() {
                self.goal = None;
            }
            self.reframe();
        }
        Vec::new()
    }

    /// Requests the next page towards the goal, if the goal is not loaded. Its rows need not be projected.
    pub(super) fn further(&mut self) -> Option<Effect> {
        let goal = self.goal?;
        let of = self.timeline_of();
        let gap = self.gap.as_mut().filter(|gap| !gap.is_loading && goal.is_in(**gap))?;
        gap.is_loading = true;
        Some(Effect::Ask(match goal {
            Goal::Beginning => of.between(gap.after, gap.before),
            Goal::Row(_) => of.older(gap.before, LONG_PAGE),
        }))
    }

    /// Whether the beginning is loaded.
    fn has_start(&self) -> bool {
        self.gap.is_none_or(Gap::has_start)
    }

    /// The row to scroll to, if it exists.
    pub(super) fn goal_row(&self) -> Option<Row> {
        match self.goal? {
            Goal::Row(row) => Some(row).filter(|row| self.rows.contains(row)),
            Goal::Beginning => self.rows.first().copied().filter(|_| self.has_start()),
        }
    }

    pub(super) fn is_between(&self, row: Row, view: View<Row>) -> bool {
        let place = |row: Row| self.rows.iter().rposition(|known| *known == row);
        match (place(view.first), place(row), place(view.last)) {
            (Some(first), Some(row), Some(last)) => (first..=last).contains(&row),
            _ => false,
        }
    }
}

impl Goal {
    /// Whether it is among what is missing.
    fn is_in(self, gap: Gap) -> bool {
        match self {
            Self::Row(Row::Entry(sought)) => gap.after < sought && sought < gap.before,
            Self::Row(_) => false,
            Self::Beginning => !gap.has_start(),
        }
    }
}
