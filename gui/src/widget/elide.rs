//! One line of text that ends in an ellipsis where the room ends, or begins with one: iced cuts without a sign.

use crate::widget::Element;
use iced::{
    Fill, Font, Length, Pixels, Point, Rectangle, Renderer, Shrink, Size, Theme,
    advanced::{
        Layout, Widget, layout, mouse, renderer,
        text::{self, Difference, Paragraph as _, Span},
        widget::{Operation, Tree, text::draw, tree},
    },
    alignment::Vertical,
    widget::text::{LineHeight, Style},
};
use std::{borrow::Cow, ops::Range};

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
    /// Parts that stand out, in bytes and in order, and by which font.
    marks: Vec<Range<usize>>,
    marked: Font,
}

/// Text of one line, as wide as there is room.
pub fn elided<'a>(content: impl Into<Cow<'a, str>>, size: f32, font: Font) -> Elided<'a> {
    Elided {
        content: content.into(),
        size,
        font,
        line_height: 1.5,
        ink: None,
        cut: Cut::End,
        width: Fill,
        marks: Vec::new(),
        marked: font,
    }
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

    /// These parts, in bytes and in order, stand out by this font, in a text that is cut at its end.
    #[must_use]
    pub fn marking(mut self, marks: Vec<Range<usize>>, font: Font) -> Self {
        (self.marks, self.marked) = (marks, font);
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
    whole: Line,
    /// What finds room.
    shown: Line,
}

/// What is laid out, and of what.
#[derive(Default)]
struct Line {
    content: String,
    marks: Vec<Range<usize>>,
    paragraph: Paragraph,
}

impl Line {
    /// Whether it had to be laid out anew.
    fn update(&mut self, of: &Elided<'_>, content: &str, width: f32) -> bool {
        let text = text::Text { bounds: Size::new(width, f32::INFINITY), ..of.text(()) };
        if self.content == content && self.marks == of.marks {
            match self.paragraph.compare(text) {
                Difference::None => return false,
                Difference::Bounds => {
                    self.paragraph.resize(text.bounds);
                    return false;
                }
                Difference::Shape => {}
            }
        }
        self.paragraph = of.paragraph(content, text.bounds);
        content.clone_into(&mut self.content);
        self.marks.clone_from(&of.marks);
        true
    }
}

impl Elided<'_> {
    fn text<T>(&self, content: T) -> text::Text<T> {
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

    /// The text, or its beginning, in the room there is.
    fn paragraph(&self, content: &str, bounds: Size) -> Paragraph {
        if self.marks.is_empty() {
            return Paragraph::with_text(text::Text { bounds, ..self.text(content) });
        }
        let mut spans: Vec<Span<'_, ()>> = Vec::new();
        let mut at = 0;
        for mark in &self.marks {
            let end = mark.end.min(content.len());
            if let (Some(before), Some(marked)) = (content.get(at..mark.start), content.get(mark.start..end))
            {
                spans.extend([Span::new(before), Span::new(marked).font(self.marked)]);
                at = end;
            }
        }
        spans.push(Span::new(content.get(at..).unwrap_or_default()));
        Paragraph::with_spans(text::Text { bounds, ..self.text(&*spans) })
    }

    fn width(&self, content: &str) -> f32 {
        self.paragraph(content, Size::INFINITE).min_width()
    }

    /// What finds room of `content`, which does not.
    fn part(&self, whole: &Paragraph, width: f32) -> String {
        let room = (width - self.width(ELLIPSIS)).max(0.0);
        let content = &*self.content;
        let y = self.size / 2.0;
        // Where the letter begins that is over the edge.
        let edge = |x: f32| whole.hit_test(Point::new(x, y)).map_or(0, |hit| hit.cursor());
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
        let is_new = state.whole.update(self, &self.content, f32::INFINITY);
        let needed = state.whole.paragraph.min_width();
        let height = state.whole.paragraph.min_height();
        let size = limits.resolve(self.width, Shrink, Size::new(needed, height));
        let room = size.width;
        if needed <= room + 0.5 {
            state.shown = Line::default();
        } else if is_new || state.shown.paragraph.bounds().width != room {
            let part = self.part(&state.whole.paragraph, room);
            state.shown.update(self, &part, room);
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
        let shown = if state.shown.content.is_empty() { &state.whole } else { &state.shown };
        let style = self.ink.map_or_else(Style::default, |ink| ink(theme));
        draw(renderer, defaults, layout.bounds(), &shown.paragraph, style, viewport);
    }
}

impl<'a, Message: 'a> From<Elided<'a>> for Element<'a, Message> {
    fn from(text: Elided<'a>) -> Self {
        Self::new(text)
    }
}
