//! Selection in a list: the row and place under the pointer, and the selected part of each row.
//!
//! A row's text is that of its [passages](crate::widget::passage), top to bottom. A selection has two ends,
//! each a place in a row's text, so it stays valid while these rows, or rows in between, are not built.

use crate::widget::passage;
use iced::{
    Point, Rectangle, Vector,
    advanced::{
        mouse::{Click, click::Kind},
        widget::{
            Id, Operation,
            operation::{self, Outcome},
        },
    },
};
use std::{any::Any, ops::Range, sync::Arc};

/// Passages whose tops are this close are on one line.
const SAME_LINE: f32 = 6.0;
/// A gap between two passages that counts as an empty line.
const PARAGRAPH: f32 = 8.0;
/// The id of a container around a table, which is read cell by cell.
pub const TABLE: &str = "table";
/// The fastest scrolling while the pointer selects past an edge, in logical pixels a frame.
const FASTEST: f32 = 40.0;

/// An end of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End<Key> {
    pub row: Key,
    /// In bytes of the row's text.
    pub offset: usize,
    /// The row's text when this end was set: later the row may not be built.
    pub text: Arc<str>,
}

/// From where the selection began to where the pointer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection<Key> {
    pub anchor: End<Key>,
    pub focus: End<Key>,
    /// The texts of the rows between them that are built, as they are shown.
    pub between: Vec<(Key, String)>,
}

/// The state of selecting with the pointer.
#[derive(Debug)]
pub(super) struct Selecting<Key> {
    /// While the button is held.
    drag: Option<Drag<Key>>,
    /// The pointer's last place. Events come in batches, and each has only the pointer's place at the end of
    /// its batch.
    pointer: Option<Point>,
    click: Option<Click>,
    /// Something was marked with the last layout.
    pub(super) is_marked: bool,
}

#[derive(Debug)]
struct Drag<Key> {
    anchor: End<Key>,
    /// The row and place that the pointer reached last.
    reached: (Key, usize),
    at: Point,
}

impl<Key> Default for Selecting<Key> {
    fn default() -> Self {
        Self { drag: None, pointer: None, click: None, is_marked: false }
    }
}

impl<Key: Copy + PartialEq> Selecting<Key> {
    /// The button was pressed at this end; returns what a double or triple click selects.
    pub(super) fn press(&mut self, at: Point, end: End<Key>) -> Option<Selection<Key>> {
        let click = Click::new(at, iced::mouse::Button::Left, self.click);
        self.click = Some(click);
        let part = match click.kind() {
            Kind::Single => {
                self.drag = Some(Drag { reached: (end.row, end.offset), anchor: end, at });
                return None;
            }
            Kind::Double => word(&end.text, end.offset),
            Kind::Triple => line(&end.text, end.offset),
        };
        let (from, to) = (End { offset: part.start, ..end.clone() }, End { offset: part.end, ..end });
        self.drag = Some(Drag { anchor: from.clone(), reached: (to.row, to.offset), at });
        (!part.is_empty()).then_some(Selection { anchor: from, focus: to, between: Vec::new() })
    }

    /// Where the button was pressed, if that is known more exactly than the pointer's current place.
    pub(super) fn pressed_at(&self, bounds: Rectangle) -> Option<Point> {
        self.pointer.filter(|at| bounds.contains(*at))
    }

    /// The pointer moved; returns whether it selects.
    pub(super) fn moves(&mut self, to: Point) -> bool {
        self.pointer = Some(to);
        let Some(drag) = &mut self.drag else { return false };
        // A click may move a little.
        let has_begun = self.click.is_none_or(|click| click.position().distance(to) >= 3.0);
        drag.at = to;
        has_begun
    }

    /// The pointer's place, while it selects.
    pub(super) fn at(&self) -> Option<Point> {
        self.drag.as_ref().map(|drag| drag.at)
    }

    /// The pointer has reached this end; returns the new selection, if it changed.
    pub(super) fn reach(&mut self, end: End<Key>) -> Option<Option<Selection<Key>>> {
        let drag = self.drag.as_mut().filter(|drag| drag.reached != (end.row, end.offset))?;
        drag.reached = (end.row, end.offset);
        let is_empty = (drag.anchor.row, drag.anchor.offset) == drag.reached;
        Some((!is_empty).then(|| Selection { anchor: drag.anchor.clone(), focus: end, between: Vec::new() }))
    }

