//! Selectable text: plain, in spans with links, or made from a source when it is first shown.
//!
//! iced's own texts do not expose their paragraph. This one offers it to the [list](super::list) around it,
//! which selects across rows; on its own it shows text and reacts to clicks on links.

mod lines;

use super::Element;
use crate::{
    font,
    theme::{radius, size, space, style, tokens},
};
use iced::{
    Border, Color, Event, Font, Length, Padding, Point, Rectangle, Renderer, Shadow, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Renderer as _, Shell, Widget,
        graphics::text::Paragraph,
        layout, mouse, renderer,
        text::{self, Difference, Paragraph as _, Shaping, Wrapping},
        widget::{self, Operation, Tree, tree},
    },
    window,
};
use std::{borrow::Cow, cell::OnceCell, ops::Range, sync::Arc};

/// A part of a text in one style; a link has an address.
pub type Span = text::Span<'static, String>;

/// Makes the spans of a source.
type Drawing<'a> = Box<dyn Fn(&str) -> Vec<Span> + 'a>;

enum Source<'a> {
    Plain(Cow<'a, str>),
    Spans(Arc<[Span]>),
    /// `stamp` changes with everything else that the spans depend on, such as language and theme.
    Drawn {
        source: Cow<'a, str>,
        stamp: u64,
        draw: Drawing<'a>,
    },
}

/// See the module.
pub struct Passage<'a, Message> {
    source: Source<'a>,
    size: f32,
    font: Font,
    wrapping: Wrapping,
    width: Length,
    ink: fn(&Theme) -> widget::text::Style,
    on_link: Option<fn(String) -> Message>,
    is_deferred: bool,
}

/// Prose of the usual size.
pub fn prose<'a, Message>(text: impl Into<Cow<'a, str>>) -> Passage<'a, Message> {
    Passage::new(Source::Plain(text.into()), size::PROSE, font::PROSE)
}

/// Less important text.
pub fn secondary<'a, Message>(text: impl Into<Cow<'a, str>>) -> Passage<'a, Message> {
    prose(text).size(size::SECONDARY).style(style::muted)
}

/// The title of a group, given in capitals.
pub fn head<'a, Message>(text: impl Into<Cow<'a, str>>) -> Passage<'a, Message> {
    prose(text).size(size::HEAD).font(font::STRONG).style(style::muted)
}

/// Code, commands, output.
pub fn code<'a, Message>(text: impl Into<Cow<'a, str>>) -> Passage<'a, Message> {
    Passage::new(Source::Plain(text.into()), size::CODE, font::CODE)
}

/// Text in spans; `on_link` gets the clicked link.
pub fn rich<'a, Message>(spans: Arc<[Span]>, on_link: fn(String) -> Message) -> Passage<'a, Message> {
    let passage = Passage::new(Source::Spans(spans), size::PROSE, font::PROSE);
    Passage { on_link: Some(on_link), ..passage }
}

/// Code that is coloured when it is first shown, and again only if the source or the stamp has changed.
pub fn drawn<'a, Message>(
    source: impl Into<Cow<'a, str>>,
    stamp: u64,
    draw: impl Fn(&str) -> Vec<Span> + 'a,
) -> Passage<'a, Message> {
    let source = Source::Drawn { source: source.into(), stamp, draw: Box::new(draw) };
    Passage::new(source, size::CODE, font::CODE)
}

impl<'a, Message> Passage<'a, Message> {
    fn new(source: Source<'a>, size: f32, font: Font) -> Self {
        let ink = |_: &Theme| widget::text::Style::default();
        let wrapping = Wrapping::WordOrGlyph;
        Self { source, size, font, wrapping, width: Length::Shrink, ink, on_link: None, is_deferred: false }
    }

    #[must_use]
    pub fn size(self, size: f32) -> Self {
        Self { size, ..self }
    }

    #[must_use]
    pub fn font(self, font: Font) -> Self {
        Self { font, ..self }
    }

    #[must_use]
    pub fn width(self, width: Length) -> Self {
        Self { width, ..self }
    }

    #[must_use]
    pub fn wrapping(self, wrapping: Wrapping) -> Self {
        Self { wrapping, ..self }
    }

    /// Code that does not wrap is laid out when it comes into view: its height is that of its lines.
    #[must_use]
    pub fn deferred(self, is_deferred: bool) -> Self {
        Self { is_deferred, ..self }
    }

    #[must_use]
    pub fn style(self, ink: fn(&Theme) -> widget::text::Style) -> Self {
        Self { ink, ..self }
    }
}

