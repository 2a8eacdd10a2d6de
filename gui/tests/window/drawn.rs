//! Inspects the last frame: its texts, their colours, and its boxes.

use crate::person::Person;
use abide_gui::theme;
use iced_test::core::{
    Background, Color, Point, Rectangle, Size,
    alignment::Vertical,
    renderer::Quad,
    text::{self, Paragraph as _},
};
use iced_tiny_skia::graphics::text::{Paragraph, Text};

/// All boxes of the frame.
fn boxes(person: &mut Person) -> Vec<(Quad, Background)> {
    person.renderer.layers().iter().flat_map(|layer| layer.quads.clone()).collect()
}

/// When these boxes are drawn: their numbers among all boxes. A later one covers an earlier one.
pub(crate) fn turns(person: &mut Person, is_it: impl Fn(&Quad, &Background) -> bool) -> Vec<usize> {
    let numbered = boxes(person).into_iter().enumerate();
    numbered.filter(|(_, (quad, fill))| is_it(quad, fill)).map(|(turn, _)| turn).collect()
}

/// The boxes with a border of this colour that are at least `width` wide.
pub(crate) fn bordered(person: &mut Person, color: Color, width: f32) -> Vec<Rectangle> {
    let is_it =
        |quad: &Quad| quad.border.width > 0.0 && quad.border.color == color && quad.bounds.width >= width;
    boxes(person).into_iter().filter(|(quad, _)| is_it(quad)).map(|(quad, _)| quad.bounds).collect()
}

/// The boxes whose border is seen.
pub(crate) fn with_border(person: &mut Person) -> Vec<Rectangle> {
    let is_seen = |quad: &Quad| quad.border.width > 0.0 && quad.border.color.a > 0.0;
    boxes(person).into_iter().filter(|(quad, _)| is_seen(quad)).map(|(quad, _)| quad.bounds).collect()
}

/// The boxes around a point that are no higher than a button or a row.
pub(crate) fn boxes_around(person: &mut Person, place: Point) -> Vec<(Quad, Background)> {
    let is_there = |(quad, _): &(Quad, Background)| quad.bounds.contains(place) && quad.bounds.height < 60.0;
    boxes(person).into_iter().filter(is_there).collect()
}

/// The colours of the dots within these bounds.
pub(crate) fn dots(person: &mut Person, bounds: Rectangle) -> Vec<Color> {
    let is_dot = |quad: &Quad| quad.bounds.width < 12.0 && quad.bounds.is_within(&bounds);
    let dots = boxes(person).into_iter().filter(|(quad, _)| is_dot(quad));
    dots.filter_map(|(_, fill)| if let Background::Color(color) = fill { Some(color) } else { None })
        .collect()
}

/// The marks of search matches.
pub(crate) fn marks(person: &mut Person) -> Vec<Rectangle> {
    marked(person).into_iter().map(|quad| quad.bounds).collect()
}

/// The mark of the current search match.
pub(crate) fn found(person: &mut Person) -> Option<Rectangle> {
    marked(person).into_iter().find(|quad| quad.border.width > 0.0).map(|quad| quad.bounds)
}

fn marked(person: &mut Person) -> Vec<Quad> {
    let ground = theme::style::selected(&person.app.theme());
    let is_mark = |fill: &Background| *fill == Background::Color(ground);
    boxes(person).into_iter().filter(|(_, fill)| is_mark(fill)).map(|(quad, _)| quad).collect()
}

/// The colour of the text within these bounds.
pub(crate) fn ink(person: &mut Person, bounds: Rectangle) -> Option<Color> {
    let within = bounds.expand(2.0);
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let texts = texts.flat_map(|item| item.as_slice().iter().map(|text| (text, item.transformation())));
    texts.into_iter().find_map(|(text, outer)| match text {
        Text::Paragraph { position, color, transformation, .. } => {
            within.contains(*position * *transformation * outer).then_some(*color)
        }
        _ => None,
    })
}

/// The drawn part of each text. A text without enough room is cut.
pub(crate) fn words(person: &mut Person) -> Vec<String> {
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let words = texts.flat_map(|item| item.as_slice()).filter_map(|text| match text {
        Text::Paragraph { paragraph, .. } => {
            let paragraph = paragraph.upgrade()?;
            Some(paragraph.buffer().lines.iter().map(|line| line.text()).collect())
        }
        _ => None,
    });
    words.collect()
}

/// The texts that another widget draws, for example the list of a picker.
pub(crate) fn filled(person: &mut Person) -> Vec<String> {
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let texts = texts.flat_map(|item| item.as_slice()).filter_map(|text| match text {
        Text::Cached { content, .. } => Some(content.clone()),
        _ => None,
    });
    texts.collect()
}

/// The texts that are wider than their bounds, of those that another widget draws, for example a picker.
pub(crate) fn too_wide(person: &mut Person) -> Vec<String> {
    let mut found = Vec::new();
    let texts =
        person.renderer.layers().iter().flat_map(|layer| &layer.text).flat_map(|item| item.as_slice());
    for text in texts {
        let Text::Cached { content, bounds, size, font, line_height, .. } = text else { continue };
        let measured = Paragraph::with_text(text::Text {
            content: content.as_str(),
            bounds: Size::new(f32::INFINITY, f32::INFINITY),
            size: *size,
            line_height: text::LineHeight::Absolute(*line_height),
            font: *font,
            align_x: text::Alignment::Default,
            align_y: Vertical::Top,
            shaping: text::Shaping::Advanced,
            wrapping: text::Wrapping::None,
        });
        if measured.min_width() > bounds.width + 1.0 {
            found.push(content.clone());
        }
    }
    found
}

/// How strong the lights over cards are.
pub(crate) fn light(person: &mut Person) -> Vec<f32> {
    let light = theme::tokens(&person.app.theme()).needs_you;
    let is_it = |color: &Color| Color { a: 1.0, ..*color } == light && color.a > 0.0 && color.a < 1.0;
    let fills = boxes(person).into_iter().filter(|(quad, _)| quad.bounds.width > 200.0).map(|(_, fill)| fill);
    let lights = fills.filter_map(|fill| match fill {
        Background::Color(color) if is_it(&color) => Some(color.a),
        _ => None,
    });
    lights.collect()
}

/// The colour of each line of the editor that contains this text; `None` for the text's own.
pub(crate) fn inks_of_editor(person: &mut Person, text: &str) -> Vec<Option<Color>> {
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let editors = texts.flat_map(|item| item.as_slice()).filter_map(|text| match text {
        Text::Editor { editor, .. } => editor.upgrade(),
        _ => None,
    });
    let all = editors.map(|editor| {
        let lines = editor.buffer().lines.iter();
        let of_line = |line: &str, ink| (line.to_owned(), ink);
        lines.map(|line| of_line(line.text(), line.attrs_list().get_span(0).color_opt)).collect::<Vec<_>>()
    });
    let mut all = all.filter(|lines| lines.iter().any(|(line, _)| line.contains(text)));
    let color = |ink: [u8; 4]| Color::from_rgba8(ink[0], ink[1], ink[2], f32::from(ink[3]) / 255.0);
    all.next().unwrap().into_iter().map(|(_, ink)| ink.map(|ink| color(ink.as_rgba()))).collect()
}
