//! The scroll position of a list that builds only some rows. No drawing.
//!
//! The anchor is the truth, the offset follows: each layout gives new places ([`Scroll::lay_out`]), and the
//! offset is computed so that the anchor stays where it is in the view. Scrolling by a person changes the
//! offset and takes the topmost visible row as the anchor, or the end once it is reached. A row is laid out
//! at `base` plus its top and drawn [`Scroll::shift`] higher; `base` is chosen so that a row that stays built
//! stays where it was laid out. What happens once for a request (show a row, hold a row) is remembered with
//! that request, since every later layout repeats it.

use iced::{
    Rectangle,
    advanced::widget::operation,
    widget::scrollable::{AbsoluteOffset, RelativeOffset},
};
use std::ops::Range;
use uuid::Uuid;

/// What keeps its place in the view when rows come, go and grow elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor<Key> {
    /// The end of the list.
    End,
    /// This row's top is so far above the top of the view (below it, if negative).
    Row { key: Key, above: f32 },
}

/// A built row and its position, from the top of the first built one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BuiltRow<Key> {
    pub(super) key: Key,
    pub(super) top: f32,
    pub(super) height: f32,
}

/// The visible part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<Key> {
    /// The topmost row that is at least partly visible; below, the lowest.
    pub first: Key,
    pub last: Key,
    /// It follows the end.
    pub at_end: bool,
}

/// Beyond this position, pixels lose their fractions: rows are then laid out from 0 again.
const FAR: f32 = 100_000.0;

/// A list's scroll position and its scrollbar.
#[derive(Debug)]
pub(super) struct Scroll<Key> {
    /// The identity of the listed thing.
    pub(super) of: Uuid,
    pub(super) anchor: Anchor<Key>,
    pub(super) places: Vec<BuiltRow<Key>>,
    /// How many rows come before the built ones; below, after them.
    pub(super) before: usize,
    pub(super) after: usize,
    /// The height of the view, in logical pixels.
    pub(super) height: f32,
    /// Where the first built row is laid out. A row keeps its position for as long as it is built: iced
    /// compares the paragraphs of two frames by position and size and not by text, so another row must not
    /// get the same position.
    pub(super) base: f32,
    /// The top of the view, from the top of the first built row; negative if all rows fit.
    pub(super) offset: f32,
    pub(super) told: Option<View<Key>>,
    /// Where the scrollbar's handle was grabbed, from its top.
    pub(super) grabbed: Option<f32>,
    /// The row that was last scrolled into view, as long as it is requested.
    pub(super) shown: Option<Key>,
    /// The row that was held last, and the number of its action.
    pub(super) held: Option<(Key, u32)>,
    /// A row that stands for others not loaded yet: when they come it keeps its place and they do not, so it
    /// is never the anchor.
    pub(super) stand_in: Option<Key>,
}

impl<Key> Default for Scroll<Key> {
    fn default() -> Self {
        Self {
            of: Uuid::nil(),
            anchor: Anchor::End,
            places: Vec::new(),
            before: 0,
            after: 0,
            height: 0.0,
            base: 0.0,
            offset: 0.0,
            told: None,
            grabbed: None,
            shown: None,
            held: None,
            stand_in: None,
        }
    }
}

impl<Key: Copy + PartialEq> Scroll<Key> {
    fn content(&self) -> f32 {
        self.places.last().map_or(0.0, |last| last.top + last.height)
    }

    fn furthest(&self) -> f32 {
        self.content() - self.height
    }

    /// Sets the rows' new positions; the anchor stays in place.
    pub(super) fn lay_out(&mut self, places: Vec<BuiltRow<Key>>, hidden: (usize, usize), height: f32) {
        let known = places.iter().find_map(|new| {
            let old = self.places.iter().find(|old| old.key == new.key && old.height > 0.0)?;
            Some(self.base + old.top - new.top)
        });
        self.base = known.filter(|base| base.abs() < FAR).unwrap_or(0.0);
        self.places = places;
        (self.before, self.after) = hidden;
        let is_lower = height < self.height;
        self.height = height;
        let wanted = match self.anchor {
            Anchor::End => Some(self.furthest()),
            Anchor::Row { key, above } => {
                self.places.iter().find(|place| place.key == key).map(|place| place.top + above)
            }
        };
        self.offset = self.clamped(wanted.unwrap_or(self.offset));
        if wanted.is_none() {
            // The anchor is gone, for example an answered card: the offset stays, and another row, or the
            // end, is the anchor.
            self.scroll(0.0);
        }
        // The button that leads back to the end takes its room when a row was scrolled into view.
        match (self.shown, self.anchor) {
            (Some(shown), Anchor::Row { key, .. }) if is_lower && key == shown => self.reveal(shown),
            _ => {}
        }
        // In a larger view the end is in view without scrolling.
        if hidden == (0, 0) && !self.places.is_empty() && self.furthest() <= 0.0 {
            self.anchor = Anchor::End;
        }
    }

