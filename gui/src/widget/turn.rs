//! Turns to the next page of a scroll area.

use crate::theme::size;
use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{Outcome, Scrollable},
    },
    widget::scrollable::AbsoluteOffset,
};

/// Scrolls the area `area` down by what it shows, less a line.
pub fn turn<T>(area: &'static str) -> impl Operation<T> {
    Turn { area: Id::new(area) }
}

struct Turn {
    area: Id,
}

impl<T> Operation<T> for Turn {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation<T>)) {
        operate(self);
    }

    fn scrollable(
        &mut self,
        id: Option<&Id>,
        bounds: Rectangle,
        content: Rectangle,
        _translation: Vector,
        state: &mut dyn Scrollable,
    ) {
        if id == Some(&self.area) {
            let y = (bounds.height - size::LABEL).max(size::LABEL);
            state.scroll_by(AbsoluteOffset { x: 0.0, y }, bounds, content);
        }
    }

    fn finish(&self) -> Outcome<T> {
        Outcome::None
    }
}