/// The laid-out text, for selecting in it.
#[derive(Default)]
pub struct PassageState {
    /// The paragraph's source, unless it was made from spans.
    source: Option<String>,
    stamp: u64,
    /// The spans as given; below, with embedded faces.
    given: Arc<[Span]>,
    spans: Arc<[Span]>,
    paragraph: Paragraph,
    /// The height of a line, if the text is to be laid out when it comes into view.
    due: Option<f32>,
    /// It has come into view.
    is_wanted: bool,
    /// A width that its words did not fit: there, lines break between letters.
    too_narrow: Option<f32>,
    /// The shown text, once it was requested.
    text: OnceCell<String>,
    hovered: Option<usize>,
    pressed: Option<usize>,
    /// The part that is drawn as selected, in bytes of [`PassageState::text`].
    pub(super) selected: Option<Range<usize>>,
    /// The matches of a search, in bytes of [`PassageState::text`], and the number of the current one.
    marked: (Vec<Range<usize>>, Option<usize>),
}

impl PassageState {
    /// The shown text: the lines of the paragraph, with a line break between two of them.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| lines::text(self.paragraph.buffer()))
    }

    /// The place in the text nearest to a point, from the top left corner.
    #[must_use]
    pub fn at(&self, point: Point) -> usize {
        lines::hit(self.paragraph.buffer(), point)
    }

    /// The bounds of a part of the text, from the top left corner.
    #[must_use]
    pub fn bounds(&self, part: &Range<usize>) -> Option<Rectangle> {
        if let Some(height) = self.due {
            let above = self.text().get(..part.start)?;
            let line = above.rsplit('\n').next().unwrap_or_default();
            let size = extent(self.text().get(part.clone())?, height);
            let from = Point::new(extent(line, height).width, extent(above, height).height - height);
            return Some(Rectangle::new(from, size));
        }
        lines::bounds(self.paragraph.buffer(), part).into_iter().reduce(|all, line| all.union(&line))
    }

    /// The text has come into view: if it is not laid out yet, that is due now.
    pub(super) fn show(&mut self) {
        self.is_wanted = self.due.is_some();
    }

    /// Draws these parts as matches, and one of them as the current match.
    pub(super) fn mark(&mut self, parts: Vec<Range<usize>>, at: Option<usize>) {
        self.marked = (parts, at);
    }

    /// Lays the paragraph out; `make` returns a new one if its text or its shapes changed.
    ///
    /// Where a line changes direction, cosmic-text 0.15 puts the next word on it even if it does not fit.
    /// Such a text is laid out again with lines that break between letters.
    fn lay_out(
        &mut self,
        text: text::Text<()>,
        is_same: bool,
        make: impl Fn(&mut Self, text::Text<()>) -> Paragraph,
    ) {
        let room = text.bounds.width;
        let by_letter = text::Text { wrapping: Wrapping::Glyph, ..text };
        let is_by_letter = is_same && self.too_narrow == Some(room);
        let text = if is_by_letter { by_letter } else { text };
        match is_same.then(|| self.paragraph.compare(text)) {
            Some(Difference::None) => return,
            Some(Difference::Bounds) => self.paragraph.resize(text.bounds),
            Some(Difference::Shape) | None => {
                self.paragraph = make(self, text);
                self.text.take();
            }
        }
        self.too_narrow = is_by_letter.then_some(room);
        if text.wrapping == Wrapping::WordOrGlyph && lines::width(self.paragraph.buffer()) > room + 0.5 {
            self.too_narrow = Some(room);
            self.paragraph = make(self, by_letter);
        }
    }

    /// The span under the pointer that is a link.
    fn link_at(&self, point: Point) -> Option<usize> {
        let span = self.paragraph.hit_span(point)?;
        self.spans.get(span)?.link.is_some().then_some(span)
    }
}

