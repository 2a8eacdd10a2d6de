//! A field whose cursor stops blinking when nobody has touched anything for a while. iced's fields blink for as long as they have the
//! keyboard, which is two frames a second for a window that stands there the whole night.

use crate::widget::Element;
use iced::{
    Event, Length, Rectangle, Renderer, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Operation, Tree, tree},
    },
    time::{Duration, Instant},
    window,
};

/// As long as desktops blink (GTK's `gtk-cursor-blink-timeout`).
const BLINKING: Duration = Duration::from_secs(10);

/// A field that comes to rest.
pub fn calm<'a, Message: 'a>(field: impl Into<Element<'a, Message>>) -> Element<'a, Message> {
    Element::new(Calm { field: field.into() })
}

struct Calm<'a, Message> {
    field: Element<'a, Message>,
}

struct State {
    touched: Instant,
    is_window_focused: bool,
}

impl State {
    fn notice(&mut self, event: &Event) {
        match event {
            Event::Keyboard(_) | Event::InputMethod(_) | Event::Touch(_) => {}
            Event::Mouse(mouse::Event::ButtonPressed(_)) => {}
            Event::Window(window::Event::Focused) => self.is_window_focused = true,
            Event::Window(window::Event::Unfocused) => return self.is_window_focused = false,
            _ => return,
        }
        self.touched = Instant::now();
    }

    fn rests(&self, now: Instant) -> bool {
        self.is_window_focused && now.saturating_duration_since(self.touched) >= BLINKING
    }
}

impl<Message> Widget<Message, Theme, Renderer> for Calm<'_, Message> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(State { touched: Instant::now(), is_window_focused: true })
    }

    fn size(&self) -> Size<Length> {
        self.field.as_widget().size()
    }

    fn children(&self) -> Vec<Tree> {
        vec![Tree::new(&self.field)]
    }

    fn diff(&self, tree: &mut Tree) {
        tree.diff_children(std::slice::from_ref(&self.field));
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        self.field.as_widget_mut().layout(&mut tree.children[0], renderer, limits)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        self.field.as_widget_mut().operate(&mut tree.children[0], layout, renderer, operation);
    }

    fn update(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        renderer: &Renderer,
        clipboard: &mut dyn Clipboard,
        shell: &mut Shell<'_, Message>,
        viewport: &Rectangle,
    ) {
        let state: &mut State = tree.state.downcast_mut();
        state.notice(event);
        let field = self.field.as_widget_mut();
        let tree = &mut tree.children[0];
        let mut tell = |event: &Event, shell: &mut Shell<'_, Message>| {
            field.update(tree, event, layout, cursor, renderer, clipboard, shell, viewport);
        };
        let Event::Window(window::Event::RedrawRequested(now)) = event else { return tell(event, shell) };
        if !state.rests(*now) {
            return tell(event, shell);
        }
        let wanted = shell.redraw_request();
        // Begins to blink anew, which it does by being seen; and nothing comes of its wish for the next frame.
        tell(&Event::Window(window::Event::Focused), shell);
        tell(event, shell);
        Shell::replace_redraw_request(shell, wanted);
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        style: &renderer::Style,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        self.field.as_widget().draw(&tree.children[0], renderer, theme, style, layout, cursor, viewport);
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        self.field.as_widget().mouse_interaction(&tree.children[0], layout, cursor, viewport, renderer)
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        let field = self.field.as_widget_mut();
        field.overlay(&mut tree.children[0], layout, renderer, viewport, translation)
    }
}