    /// The distance from where rows are laid out to where they are drawn, in whole pixels: a touchpad scrolls
    /// by less.
    pub(super) fn shift(&self) -> f32 {
        (self.base + self.offset).round()
    }

    /// Scrolls that row into view, a quarter from the top, or wholly if that is not enough; only once for
    /// each request.
    pub(super) fn show(&mut self, row: Option<Key>) {
        if row == self.shown {
            return;
        }
        let place = row.and_then(|row| self.places.iter().find(|place| place.key == row).copied());
        if let Some(place) = place {
            let room = (self.height - place.height).max(0.0);
            self.offset = self.clamped(place.top - room.min(self.height / 4.0));
            let is_at_end = self.after == 0 && self.offset >= self.furthest() - 1.0;
            self.anchor = if is_at_end {
                Anchor::End
            } else {
                Anchor::Row { key: place.key, above: self.offset - place.top }
            };
            // The position must be reported again.
            self.told = None;
        }
        self.shown = place.map(|place| place.key);
    }

    /// Scrolls what is laid out there into view, a quarter from the top, unless it is in view already.
    pub(super) fn bring(&mut self, y: f32, height: f32) {
        let top = y - self.shift();
        if top < 0.0 || top + height > self.height {
            self.scroll(top - self.height / 4.0);
        }
    }

    /// Before a row changes by a person's action in it: makes it the anchor, once for each action. Returns
    /// the row.
    pub(super) fn hold(&mut self, asked: Option<(Key, u32)>) -> Option<Key> {
        if self.held == asked {
            return None;
        }
        self.held = asked;
        let (key, _) = asked?;
        let place = self.places.iter().find(|place| place.key == key && place.height > 0.0)?;
        self.anchor = Anchor::Row { key, above: self.offset - place.top };
        Some(key)
    }

    /// Scrolls up what ends below the view, as far as its top stays visible.
    pub(super) fn reveal(&mut self, row: Key) {
        let Some(place) = self.places.iter().find(|place| place.key == row) else { return };
        let below = place.top + place.height - self.offset - self.height;
        self.scroll(below.min(place.top - self.offset).max(0.0));
    }

    /// A short list is at the bottom, where new rows come.
    fn clamped(&self, offset: f32) -> f32 {
        let furthest = self.furthest();
        if furthest <= 0.0 { furthest } else { offset.clamp(0.0, furthest) }
    }

    /// Scrolls by so many pixels, down if positive; returns whether that changed anything.
    pub(super) fn scroll(&mut self, by: f32) -> bool {
        let from = self.offset;
        self.offset = self.clamped(from + by);
        let is_at_end = self.after == 0 && self.offset >= self.furthest() - 1.0;
        self.anchor = match self.first() {
            Some(place) if !(is_at_end && by >= 0.0) => {
                Anchor::Row { key: place.key, above: self.offset - place.top }
            }
            _ => Anchor::End,
        };
        (from - self.offset).abs() > f32::EPSILON
    }

    /// The topmost visible row, except the stand-in.
    fn first(&self) -> Option<BuiltRow<Key>> {
        let seen = &self.places[self.visible().start..];
        let steady = seen.iter().find(|place| self.stand_in != Some(place.key));
        steady.or(seen.first()).copied()
    }

    /// The visible rows among the built ones.
    pub(super) fn visible(&self) -> Range<usize> {
        let start = self.places.partition_point(|place| place.top + place.height <= self.offset);
        let end = self.places.partition_point(|place| place.top < self.offset + self.height);
        start..end.max(start)
    }