impl<Message> Passage<'_, Message> {
    /// The size of a text that is not laid out yet, if it can wait until it comes into view.
    fn defer(&self, state: &mut PassageState) -> Option<Size> {
        let (text, stamp) = match &self.source {
            Source::Plain(text) => (text, state.stamp),
            Source::Drawn { source, stamp, .. } => (source, *stamp),
            Source::Spans(_) => return None,
        };
        let is_same = state.source.as_deref() == Some(&**text) && state.stamp == stamp;
        if !self.is_deferred || is_same && state.due.is_none() {
            state.due = None;
            return None;
        }
        let height = self.size * size::LINE_HEIGHT;
        if !is_same {
            state.source = Some(text.as_ref().to_owned());
            state.stamp = stamp;
            state.paragraph = Paragraph::default();
            (state.given, state.spans) = (Arc::default(), Arc::default());
            state.text = OnceCell::from(text.as_ref().to_owned());
            state.due = Some(height);
        }
        Some(extent(text, height))
    }

    fn lay_out(&self, state: &mut PassageState, bounds: Size) {
        let wanted = text::Text {
            content: (),
            bounds,
            size: self.size.into(),
            line_height: size::LINE_HEIGHT.into(),
            font: self.font,
            align_x: text::Alignment::Default,
            align_y: iced::alignment::Vertical::Top,
            shaping: match self.source {
                Source::Plain(_) => Shaping::default(),
                Source::Spans(_) | Source::Drawn { .. } => Shaping::Advanced,
            },
            wrapping: self.wrapping,
        };
        match &self.source {
            Source::Plain(text) => {
                let is_same = state.source.as_deref() == Some(&**text);
                if !is_same {
                    state.source = Some(text.as_ref().to_owned());
                }
                if !state.given.is_empty() || !state.spans.is_empty() {
                    (state.given, state.spans) = (Arc::default(), Arc::default());
                }
                state.lay_out(wanted, is_same, |_, wanted| Paragraph::with_text(wanted.with_content(text)));
            }
            Source::Spans(spans) => {
                let is_same = Arc::ptr_eq(&state.given, spans) || *state.given == **spans;
                if !is_same {
                    state.spans = font::each_in_its_face(font::embedded_only(spans.clone()));
                }
                state.given = spans.clone();
                state.source = None;
                state.lay_out(wanted, is_same, |state, wanted| {
                    Paragraph::with_spans(wanted.with_content(&state.spans))
                });
            }
            Source::Drawn { source, stamp, draw } => {
                let is_same = state.source.as_deref() == Some(&**source) && state.stamp == *stamp;
                if !is_same {
                    state.source = Some(source.as_ref().to_owned());
                    state.stamp = *stamp;
                    state.given = Arc::default();
                }
                state.lay_out(wanted, is_same, |state, wanted| {
                    let spans = draw(source);
                    let paragraph = Paragraph::with_spans(wanted.with_content(&spans));
                    // The paragraph has the colours of the text; there may be many spans.
                    let is_decorated =
                        |span: &Span| span.highlight.is_some() || span.underline || span.strikethrough;
                    let is_needed = spans.iter().any(is_decorated);
                    state.spans = if is_needed { spans.into() } else { Arc::default() };
                    paragraph
                });
            }
        }
    }
}

impl<Message> Widget<Message, Theme, Renderer> for Passage<'_, Message> {
    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<PassageState>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(PassageState::default())
    }

    fn size(&self) -> Size<Length> {
        Size::new(self.width, Length::Shrink)
    }

    fn layout(&mut self, tree: &mut Tree, _renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let state: &mut PassageState = tree.state.downcast_mut();
        layout::sized(limits, self.width, Length::Shrink, |limits| {
            if let Some(size) = self.defer(state) {
                return size;
            }
            self.lay_out(state, limits.max());
            state.paragraph.min_bounds()
        })
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        _renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        let state: &mut PassageState = tree.state.downcast_mut();
        match &self.source {
            Source::Plain(text) => operation.text(None, layout.bounds(), text),
            Source::Spans(_) | Source::Drawn { .. } => {
                let text = state.text();
                if text.contains(font::JOINER) {
                    operation.text(None, layout.bounds(), &text.replace(font::JOINER, ""));
                } else {
                    operation.text(None, layout.bounds(), text);
                }
            }
        }
        operation.custom(None, layout.bounds(), state);
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
        let state: &mut PassageState = tree.state.downcast_mut();
        let is_drawn = matches!(event, Event::Window(window::Event::RedrawRequested(_)));
        if is_drawn && std::mem::take(&mut state.is_wanted) {
            (state.due, state.source) = (None, None);
            let bounds = Size::new(f32::INFINITY, f32::INFINITY);
            self.lay_out(state, bounds);
        }
        let Some(on_link) = self.on_link else { return };
        let hovered = cursor.position_in(layout.bounds()).and_then(|at| state.link_at(at));
        if std::mem::replace(&mut state.hovered, hovered) != hovered {
            shell.request_redraw();
        }
        match event {
            Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)) => state.pressed = hovered,
            Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)) => {
                // A click that ends a selection follows no link.
                let is_click = state.selected.is_none();
                let pressed = state.pressed.take().filter(|span| Some(*span) == hovered && is_click);
                if let Some(link) = pressed.and_then(|span| state.spans.get(span)?.link.clone()) {
                    shell.publish(on_link(link));
                }
            }
            _ => {}
        }
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        _viewport: &Rectangle,
        _renderer: &Renderer,
    ) -> mouse::Interaction {
        let state: &PassageState = tree.state.downcast_ref();
        match (cursor.is_over(layout.bounds()), state.hovered) {
            (false, _) => mouse::Interaction::None,
            (true, Some(_)) => mouse::Interaction::Pointer,
            (true, None) => mouse::Interaction::Text,
        }
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        style: &renderer::Style,
        layout: Layout<'_>,
        _cursor: mouse::Cursor,
        viewport: &Rectangle,
    ) {
        let bounds = layout.bounds();
        if !bounds.intersects(viewport) {
            return;
        }
        let state: &PassageState = tree.state.downcast_ref();
        let ink = (self.ink)(theme);
        let from = bounds.position() - Point::ORIGIN;
        grounds(state, renderer, from);
        let (marked, at) = &state.marked;
        for (n, part) in marked.iter().enumerate() {
            let width = if *at == Some(n) { 1.5 } else { 0.0 };
            let border = Border { color: tokens(theme).accent, width, radius: radius::KEY.into() };
            for place in lines::bounds(state.paragraph.buffer(), part) {
                fill(renderer, place + from, border, style::selected(theme));
            }
        }
        if let Some(selected) = &state.selected {
            for part in lines::bounds(state.paragraph.buffer(), selected) {
                fill(renderer, part + from, Border::default(), style::selected(theme));
            }
        }
        // Above the selection, which would cover them.
        strokes(state, renderer, from, ink.color.unwrap_or(style.text_color), self.size);
        widget::text::draw(renderer, style, bounds, &state.paragraph, ink, viewport);
    }
}

