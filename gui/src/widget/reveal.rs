//! Scrolls an area until a part of its content is in view.

use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{Outcome, Scrollable, scrollable, then},
    },
    widget::scrollable::AbsoluteOffset,
};

/// Scrolls the area `area` by as little as brings the container `part` wholly into view; of one that is higher than the area, its top.
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
        let bottom = top + place.height;
        let y = if top < scrolled.y {
            top
        } else if bottom > scrolled.y + view.height {
            top.min(bottom - view.height)
        } else {
            return Outcome::None;
        };
        Outcome::Some((self.area.clone(), AbsoluteOffset { x: None, y: Some(y) }))
    }
}
