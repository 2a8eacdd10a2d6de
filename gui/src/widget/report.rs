//! Reports what is drawn: a card's place, and whether there is a caret. iced does not report that itself.

use crate::{
    guard::Spot,
    theme::size,
    widget::{
        Element,
        wrap::{Inner, Wrap, wrapped},
    },
};
use iced::{
    Event, Rectangle, Vector,
    advanced::{
        Shell,
        widget::{
            Id, Operation,
            operation::{Focusable, Scrollable},
        },
    },
    window,
};

/// Reports the card's place, if it differs from `known`.
pub fn sighted<'a, Message: 'a>(
    card: impl Into<Element<'a, Message>>,
    known: Option<Spot>,
    tell: impl Fn(Spot) -> Message + 'a,
) -> Element<'a, Message> {
    wrapped(card, Told { look: spot, known, tell })
}

/// Reports whether one of its fields has the keyboard, if that differs from `known`.
pub fn caret<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    known: bool,
    tell: impl Fn(bool) -> Message + 'a,
) -> Element<'a, Message> {
    wrapped(content, Told { look: is_focused, known: Some(known), tell })
}

/// Whether a widget in this has the keyboard.
pub fn is_focused<Message>(content: &mut Inner<'_, '_, Message>) -> bool {
    let mut found = Focused(false);
    content.operate(&mut found);
    found.0
}

#[expect(clippy::cast_possible_truncation, reason = "whole pixels of a screen")]
fn spot<Message>(card: &mut Inner<'_, '_, Message>) -> Spot {
    let mut overflow = Overflow::default();
    card.operate(&mut overflow);
    let (card, view) = (card.bounds(), card.viewport());
    Spot {
        top: (card.y - view.y).round() as i32,
        height: card.height.round() as i32,
        view: view.height.round() as i32,
        // A difference by rounding hides nothing.
        is_whole: card.y >= view.y - 1.0 && card.y + card.height <= view.y + view.height + 1.0,
        is_blind: overflow.is_blind,
        shows_end: !overflow.hides_end,
    }
}

struct Focused(bool);

impl Operation for Focused {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn focusable(&mut self, _id: Option<&Id>, _bounds: Rectangle, state: &mut dyn Focusable) {
        self.0 |= state.is_focused();
    }
}

/// What scroll areas hide.
#[derive(Default)]
struct Overflow {
    /// One that has more content than it shows shows less than a line.
    is_blind: bool,
    /// The end of the content of one is out of view.
    hides_end: bool,
}

impl Operation for Overflow {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn Operation)) {
        operate(self);
    }

    fn scrollable(
        &mut self,
        _id: Option<&Id>,
        bounds: Rectangle,
        content: Rectangle,
        translation: Vector,
        _state: &mut dyn Scrollable,
    ) {
        let is_cut = content.height > bounds.height + 1.0;
        self.is_blind |= is_cut && bounds.height < size::LABEL;
        self.hides_end |= translation.y + bounds.height < content.height - 1.0;
    }
}

struct Told<T, Message, Tell> {
    look: fn(&mut Inner<'_, '_, Message>) -> T,
    known: Option<T>,
    tell: Tell,
}

impl<T: Copy + PartialEq, Message, Tell: Fn(T) -> Message> Wrap<Message> for Told<T, Message, Tell> {
    type State = ();

    fn state(&self) {}

    fn update(
        &mut self,
        (): &mut (),
        event: &Event,
        content: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        content.update(event, shell);
        if let Event::Window(window::Event::RedrawRequested(_)) = event {
            let seen = (self.look)(content);
            if self.known != Some(seen) {
                self.known = Some(seen);
                shell.publish((self.tell)(seen));
            }
        }
    }
}
