//! One line of text that is cut with an ellipsis at its end, or its beginning: iced cuts without a sign.

use crate::{
    font::{self, JOINER},
    widget::Element,
};
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
use std::{borrow::Cow, ops::Range, sync::Arc};

type Paragraph = <Renderer as text::Renderer>::Paragraph;

const ELLIPSIS: &str = "…";

/// The part that is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    End,
    /// Of a path the end is more useful.
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
    /// Highlighted parts, in bytes and in order; below, their font.
    marks: Vec<Range<usize>>,
    marked: Font,
}

/// A line of text as wide as the available room.
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

    /// Cuts at the beginning, for paths.
    #[must_use]
    pub const fn from_left(mut self) -> Self {
        self.cut = Cut::Beginning;
        self
    }

    /// Highlights these parts, in bytes and in order, by this font, in a text that is cut at its end.
    #[must_use]
    pub fn marking(mut self, marks: Vec<Range<usize>>, font: Font) -> Self {
        (self.marks, self.marked) = (marks, font);
        self
    }

    /// No wider than its text.
    #[must_use]
    pub const fn shrinking(mut self) -> Self {
        self.width = Shrink;
        self
    }
}

#[derive(Default)]
struct State {
    /// The whole text, for measuring.
    whole: LaidOutLine,
    /// The part that fits.
    shown: LaidOutLine,
}

/// A laid-out line and its source.
#[derive(Default)]
struct LaidOutLine {
    content: String,
    marks: Vec<Range<usize>>,
    paragraph: Paragraph,
}

impl LaidOutLine {
    /// Lays the line out again if needed; returns whether it was.
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

    /// The paragraph of the text, or of its beginning, in these bounds.
    fn paragraph(&self, content: &str, bounds: Size) -> Paragraph {
        if self.marks.is_empty() {
            return Paragraph::with_text(text::Text { bounds, ..self.text(content) });
        }
        Paragraph::with_spans(text::Text { bounds, ..self.text(&*self.spans(content)) })
    }

    /// The parts with and without a mark, each in its own face.
    fn spans(&self, content: &str) -> Arc<[Span<'static, ()>]> {
        let mut spans: Vec<Span<'static, ()>> = Vec::new();
        let mut at = 0;
        for mark in &self.marks {
            let end = mark.end.min(content.len());
            if let (Some(before), Some(marked)) = (content.get(at..mark.start), content.get(mark.start..end))
            {
                spans.extend([Span::new(before.to_owned()), Span::new(marked.to_owned()).font(self.marked)]);
                at = end;
            }
        }
        spans.push(Span::new(content.get(at..).unwrap_or_default().to_owned()));
        font::each_in_its_face(spans.into())
    }

    /// The byte of the content for a byte of its paragraph, which has a joiner between two faces within a
    /// word.
    fn byte(&self, drawn: usize) -> usize {
        if self.marks.is_empty() {
            return drawn;
        }
        let text: String = self.spans(&self.content).iter().map(|span| &*span.text).collect();
        let joiners = text.get(..drawn).unwrap_or_default().matches(JOINER).count();
        drawn.saturating_sub(joiners * JOINER.len_utf8())
    }

    fn width(&self, content: &str) -> f32 {
        self.paragraph(content, Size::INFINITE).min_width()
    }

    /// The part of `content` that fits.
    fn part(&self, whole: &Paragraph, width: f32) -> String {
        let room = (width - self.width(ELLIPSIS)).max(0.0);
        let content = &*self.content;
        let y = self.size / 2.0;
        // The byte of the letter at this edge.
        let edge = |x: f32| self.byte(whole.hit_test(Point::new(x, y)).map_or(0, |hit| hit.cursor()));
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
        // The letter nearest to the edge may be one too far.
        while !part.is_empty() && self.width(&say(&part)) > width {
            match self.cut {
                Cut::End => drop(part.pop()),
                Cut::Beginning => drop(part.remove(0)),
            }
        }
        if self.cut == Cut::Beginning {
            // Begins with a whole name, if there is one.
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
            state.shown = LaidOutLine::default();
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
