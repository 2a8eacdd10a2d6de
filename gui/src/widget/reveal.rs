//! Scrolls an area until a part of its content is in view.

use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{Outcome, Scrollable, scrollable, then},
    },
    widget::scrollable::AbsoluteOffset,
};

/// Puts the container `part` at the top of the scroll area `area`, or as near to it as the content allows, unless it is wholly visible.
pub fn reveal<T: Send + 'static>(area: &'static str, part: &'static str) -> impl Operation<T> {
    let sought = Sought { area: Id::new(area), part: Id::new(part), view: None, place: None };
    then(sought, |(area, offset)| scrollable::scroll_to(area, offset))
}

/// A scroll area, and where it is to be scrolled to.
type Target = (Id, AbsoluteOffset<Option<f32>>);

struct Sought {
    area: Id,
    part: Id,
    /// The bounds of the area, and how far its content is scrolled.
    view: Option<(Rectangle, Vector)>,
    /// The bounds of the part, as if nothing was scrolled.
    place: Option<Rectangle>,
}

impl Operation<Target> for Sought {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation<Target>)) {
        operate(self);
    }

    fn container(&mut self, id: Option<&Id>, bounds: Rectangle) {
        if id == Some(&self.part) {
            self.place = Some(bounds);
        }
    }

    fn scrollable(
        &mut self,
        id: Option<&Id>,
        bounds: Rectangle,
        _content: Rectangle,
        translation: Vector,
        _state: &mut dyn Scrollable,
    ) {
        if id == Some(&self.area) {
            self.view = Some((bounds, translation));
        }
    }

    fn finish(&self) -> Outcome<Target> {
        let (Some((view, scrolled)), Some(place)) = (self.view, self.place) else { return Outcome::None };
        let top = place.y - view.y;
        let is_visible = top >= scrolled.y && top + place.height <= scrolled.y + view.height;
        if is_visible {
            Outcome::None
        } else {
            Outcome::Some((self.area.clone(), AbsoluteOffset { x: None, y: Some(top) }))
        }
    }
}
