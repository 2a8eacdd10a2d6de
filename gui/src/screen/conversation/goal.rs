//! Scrolls to a message that was found, or to the beginning, loading pages as needed.
//!
//! The daemon gives pages from the end backwards only, so the way to the beginning leads through all pages. A goal is set, then
//! [`Conversation::seek`] runs after each page: it requests the next page while the goal lies before what is loaded
//! ([`Conversation::further`]), and else builds the rows around the goal, which the list scrolls into view. At most one page is under way
//! (`History::Loading`). The goal ends when its row has been in view, when it turns out not to exist, or when the person scrolls
//! by key.

use super::{Conversation, Goal, History, Row, marks::Phrases};
use crate::{
    effect::{Effect, Scroll},
    request::{LONG_PAGE, Request},
    widget::list::{View, Wanted},
};
use abide_client::protocol::Seq;

impl Conversation {
    /// Goes to that message, once it is loaded, at the first match of the query; all matches are marked.
    pub fn go_to(&mut self, seq: Seq, query: &str) -> Vec<Effect> {
        self.go_to_found(seq, Phrases::of_query(query), Wanted::First)
    }

    /// If the beginning is not loaded, the beginning of the loaded part is shown meanwhile.
    pub(super) fn scroll(&mut self, scroll: Scroll) -> Vec<Effect> {
        if scroll != Scroll::ToStart {
            self.goal = None;
            return vec![Effect::Scroll(scroll)];
        }
        self.goal = Some(Goal::Beginning);
        let mut effects = self.seek();
        if self.history != History::Complete {
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
        let is_under_way = match self.history {
            History::Loading(before) => goal.is_before(before),
            History::More(_) | History::Complete => false,
        };
        if !is_under_way {
            if self.goal_row().is_none() && !self.rows.is_empty() {
                self.goal = None;
            }
            self.reframe();
        }
        Vec::new()
    }

    /// Requests the next page towards the goal, if the goal is further back. Its rows need not be projected.
    pub(super) fn further(&mut self) -> Option<Effect> {
        let History::More(before) = self.history else { return None };
        self.goal.filter(|goal| goal.is_before(before))?;
        self.history = History::Loading(before);
        Some(Effect::Ask(Request::Older(self.id, before, LONG_PAGE)))
    }

    /// The row to scroll to, if it exists.
    pub(super) fn goal_row(&self) -> Option<Row> {
        match self.goal? {
            Goal::Row(row) => Some(row).filter(|row| self.rows.contains(row)),
            Goal::Beginning => self.rows.first().copied().filter(|_| self.history == History::Complete),
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
    /// Whether it is further back than this.
    fn is_before(self, seq: Seq) -> bool {
        match self {
            Self::Row(Row::Entry(sought)) => sought < seq,
            Self::Row(_) => false,
            Self::Beginning => true,
        }
    }
}
