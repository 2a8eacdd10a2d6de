//! Scrolls an area until a part of its content is in view.

use crate::effect::field;
use iced::{
    Rectangle, Vector,
    advanced::widget::{
        Id, Operation,
        operation::{Focusable, Outcome, Scrollable, scrollable, then},
    },
    widget::scrollable::AbsoluteOffset,
};

/// Scrolls the area `area` by as little as brings the container `part` wholly into view; of one that is
/// higher than the area, its top.
pub fn reveal<T: Send + 'static>(area: &'static str, part: &'static str) -> impl Operation<T> {
    scroll_to(vec![area], Part::Container(Id::new(part)))
}

/// Scrolls a page of fields until the widget with the keyboard is in view.
pub fn reveal_focused<T: Send + 'static>() -> impl Operation<T> {
    scroll_to(field::FORMS.to_vec(), Part::Focused)
}

fn scroll_to<T: Send + 'static>(areas: Vec<&'static str>, part: Part) -> impl Operation<T> {
    let areas = areas.into_iter().map(Id::new).collect();
    let sought = Sought { areas, part, view: None, place: None, enters: false, is_inside: false };
    then(sought, |(area, offset)| scrollable::scroll_to(area, offset))
}

/// A scroll area, and where it is to be scrolled to.
type Target = (Id, AbsoluteOffset<Option<f32>>);

enum Part {
    Container(Id),
    Focused,
}

struct Sought {
    /// One of them is on the screen.
    areas: Vec<Id>,
    part: Part,
    /// The area, its bounds, and how far its content is scrolled.
    view: Option<(Id, Rectangle, Vector)>,
    /// The bounds of the part, as if nothing was scrolled.
    place: Option<Rectangle>,
    /// What is traversed next is the content of the area.
    enters: bool,
    is_inside: bool,
}

impl Operation<Target> for Sought {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation<Target>)) {
        let was_inside = self.is_inside;
        self.is_inside |= std::mem::take(&mut self.enters);
        operate(self);
        self.is_inside = was_inside;
    }

    fn container(&mut self, id: Option<&Id>, bounds: Rectangle) {
        if matches!(&self.part, Part::Container(part) if id == Some(part)) {
            self.place = Some(bounds);
        }
    }

    fn focusable(&mut self, _id: Option<&Id>, bounds: Rectangle, state: &mut dyn Focusable) {
        if matches!(self.part, Part::Focused) && self.is_inside && state.is_focused() {
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
        if let Some(area) = id.filter(|id| self.areas.contains(id)) {
            self.view = Some((area.clone(), bounds, translation));
            self.enters = true;
        }
    }

    fn finish(&self) -> Outcome<Target> {
        let (Some((area, view, scrolled)), Some(place)) = (&self.view, self.place) else {
            return Outcome::None;
        };
        let top = place.y - view.y;
        let bottom = top + place.height;
        let y = if top < scrolled.y {
            top
        } else if bottom > scrolled.y + view.height {
            top.min(bottom - view.height)
        } else {
            return Outcome::None;
        };
        Outcome::Some((area.clone(), AbsoluteOffset { x: None, y: Some(y) }))
    }
}