    /// The row at a height in the view, or the nearest one.
    pub(super) fn row_at(&self, y: f32) -> Option<usize> {
        let y = y + self.offset;
        let row = self.places.partition_point(|place| place.top + place.height <= y);
        let last = self.places.len().checked_sub(1)?;
        Some(row.min(last))
    }

    pub(super) fn view(&self) -> Option<View<Key>> {
        let seen = self.visible();
        Some(View {
            first: self.first()?.key,
            last: self.places.get(seen.end.checked_sub(1)?)?.key,
            at_end: self.anchor_is_end(),
        })
    }

    pub(super) fn anchor_is_end(&self) -> bool {
        matches!(self.anchor, Anchor::End)
    }

    /// The visible part, if it must be reported: the end was left or reached, or more rows must be built,
    /// since less than the height of the view is built beyond it.
    pub(super) fn news(&mut self) -> Option<View<Key>> {
        let view = self.view()?;
        let is_near_start = self.offset < self.height;
        let is_near_end = self.after > 0 && self.furthest() - self.offset < self.height;
        let is_new = match self.told {
            None => true,
            Some(told) => told.at_end != view.at_end || ((is_near_start || is_near_end) && told != view),
        };
        is_new.then(|| *self.told.insert(view))
    }

    /// The scrollbar's handle: top and height, estimated from the built rows.
    pub(super) fn handle(&self) -> Option<(f32, f32)> {
        let total = self.total();
        if self.places.is_empty() || total <= self.height {
            return None;
        }
        let height = (self.height * self.height / total).max(24.0);
        let position = (self.offset + self.mean() * as_f32(self.before)) / (total - self.height);
        Some((position.clamp(0.0, 1.0) * (self.height - height), height))
    }

    /// Drags the handle's top to this place.
    pub(super) fn drag(&mut self, top: f32) -> bool {
        let Some((_, height)) = self.handle() else { return false };
        let part = (top / (self.height - height).max(1.0)).clamp(0.0, 1.0);
        let wanted = part * (self.total() - self.height) - self.mean() * as_f32(self.before);
        self.scroll(wanted - self.offset)
    }

    fn mean(&self) -> f32 {
        self.content() / as_f32(self.places.len().max(1))
    }

