//! Tints the backgrounds of its content, below its text: the content is selected as a whole.

use crate::{
    theme::{radius, style},
    widget::{
        Element,
        wrap::{Wrap, wrapped},
    },
};
use iced::{
    Border, Rectangle, Renderer, Theme,
    advanced::{Renderer as _, renderer::Quad},
};

/// Tints this while it is selected.
pub fn tinted<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    is_selected: bool,
) -> Element<'a, Message> {
    wrapped(content, Tint { is_selected })
}

struct Tint {
    is_selected: bool,
}

impl<Message> Wrap<Message> for Tint {
    type State = ();

    fn state(&self) {}

    fn draw(
        &self,
        (): &(),
        renderer: &mut Renderer,
        theme: &Theme,
        bounds: Rectangle,
        _: Rectangle,
        draw: impl FnOnce(&mut Renderer),
    ) {
        draw(renderer);
        if self.is_selected {
            let border = Border { radius: radius::TOOL.into(), ..Border::default() };
            renderer.fill_quad(Quad { bounds, border, ..Quad::default() }, style::selected_row(theme));
        }
    }
}
