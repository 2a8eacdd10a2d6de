//! Tab: moves the keyboard to the next visible widget that takes it, and on a page that scrolls to its fields
//! to the next one at all. It begins with the page, goes on with what is below the page and with the list
//! beside it, and after the last widget no widget has the keyboard.

use crate::effect::field;
use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{self, Focusable, Outcome, Scrollable},
    },
};

/// Moves to the next widget, or to the one before. The first is the first one in the container `page` or
/// after it.
pub fn move_keyboard<T: Send + 'static>(is_back: bool, page: &'static str) -> impl Operation<T> {
    let found = Found { is_back, ..Found::default() };
    operation::then(Count { found, page: Id::new(page), sight: Sight::default() }, |found| Step {
        found,
        at: 0,
        sight: Sight::default(),
    })
}

/// The visible part of the window at this point of the operation: scroll areas clip their content.
#[derive(Debug, Clone, Copy, Default)]
struct Sight {
    /// The clip of a scroll area whose content comes next.
    next: Option<(Rectangle, Vector)>,
    here: Option<(Rectangle, Vector)>,
}

impl Sight {
    fn scrolls(&mut self, id: Option<&Id>, (bounds, content): (Rectangle, Rectangle), translation: Vector) {
        let by = self.here.map_or(Vector::ZERO, |(_, by)| by);
        let translation = by + translation;
        if id.is_some_and(|id| field::FORMS.iter().any(|form| *id == Id::new(form))) {
            // All of it can be seen: it scrolls to what gets the keyboard.
            self.next = Some((content - translation, translation));
            return;
        }
        let cut = self.here.and_then(|(cut, _)| cut.intersection(&(bounds - by)));
        self.next = Some((cut.unwrap_or(bounds - by), translation));
    }

    fn enter(&mut self) -> Option<(Rectangle, Vector)> {
        let outer = self.here;
        self.here = self.next.take().or(outer);
        outer
    }

    fn sees(&self, bounds: Rectangle) -> bool {
        self.here.is_none_or(|(cut, by)| {
            let at = bounds - by;
            at.y >= cut.y - 1.0 && at.y + at.height <= cut.y + cut.height + 1.0
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    is_back: bool,
    focused: Option<usize>,
    /// The index of the first widget of the page.
    first: usize,
    total: usize,
}

impl Found {
    /// The index of the widget that gets the keyboard; `None`: no widget gets it.
    fn wanted(&self) -> Option<usize> {
        let place_of = |at: usize| (at + self.total - self.first) % self.total;
        let place = match (self.focused.map(place_of), self.is_back) {
            (None, false) => Some(0),
            (None, true) => self.total.checked_sub(1),
            (Some(place), false) => Some(place + 1),
            (Some(place), true) => place.checked_sub(1),
        };
        place.filter(|place| *place < self.total).map(|place| (place + self.first) % self.total)
    }
}

struct Count {
    found: Found,
    page: Id,
    sight: Sight,
}

impl Operation<Found> for Count {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation<Found>)) {
        let outer = self.sight.enter();
        operate(self);
        self.sight.here = outer;
    }

    fn container(&mut self, id: Option<&Id>, _bounds: Rectangle) {
        if id == Some(&self.page) {
            self.found.first = self.found.total;
        }
    }

    fn scrollable(
        &mut self,
        id: Option<&Id>,
        bounds: Rectangle,
        content: Rectangle,
        translation: Vector,
        _state: &mut dyn Scrollable,
    ) {
        self.sight.scrolls(id, (bounds, content), translation);
    }

    fn focusable(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Focusable) {
        if state.is_focused() || self.sight.sees(bounds) {
            if state.is_focused() {
                self.found.focused = Some(self.found.total);
            }
            self.found.total += 1;
        }
    }

    fn finish(&self) -> Outcome<Found> {
        Outcome::Some(self.found)
    }
}

struct Step {
    found: Found,
    at: usize,
    sight: Sight,
}

impl<T> Operation<T> for Step {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation<T>)) {
        let outer = self.sight.enter();
        operate(self);
        self.sight.here = outer;
    }

    fn scrollable(
        &mut self,
        id: Option<&Id>,
        bounds: Rectangle,
        content: Rectangle,
        translation: Vector,
        _state: &mut dyn Scrollable,
    ) {
        self.sight.scrolls(id, (bounds, content), translation);
    }

    fn focusable(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Focusable) {
        if state.is_focused() || self.sight.sees(bounds) {
            if Some(self.at) == self.found.wanted() {
                state.focus();
            } else {
                state.unfocus();
            }
            self.at += 1;
        }
    }
}