/// The size of code in lines of this height before it is laid out.
#[expect(clippy::cast_precision_loss, reason = "lines and characters of a part")]
fn extent(text: &str, height: f32) -> Size {
    let widest = text.split('\n').map(|line| line.chars().count()).max().unwrap_or(0);
    Size::new(widest as f32 * space::DIGIT, text.split('\n').count() as f32 * height)
}

/// Draws the backgrounds of spans.
fn grounds(state: &PassageState, renderer: &mut Renderer, from: Vector) {
    for (at, span) in state.spans.iter().enumerate() {
        let Some(highlight) = span.highlight else { continue };
        let neighbour = |at: Option<usize>| at.and_then(|at| state.spans.get(at)).map(|span| &*span.text);
        // The padding must not cover adjacent text without a space.
        let padding = Padding {
            left: if neighbour(at.checked_sub(1)).is_none_or(ends_in_space) {
                span.padding.left
            } else {
                0.0
            },
            right: if neighbour(at.checked_add(1)).is_none_or(begins_with_space) {
                span.padding.right
            } else {
                0.0
            },
            ..span.padding
        };
        for part in state.paragraph.span_bounds(at) {
            let corner = Vector::new(padding.left, padding.top);
            let room = Size::new(padding.x(), padding.y());
            let ground = Rectangle::new(part.position() - corner, part.size() + room);
            renderer.fill_quad(quad(ground + from, highlight.border), highlight.background);
        }
    }
}

/// Draws the underlines and strike-throughs of spans.
fn strokes(state: &PassageState, renderer: &mut Renderer, from: Vector, ink: Color, size: f32) {
    let line = size * size::LINE_HEIGHT;
    let base = size + (line - size) / 2.0;
    for (at, span) in state.spans.iter().enumerate() {
        let is_underlined = span.underline || state.hovered == Some(at);
        if !is_underlined && !span.strikethrough {
            continue;
        }
        let color = span.color.unwrap_or(ink);
        for part in state.paragraph.span_bounds(at) {
            let stroke = |y: f32| {
                let at = part.position() + from + Vector::new(0.0, y);
                Rectangle::new(at, Size::new(part.width, 1.0))
            };
            if is_underlined {
                fill(renderer, stroke(base - size * 0.08), Border::default(), color);
            }
            if span.strikethrough {
                fill(renderer, stroke(base - size / 2.0), Border::default(), color);
            }
        }
    }
}

fn ends_in_space(text: &str) -> bool {
    text.ends_with(char::is_whitespace)
}

fn begins_with_space(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
}

fn quad(bounds: Rectangle, border: Border) -> renderer::Quad {
    renderer::Quad { bounds, border, shadow: Shadow::default(), snap: true }
}

fn fill(renderer: &mut Renderer, bounds: Rectangle, border: Border, color: Color) {
    renderer.fill_quad(quad(bounds, border), color);
}

impl<'a, Message: 'a> From<Passage<'a, Message>> for Element<'a, Message> {
    fn from(passage: Passage<'a, Message>) -> Self {
        Self::new(passage)
    }
}