    pub(super) fn release(&mut self) -> bool {
        self.drag.take().is_some()
    }
}

/// How far the list should scroll in this frame because the pointer is past an edge.
pub(super) fn pull(bounds: Rectangle, at: Point) -> f32 {
    let above = bounds.y - at.y;
    let below = at.y - (bounds.y + bounds.height);
    if above > 0.0 {
        -(above / 2.0).clamp(2.0, FASTEST)
    } else if below > 0.0 {
        (below / 2.0).clamp(2.0, FASTEST)
    } else {
        0.0
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word at a place, or the text between words there.
fn word(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let Some(c) = text[at..].chars().next().filter(|c| *c != '\n').or_else(|| text[..at].chars().next_back())
    else {
        return 0..0;
    };
    let kind = |c: char| (is_of_word(c), c.is_whitespace(), c == '\n');
    let is_same = |other: char| kind(other) == kind(c);
    let start =
        text[..at].char_indices().rev().take_while(|(_, c)| is_same(*c)).last().map_or(at, |(n, _)| n);
    let length: usize = text[at..].chars().take_while(|c| is_same(*c)).map(char::len_utf8).sum();
    start..at + length
}

/// The line at a place.
fn line(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    start..end
}

/// A table under way.
#[derive(Debug, Clone, Copy)]
enum Table {
    /// Its container has come, and its content follows.
    Entered,
    /// The content is within it; the last cell was here.
    Within(Option<Rectangle>),
}

/// Reads the passages of a row, finds the place nearest to a point, and marks the selection.
pub(super) struct Reader {
    text: String,
    last: Option<Rectangle>,
    /// The distance from where passages are laid out to where they are drawn; below, the visible part.
    shift: Vector,
    clip: Option<Rectangle>,
    entering: Option<(Vector, Rectangle)>,
    table: Option<Table>,
    point: Option<Point>,
    nearest: Option<(f32, usize)>,
    mark: Option<Option<Range<usize>>>,
}

impl Reader {
    /// Looks for the place in a row nearest to this point.
    pub(super) const fn at(point: Point) -> Self {
        Self::new(Some(point), None)
    }

    /// Only reads.
    pub(super) const fn reading() -> Self {
        Self::new(None, None)
    }

    /// Marks this part of a row as selected.
    pub(super) const fn marking(part: Option<Range<usize>>) -> Self {
        Self::new(None, Some(part))
    }

    const fn new(point: Option<Point>, mark: Option<Option<Range<usize>>>) -> Self {
        Self {
            text: String::new(),
            last: None,
            shift: Vector::ZERO,
            clip: None,
            entering: None,
            table: None,
            point,
            nearest: None,
            mark,
        }
    }

    /// The text of the row.
    pub(super) fn text(self) -> String {
        self.text
    }

    /// The end found in this row.
    pub(super) fn end<Key>(self, row: Key) -> End<Key> {
        let offset = self.nearest.map_or(0, |(_, offset)| offset);
        End { row, offset, text: self.text.into() }
    }

    /// The text between the passage before and this one.
    fn separator(&self, bounds: Rectangle) -> &'static str {
        match self.last {
            None => "",
            // The separator of this cell has been added already.
            Some(_) if matches!(self.table, Some(Table::Within(Some(_)))) => "",
            Some(last) if (last.y - bounds.y).abs() < SAME_LINE => " ",
            Some(last) if bounds.y - (last.y + last.height) >= PARAGRAPH => "\n\n",
            Some(_) => "\n",
        }
    }

    /// A container within a table is a cell, unless it is within the last cell. A cell may have no passage.
    fn cell(&mut self, last: Option<Rectangle>, bounds: Rectangle) {
        let separator = match last {
            Some(last) if bounds.is_within(&last.expand(1.0)) => return,
            Some(last) if (last.y - bounds.y).abs() < SAME_LINE => "\t",
            Some(_) => "\n",
            None if self.last.is_some() => "\n\n",
            None => "",
        };
        self.text.push_str(separator);
        self.table = Some(Table::Within(Some(bounds)));
    }

    fn find(&mut self, start: usize, bounds: Rectangle, passage: &passage::PassageState) {
        let Some(point) = self.point else { return };
        let seen = bounds - self.shift;
        let seen = match self.clip {
            None => Some(seen),
            Some(clip) => seen.intersection(&clip),
        };
        let Some(seen) = seen else { return };
        let beyond = |at: f32, from: f32, length: f32| (from - at).max(at - from - length).max(0.0);
        // Text on the pointer's line is nearer than any above or below.
        let far = beyond(point.y, seen.y, seen.height) * 1000.0 + beyond(point.x, seen.x, seen.width);
        if self.nearest.is_none_or(|(nearest, _)| far < nearest) {
            let inner = point + self.shift - (bounds.position() - Point::ORIGIN);
            self.nearest = Some((far, start + passage.at(inner)));
        }
    }
}

impl Operation for Reader {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        let before = (self.shift, self.clip);
        let is_table = matches!(self.table, Some(Table::Entered));
        if is_table {
            self.table = Some(Table::Within(None));
        }
        if let Some((shift, clip)) = self.entering.take() {
            let clip = clip - self.shift;
            self.shift += shift;
            self.clip = match self.clip {
                None => Some(clip),
                Some(outer) => Some(outer.intersection(&clip).unwrap_or_default()),
            };
        }
        operate(self);
        (self.shift, self.clip) = before;
        if is_table {
            self.table = None;
        }
    }

    fn container(&mut self, id: Option<&Id>, bounds: Rectangle) {
        match self.table {
            None if id == Some(&Id::new(TABLE)) => self.table = Some(Table::Entered),
            Some(Table::Within(last)) => self.cell(last, bounds),
            None | Some(Table::Entered) => {}
        }
    }

    fn scrollable(
        &mut self,
        _id: Option<&Id>,
        bounds: Rectangle,
        _content_bounds: Rectangle,
        translation: Vector,
        _state: &mut dyn operation::Scrollable,
    ) {
        self.entering = Some((translation, bounds));
    }

    fn custom(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Any) {
        let Some(passage) = state.downcast_mut::<passage::PassageState>() else { return };
        let text = passage.text();
        let separator = self.separator(bounds);
        self.text.push_str(separator);
        let start = self.text.len();
        self.text.push_str(text);
        self.last = Some(bounds);
        self.find(start, bounds, passage);
        if let Some(mark) = &self.mark {
            let part = mark.as_ref().and_then(|part| {
                let from = part.start.max(start);
                let to = part.end.min(self.text.len());
                (from < to).then(|| from - start..to - start)
            });
            passage.selected = part;
        }
    }

    fn finish(&self) -> Outcome<()> {
        Outcome::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(offset: usize) -> End<u32> {
        End { row: 1, offset, text: "one two_three, four\nfive".into() }
    }

    #[test]
    fn a_double_click_takes_a_word_and_a_triple_click_a_line() {
        let text = &*end(0).text;
        for (at, taken) in [(0, "one"), (3, " "), (6, "two_three"), (13, ","), (19, "four"), (24, "five")] {
            assert_eq!(&text[word(text, at)], taken, "at {at}");
        }
        assert_eq!(&text[line(text, 5)], "one two_three, four");
        assert_eq!(&text[line(text, 24)], "five");
        assert_eq!(word("", 0), 0..0);
        assert_eq!(&"ä ö"[word("ä ö", 1)], "ä", "within a letter");
    }

    #[test]
    fn a_click_selects_nothing_and_a_drag_from_there_does() {
        let mut selecting = Selecting::default();
        assert_eq!(selecting.press(Point::new(10.0, 10.0), end(4)), None);
        assert!(!selecting.moves(Point::new(11.0, 10.0)), "a hand shakes");
        assert!(selecting.moves(Point::new(40.0, 10.0)));
        assert_eq!(selecting.reach(end(4)), None);
        let selected = selecting.reach(end(9)).flatten().unwrap();
        assert_eq!((selected.anchor.offset, selected.focus.offset), (4, 9));
        assert_eq!(selecting.reach(end(4)), Some(None), "back where it began");
        assert!(selecting.release());
        assert!(!selecting.moves(Point::new(80.0, 10.0)), "the button is up");
    }

    #[test]
    fn the_list_is_pulled_past_its_edges_only() {
        let bounds = Rectangle::new(Point::new(0.0, 100.0), iced::Size::new(50.0, 200.0));
        assert!(pull(bounds, Point::new(10.0, 90.0)) < 0.0);
        assert!(pull(bounds, Point::new(10.0, 310.0)) > 0.0);
        assert_eq!(pull(bounds, Point::new(-10.0, 200.0)), 0.0);
        assert_eq!(pull(bounds, Point::new(10.0, 9000.0)), FASTEST);
    }
}