    fn total(&self) -> f32 {
        self.content() + self.mean() * as_f32(self.before + self.after)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a guess of a length on the screen")]
const fn as_f32(n: usize) -> f32 {
    n as f32
}

impl<Key: Copy + PartialEq> operation::Scrollable for Scroll<Key> {
    fn snap_to(&mut self, offset: RelativeOffset<Option<f32>>) {
        if let Some(y) = offset.y {
            if y >= 1.0 {
                self.offset = self.clamped(self.furthest());
                self.anchor = Anchor::End;
            } else {
                self.scroll(self.content() * y - self.offset);
            }
        }
    }

    fn scroll_to(&mut self, offset: AbsoluteOffset<Option<f32>>) {
        if let Some(y) = offset.y {
            self.scroll(y - self.offset);
        }
    }

    fn scroll_by(&mut self, offset: AbsoluteOffset, _bounds: Rectangle, _content_bounds: Rectangle) {
        self.scroll(offset.y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows `keys`, each `height` tall.
    fn places(keys: Range<u32>, height: f32) -> Vec<BuiltRow<u32>> {
        let mut top = 0.0;
        keys.map(|key| {
            let place = BuiltRow { key, top, height };
            top += height;
            place
        })
        .collect()
    }

    fn list(keys: Range<u32>, hidden: (usize, usize)) -> Scroll<u32> {
        let mut scroll = Scroll::default();
        scroll.lay_out(places(keys, 10.0), hidden, 50.0);
        scroll
    }

    #[test]
    fn it_follows_the_end_until_scrolled_up() {
        let mut scroll = list(0..20, (0, 0));
        assert_eq!(scroll.visible(), 15..20);
        scroll.lay_out(places(0..21, 10.0), (0, 0), 50.0);
        assert_eq!(scroll.visible(), 16..21);
        assert!(scroll.scroll(-30.0));
        assert!(!scroll.anchor_is_end());
        scroll.lay_out(places(0..30, 10.0), (0, 0), 50.0);
        assert_eq!(scroll.visible(), 13..18, "what is read stays");
        scroll.scroll(1000.0);
        assert!(scroll.anchor_is_end());
    }

    #[test]
    fn rows_that_come_or_grow_above_move_nothing() {
        let mut scroll = list(100..120, (100, 0));
        scroll.scroll(-103.0);
        let seen = scroll.view().unwrap();
        let above = scroll.offset - scroll.first().unwrap().top;
        let mut taller = places(80..120, 17.0);
        taller.truncate(40);
        scroll.lay_out(taller, (80, 0), 50.0);
        assert_eq!(scroll.view().unwrap().first, seen.first);
        assert!((scroll.offset - scroll.first().unwrap().top - above).abs() < 0.01);
    }

    #[test]
    fn what_is_read_stays_when_what_was_missing_comes() {
        let mut scroll = list(0..20, (0, 0));
        scroll.stand_in = Some(0);
        scroll.scroll(-1000.0);
        assert_eq!(scroll.view().map(|view| view.first), Some(1));
        // Ten rows are loaded between the stand-in and the others.
        let keys = std::iter::once(0).chain(20..30).chain(1..20);
        let places: Vec<BuiltRow<u32>> =
            (0..).zip(keys).map(|(n, key)| BuiltRow { key, top: as_f32(n) * 10.0, height: 10.0 }).collect();
        scroll.lay_out(places, (0, 0), 50.0);
        assert!((scroll.offset - 100.0).abs() < 0.01, "{}", scroll.offset);
        assert_eq!(scroll.view().map(|view| view.first), Some(29));
    }

    #[test]
    fn a_list_that_fits_a_larger_view_is_at_its_end() {
        let mut scroll = list(0..20, (0, 0));
        scroll.scroll(-30.0);
        scroll.news();
        scroll.lay_out(places(0..20, 10.0), (0, 0), 190.0);
        assert!(!scroll.anchor_is_end(), "a part of the first row is out of view");
        scroll.lay_out(places(0..20, 10.0), (3, 0), 210.0);
        assert!(!scroll.anchor_is_end(), "rows above are not built yet");
        scroll.lay_out(places(0..20, 10.0), (0, 0), 210.0);
        assert!(scroll.news().is_some_and(|view| view.at_end), "who asked is told");
    }

    #[test]
    fn a_row_is_brought_into_view_once() {
        let mut scroll = list(100..180, (100, 20));
        scroll.news();
        scroll.show(Some(120));
        assert_eq!(scroll.view().map(|view| (view.first, view.at_end)), Some((118, false)));
        assert!(scroll.news().is_some(), "who asked is told");
        scroll.scroll(200.0);
        scroll.show(Some(120));
        assert_eq!(scroll.view().map(|view| view.first), Some(138), "then the person scrolls");
        scroll.show(None);
        scroll.show(Some(120));
        assert_eq!(scroll.view().map(|view| view.first), Some(118));
    }

    #[test]
    fn when_the_anchor_is_gone_another_row_or_the_end_takes_its_place() {
        let without = |keys: Range<u32>, gone: u32| {
            let mut places = places(keys, 10.0);
            places.retain(|place| place.key != gone);
            for place in places.iter_mut().filter(|place| place.key > gone) {
                place.top -= place.height;
            }
            places
        };
        let shown = |rows: u32, row| {
            let mut scroll = list(0..rows, (0, 0));
            scroll.show(Some(row));
            assert_eq!(scroll.anchor, Anchor::Row { key: row, above: -12.5 });
            scroll.lay_out(without(0..rows, row), (0, 0), 50.0);
            scroll
        };
        assert_eq!(shown(20, 15).anchor, Anchor::Row { key: 13, above: 7.5 });
        assert!(shown(19, 15).anchor_is_end(), "nothing more is below");
    }

    /// The rows of [`places`], with another height for one of them.
    fn with_height(keys: Range<u32>, key: u32, height: f32) -> Vec<BuiltRow<u32>> {
        let mut places = places(keys, 10.0);
        let mut more = 0.0;
        for place in &mut places {
            place.top += more;
            if place.key == key {
                more = height - place.height;
                place.height = height;
            }
        }
        places
    }

    #[test]
    fn a_row_that_was_brought_into_view_stays_whole_in_a_lower_view() {
        let places = || with_height(0..20, 10, 40.0);
        let mut scroll = list(0..20, (0, 0));
        scroll.lay_out(places(), (0, 0), 50.0);
        scroll.show(Some(10));
        let is_whole = |scroll: &Scroll<u32>| {
            let row = scroll.places[10];
            row.top >= scroll.offset && row.top + row.height <= scroll.offset + scroll.height
        };
        assert!(is_whole(&scroll));
        scroll.lay_out(places(), (0, 0), 42.0);
        assert!(is_whole(&scroll));
        scroll.scroll(-30.0);
        let offset = scroll.offset;
        scroll.lay_out(places(), (0, 0), 30.0);
        assert!((scroll.offset - offset).abs() < f32::EPSILON, "the person has scrolled since");
    }

    #[test]
    fn a_row_that_is_opened_grows_downwards() {
        let mut scroll = list(0..20, (0, 0));
        assert_eq!(scroll.visible(), 15..20);
        let held = scroll.hold(Some((16, 1)));
        scroll.lay_out(with_height(0..20, 16, 30.0), (0, 0), 50.0);
        scroll.reveal(held.unwrap());
        assert_eq!(scroll.visible(), 15..18, "its top and the row above stay where they are");
        assert!(!scroll.anchor_is_end());
        assert_eq!(scroll.hold(Some((16, 1))), None, "once");
    }

    #[test]
    fn what_opens_at_the_end_is_seen() {
        for (height, seen) in [(30.0, 17..20), (80.0, 19..20)] {
            let mut scroll = list(0..20, (0, 0));
            let held = scroll.hold(Some((19, 1)));
            scroll.lay_out(with_height(0..20, 19, height), (0, 0), 50.0);
            scroll.reveal(held.unwrap());
            assert_eq!(scroll.visible(), seen, "all of it, or from its top on");
            assert_eq!(scroll.anchor_is_end(), height < 50.0);
        }
    }

    #[test]
    fn a_row_is_laid_out_where_it_was_and_no_other_row_there() {
        let mut scroll = list(0..20, (0, 0));
        let at = |scroll: &Scroll<u32>, key| {
            scroll.places.iter().find(|place| place.key == key).map(|place| scroll.base + place.top)
        };
        let (shift, place) = (scroll.shift(), at(&scroll, 10));
        scroll.lay_out(places(5..25, 10.0), (5, 0), 50.0);
        assert_eq!(at(&scroll, 10), place);
        assert!((scroll.shift() - shift - 50.0).abs() < f32::EPSILON, "the view follows the end");
        scroll.lay_out(places(0..25, 10.0), (0, 0), 50.0);
        assert_eq!(at(&scroll, 10), place);
    }

    #[test]
    fn a_short_list_lies_at_the_bottom() {
        let mut scroll = list(0..2, (0, 0));
        assert!((scroll.offset + 30.0).abs() < f32::EPSILON);
        assert!(!scroll.scroll(-10.0), "there is nowhere to go");
        assert_eq!(scroll.handle(), None);
    }

    #[test]
    fn it_tells_when_more_rows_are_needed_and_only_then() {
        let mut scroll = list(100..140, (100, 0));
        assert!(scroll.news().is_some(), "the first word");
        assert_eq!(scroll.news(), None);
        scroll.scroll(-100.0);
        assert!(scroll.news().is_some_and(|view| !view.at_end), "the end was left");
        scroll.scroll(-20.0);
        assert_eq!(scroll.news(), None, "in the middle nobody needs to know");
        scroll.scroll(-1000.0);
        assert_eq!(scroll.news().map(|view| view.first), Some(100));
    }

    #[test]
    fn the_handle_counts_rows_that_are_not_built() {
        let scroll = list(900..1000, (900, 0));
        let (top, height) = scroll.handle().unwrap();
        assert!((height - 24.0).abs() < f32::EPSILON && (top + height - 50.0).abs() < 0.1, "{top} {height}");
        let mut scroll = list(900..1000, (900, 0));
        scroll.drag(0.0);
        assert_eq!(scroll.view().map(|view| view.first), Some(900), "as far as it is built");
    }
}
