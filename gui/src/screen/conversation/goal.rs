//! Bringing a message that was found into view, or the beginning, however far back it is.

use super::{Conversation, Goal, History, Row};
use crate::{
    effect::{Effect, Scroll},
    request::{LONG_PAGE, Request},
    widget::list::View,
};
use abide_client::protocol::Seq;

impl Conversation {
    /// Shows that message, once it is here, with the words of the query marked.
    pub fn go_to(&mut self, seq: Seq, query: &str) -> Vec<Effect> {
        self.marks = query.split_whitespace().map(str::to_lowercase).collect();
        (self.found, self.goal) = (Some(seq), Some(Goal::Row(Row::Entry(seq))));
        self.seek()
    }

    /// The beginning may not be here yet; meanwhile the beginning of what is here is shown.
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

    /// Asks for the pages between here and what is sought, and brings it into view when it is here.
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

    /// The next page on the way to what is sought, if that is further back. What comes of it need not be projected.
    pub(super) fn further(&mut self) -> Option<Effect> {
        let History::More(before) = self.history else { return None };
        self.goal.filter(|goal| goal.is_before(before))?;
        self.history = History::Loading(before);
        Some(Effect::Ask(Request::Older(self.id, before, LONG_PAGE)))
    }

    /// The row to bring into view, if it is there.
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
