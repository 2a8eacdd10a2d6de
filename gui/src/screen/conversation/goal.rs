//! Bringing a message that was found into view, however far back it is.

use super::{Conversation, History, Row};
use crate::{
    effect::Effect,
    request::{LONG_PAGE, Request},
    widget::list::View,
};
use abide_client::protocol::Seq;

impl Conversation {
    /// Shows that message, once it is here, with the words of the query marked.
    pub fn go_to(&mut self, seq: Seq, query: &str) -> Vec<Effect> {
        self.marks = query.split_whitespace().map(str::to_lowercase).collect();
        (self.found, self.goal) = (Some(seq), Some(Row::Entry(seq)));
        self.seek()
    }

    /// Asks for the pages between here and what is sought, and brings it into view when it is here.
    pub(super) fn seek(&mut self) -> Vec<Effect> {
        if let Some(further) = self.further() {
            return vec![further];
        }
        let Some(goal) = self.goal else { return Vec::new() };
        let is_under_way =
            matches!((self.history, goal), (History::Loading(before), Row::Entry(seq)) if before > seq);
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
        match (self.history, self.goal?) {
            (History::More(before), Row::Entry(seq)) if before > seq => {
                self.history = History::Loading(before);
                Some(Effect::Ask(Request::Older(self.id, before, LONG_PAGE)))
            }
            _ => None,
        }
    }

    /// The row to bring into view, if it is there.
    pub(super) fn goal_row(&self) -> Option<Row> {
        self.goal.filter(|row| self.rows.contains(row))
    }

    pub(super) fn is_between(&self, row: Row, view: View<Row>) -> bool {
        let place = |row: Row| self.rows.iter().rposition(|known| *known == row);
        match (place(view.first), place(row), place(view.last)) {
            (Some(first), Some(row), Some(last)) => (first..=last).contains(&row),
            _ => false,
        }
    }
}
