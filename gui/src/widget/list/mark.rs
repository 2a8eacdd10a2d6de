//! Marks matches of a search in a row of a list, and finds the current one.
//!
//! The screen names a row, how matches are found in a text, and which of them it wants ([`Marking`]). Only
//! the layout knows the row's passages: after it, one operation counts the matches, and a second one marks
//! them and gets the bounds of the wanted one, to which the list then scrolls. The number of that match and
//! the count are reported back ([`CurrentMatch`]). The list scrolls once for each step (`act`); later layouts
//! mark again, but leave the person's scroll position alone.

use crate::widget::passage;
use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{self, Outcome},
    },
    widget::scrollable::AbsoluteOffset,
};
use std::{any::Any, ops::Range};

/// Finds the matches in a text: their bytes, in order.
type Find<'a> = dyn Fn(&str) -> Vec<Range<usize>> + Sync + 'a;

/// The match of a row that should be the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichMatch {
    First,
    Last,
    /// Counted from 0.
    At(usize),
}

impl WhichMatch {
    /// Its number among so many, if there is any.
    pub(super) fn among(self, count: usize) -> Option<usize> {
        let last = count.checked_sub(1)?;
        Some(match self {
            Self::First => 0,
            Self::Last => last,
            Self::At(at) => at.min(last),
        })
    }
}

/// The matches to mark in a row, and the wanted one. `act` is the number of the step to it: the list scrolls
/// once for each step.
pub struct Marking<'a, Key, Message> {
    pub row: Key,
    pub find: Box<Find<'a>>,
    pub wanted: WhichMatch,
    pub act: u32,
    pub on_place: fn(CurrentMatch<Key>) -> Message,
}

/// The current match of a row, counted from 0, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentMatch<Key> {
    pub row: Key,
    pub at: usize,
    pub of: usize,
}

/// The state of the marking in a list.
#[derive(Debug)]
pub(super) struct Marked<Key> {
    pub(super) row: Option<Key>,
    /// The last step for which the list has scrolled.
    pub(super) act: Option<u32>,
    /// The current match, and the step that led to it.
    pub(super) place: Option<(CurrentMatch<Key>, u32)>,
    /// What was reported of it last.
    pub(super) told: Option<(CurrentMatch<Key>, u32)>,
}

impl<Key> Default for Marked<Key> {
    fn default() -> Self {
        Self { row: None, act: None, place: None, told: None }
    }
}

impl<Key: Copy + PartialEq> Marked<Key> {
    /// The current match, if it has not been reported yet.
    pub(super) fn news(&mut self) -> Option<CurrentMatch<Key>> {
        let is_new = self.place != self.told;
        self.told = self.place;
        self.place.filter(|_| is_new).map(|(place, _)| place)
    }
}

/// Marks the matches in a row, and one of them as the current match.
pub(super) struct Marker<'f> {
    find: &'f Find<'f>,
    at: Option<usize>,
    pub(super) count: usize,
    /// The bounds of the current match, as it is laid out.
    pub(super) bounds: Option<Rectangle>,
}

impl<'f> Marker<'f> {
    pub(super) const fn new(find: &'f Find<'f>, at: Option<usize>) -> Self {
        Self { find, at, count: 0, bounds: None }
    }
}

impl Operation for Marker<'_> {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn custom(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Any) {
        let Some(passage) = state.downcast_mut::<passage::PassageState>() else { return };
        let parts = (self.find)(passage.text());
        let at = self.at.and_then(|at| at.checked_sub(self.count)).filter(|at| *at < parts.len());
        self.count += parts.len();
        if let Some(part) = at.and_then(|at| parts.get(at)) {
            let from = Vector::new(bounds.x, bounds.y);
            self.bounds = passage.bounds(part).map(|bounds| bounds + from);
        }
        passage.mark(parts, at);
    }

    fn finish(&self) -> Outcome<()> {
        Outcome::None
    }
}

/// Scrolls sideways what does so within a row, until this is in view.
pub(super) struct Sideways(pub(super) Rectangle);

impl Operation for Sideways {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn scrollable(
        &mut self,
        _id: Option<&Id>,
        bounds: Rectangle,
        content: Rectangle,
        translation: Vector,
        state: &mut dyn operation::Scrollable,
    ) {
        let from = bounds.x + translation.x;
        let is_seen = self.0.x >= from && self.0.x + self.0.width <= from + bounds.width;
        if self.0.is_within(&content.expand(1.0)) && !is_seen {
            let x = (self.0.x - bounds.x - bounds.width / 4.0).max(0.0);
            state.scroll_to(AbsoluteOffset { x: Some(x), y: None });
        }
    }

    fn finish(&self) -> Outcome<()> {
        Outcome::None
    }
}

/// Tells the texts within this part of the list that they are in view.
pub(super) struct Shown(pub(super) Rectangle);

impl Operation for Shown {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn custom(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Any) {
        let is_seen = bounds.y < self.0.y + self.0.height && bounds.y + bounds.height > self.0.y;
        if let Some(passage) = state.downcast_mut::<passage::PassageState>().filter(|_| is_seen) {
            passage.show();
        }
    }

    fn finish(&self) -> Outcome<()> {
        Outcome::None
    }
}
