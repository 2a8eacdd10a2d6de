//! One line of text that ends in an ellipsis where the room ends, or begins with one: iced cuts without a sign.

use crate::widget::Element;
use iced::{
    Fill, Font, Length, Pixels, Point, Rectangle, Renderer, Shrink, Size, Theme,
    advanced::{
        Layout, Widget, layout, mouse, renderer,
        text::{self, Paragraph as _, paragraph::Plain},
        widget::{Operation, Tree, text::draw, tree},
    },
    alignment::Vertical,
    widget::text::{LineHeight, Style},
};
use std::borrow::Cow;

type Paragraph = <Renderer as text::Renderer>::Paragraph;

const ELLIPSIS: &str = "…";

/// Which part is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    End,
    /// A path's end says more than its beginning.
    Beginning,
}

/// See the module.
pub struct Elided<'a> {
    content: Cow<'a, str>,
    size: f32,
    font: Font,
    line_height: f32,
    ink: Option<fn(&Theme) -> Style>,
    cut: Cut,
    width: Length,
}

/// Text of one line, as wide as there is room.
pub fn elided<'a>(content: impl Into<Cow<'a, str>>, size: f32, font: Font) -> Elided<'a> {
    Elided { content: content.into(), size, font, line_height: 1.5, ink: None, cut: Cut::End, width: Fill }
}

impl Elided<'_> {
    #[must_use]
    pub const fn style(mut self, ink: fn(&Theme) -> Style) -> Self {
        self.ink = Some(ink);
        self
    }

    /// For paths: what is left out is at the beginning.
    #[must_use]
    pub const fn from_left(mut self) -> Self {
        self.cut = Cut::Beginning;
        self
    }

    /// No wider than its words.
    #[must_use]
    pub const fn shrinking(mut self) -> Self {
        self.width = Shrink;
        self
    }
}

#[derive(Default)]
struct State {
    /// All of it, to be measured.
    whole: Plain<Paragraph>,
    /// What finds room.
    shown: Plain<Paragraph>,
}

impl Elided<'_> {
    fn text<'b>(&self, content: &'b str) -> text::Text<&'b str> {
        text::Text {
            content,
            bounds: Size::new(f32::INFINITY, f32::INFINITY),
            size: Pixels(self.size),
            line_height: LineHeight::Relative(self.line_height),
            font: self.font,
            align_x: text::Alignment::Default,
            align_y: Vertical::Top,
            shaping: text::Shaping::Advanced,
            wrapping: text::Wrapping::None,
        }
    }

    fn width(&self, content: &str) -> f32 {
        Paragraph::with_text(self.text(content)).min_width()
    }

    /// What finds room of `content`, which does not.
    fn part(&self, whole: &Plain<Paragraph>, width: f32) -> String {
        let room = (width - self.width(ELLIPSIS)).max(0.0);
        let content = &*self.content;
        let y = self.size / 2.0;
        // Where the letter begins that is over the edge.
        let edge = |x: f32| whole.raw().hit_test(Point::new(x, y)).map_or(0, |hit| hit.cursor());
        let mut part = match self.cut {
            Cut::End => content.get(..edge(room)).unwrap_or_default().trim_end().to_owned(),
            Cut::Beginning => {
                let from = edge((whole.min_width() - room).max(0.0));
                content.get(from..).unwrap_or_default().to_owned()
            }
        };
        let say = |part: &str| match self.cut {
            Cut::End => format!("{part}{ELLIPSIS}"),
            Cut::Beginning => format!("{ELLIPSIS}{part}"),
        };
        // The edge is that of the nearest letter, which may be one too far.
        while !part.is_empty() && self.width(&say(&part)) > width {
            match self.cut {
                Cut::End => drop(part.pop()),
                Cut::Beginning => drop(part.remove(0)),
            }
        }
        if self.cut == Cut::Beginning {
            // From a whole name on, if there is one.
            part = part.find('/').map(|at| part[at..].to_owned()).unwrap_or(part);
        }
        say(&part)
    }
}

impl<Message> Widget<Message, Theme, Renderer> for Elided<'_> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(State::default())
    }

    fn size(&self) -> Size<Length> {
        Size::new(self.width, Shrink)
    }

    fn layout(&mut self, tree: &mut Tree, _renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let state = tree.state.downcast_mut::<State>();
        let is_new = state.whole.update(self.text(&self.content));
        let needed = state.whole.min_width();
        let height = state.whole.min_height();
        let size = limits.resolve(self.width, Shrink, Size::new(needed, height));
        let room = size.width;
        if needed <= room + 0.5 {
            state.shown = Plain::default();
        } else if is_new || state.shown.raw().bounds().width != room {
            let part = self.part(&state.whole, room);
            state.shown.update(text::Text { bounds: Size::new(room, f32::INFINITY), ..self.text(&part) });
        }
        layout::Node::new(Size::new(room, height))
    }

    fn operate(
        &mut self,
        _tree: &mut Tree,
        layout: Layout<'_>,
        _renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        operation.text(None, layout.bounds(), &self.content);
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        defaults: &renderer::Style,
        layout: Layout<'_>,
        _cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        let state = tree.state.downcast_ref::<State>();
        let shown = if state.shown.content().is_empty() { &state.whole } else { &state.shown };
        let style = self.ink.map_or_else(Style::default, |ink| ink(theme));
        draw(renderer, defaults, layout.bounds(), shown.raw(), style, viewport);
    }
}

impl<'a, Message: 'a> From<Elided<'a>> for Element<'a, Message> {
    fn from(text: Elided<'a>) -> Self {
        Self::new(text)
    }
}
