//! The line between the list and the page, which can be dragged.

use crate::{
    theme::{space, tokens},
    widget::Element,
};
use iced::{
    Event, Fill, Length, Rectangle, Renderer, Size, Theme,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, renderer,
        renderer::Renderer as _,
        widget::{Tree, tree},
    },
};

/// A vertical line; `drag` gets the pointer's distance from the window's left edge, `drop` the release.
pub fn grip<'a, Message: Clone + 'a>(
    drag: impl Fn(f32) -> Message + 'a,
    drop: Message,
) -> Element<'a, Message> {
    Element::new(Grip { drag: Box::new(drag), drop })
}

struct Grip<'a, Message> {
    drag: Box<dyn Fn(f32) -> Message + 'a>,
    drop: Message,
}

#[derive(Default)]
struct State {
    is_grabbed: bool,
}

/// The line can be grabbed a little beside it, too.
fn reach(line: Rectangle) -> Rectangle {
    Rectangle { x: line.x - space::XS, width: line.width + 2.0 * space::XS, ..line }
}

impl<Message: Clone> Widget<Message, Theme, Renderer> for Grip<'_, Message> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(State::default())
    }

    fn size(&self) -> Size<Length> {
        Size::new(Length::Fixed(1.0), Fill)
    }

    fn layout(&mut self, _tree: &mut Tree, _renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        layout::atomic(limits, 1.0, Fill)
    }

    fn update(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        _renderer: &Renderer,
        _clipboard: &mut dyn Clipboard,
        shell: &mut Shell<'_, Message>,
        _viewport: &Rectangle,
    ) {
        let state = tree.state.downcast_mut::<State>();
        match event {
            Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left))
                if cursor.is_over(reach(layout.bounds())) =>
            {
                state.is_grabbed = true;
                shell.capture_event();
            }
            Event::Mouse(mouse::Event::CursorMoved { position }) if state.is_grabbed => {
                shell.publish((self.drag)(position.x));
                shell.capture_event();
            }
            Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)) if state.is_grabbed => {
                state.is_grabbed = false;
                shell.publish(self.drop.clone());
                shell.capture_event();
            }
            _ => {}
        }
    }

    fn draw(
        &self,
        _tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        _style: &renderer::Style,
        layout: Layout<'_>,
        _cursor: mouse::Cursor,
        _viewport: &Rectangle,
    ) {
        let quad = renderer::Quad { bounds: layout.bounds(), snap: true, ..renderer::Quad::default() };
        renderer.fill_quad(quad, tokens(theme).line);
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        _viewport: &Rectangle,
        _renderer: &Renderer,
    ) -> mouse::Interaction {
        let state = tree.state.downcast_ref::<State>();
        if state.is_grabbed || cursor.is_over(reach(layout.bounds())) {
            mouse::Interaction::ResizingHorizontally
        } else {
            mouse::Interaction::None
        }
    }
}
