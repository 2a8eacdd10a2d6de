//! What the last frame draws: words, their colours, and boxes.

use crate::person::Person;
use iced_test::core::{Background, Color, Point, Rectangle, renderer::Quad};
use iced_tiny_skia::graphics::text::Text;

/// Each box of the frame.
fn boxes(person: &mut Person) -> Vec<(Quad, Background)> {
    person.renderer.layers().iter().flat_map(|layer| layer.quads.clone()).collect()
}

/// The boxes that lie around this place and are no larger than a button or a row.
pub(crate) fn boxes_around(person: &mut Person, place: Point) -> Vec<(Quad, Background)> {
    let is_there = |(quad, _): &(Quad, Background)| quad.bounds.contains(place) && quad.bounds.height < 60.0;
    boxes(person).into_iter().filter(is_there).collect()
}

/// The colour of the words that stand within these bounds.
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

/// Words that are drawn without a widget of their own, such as an editor's placeholder.
pub(crate) fn plain_words(person: &mut Person) -> Vec<String> {
    let texts =
        person.renderer.layers().iter().flat_map(|layer| &layer.text).flat_map(|item| item.as_slice());
    let words = |text: &Text| match text {
        Text::Cached { content, .. } => Some(content.clone()),
        _ => None,
    };
    texts.filter_map(words).collect()
}
