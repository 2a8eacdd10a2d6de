//! Places in a laid-out paragraph. A place is a byte offset in its lines, with one break between two of them.

use iced::{
    Point, Rectangle, Size,
    advanced::graphics::text::cosmic_text::{Affinity, Buffer, Cursor},
};
use std::ops::Range;

/// The width of a selected line without text.
const EMPTY: f32 = 5.0;

pub(super) fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for (n, line) in buffer.lines.iter().enumerate() {
        if n > 0 {
            text.push('\n');
        }
        text.push_str(line.text());
    }
    text
}

/// The width of the widest line.
pub(super) fn width(buffer: &Buffer) -> f32 {
    buffer.layout_runs().map(|run| run.line_w).fold(0.0, f32::max)
}

/// The place nearest to a point, from the top left corner.
pub(super) fn hit(buffer: &Buffer, point: Point) -> usize {
    let Some(cursor) = buffer.hit(point.x, point.y.max(0.0)) else { return 0 };
    let before: usize = buffer.lines.iter().take(cursor.line).map(|line| line.text().len() + 1).sum();
    before + cursor.index
}

/// The cursor at a place, or at the end if the text is shorter.
fn cursor(buffer: &Buffer, place: usize, affinity: Affinity) -> Cursor {
    let mut rest = place;
    for (n, line) in buffer.lines.iter().enumerate() {
        let length = line.text().len();
        if rest <= length {
            return Cursor::new_with_affinity(n, rest, affinity);
        }
        rest -= length + 1;
    }
    let last = buffer.lines.len().saturating_sub(1);
    let end = buffer.lines.get(last).map_or(0, |line| line.text().len());
    Cursor::new_with_affinity(last, end, affinity)
}

/// Where these bytes are drawn, from the top left corner.
pub(super) fn bounds(buffer: &Buffer, selected: &Range<usize>) -> Vec<Rectangle> {
    let start = cursor(buffer, selected.start, Affinity::After);
    let end = cursor(buffer, selected.end, Affinity::Before);
    let runs = buffer.layout_runs().filter(|run| (start.line..=end.line).contains(&run.line_i));
    let parts = runs.filter_map(|run| {
        let (x, width) = match run.highlight(start, end) {
            Some(part) => part,
            // The line break at its end is selected.
            None if run.glyphs.is_empty() && run.line_i < end.line => (0.0, EMPTY),
            None => return None,
        };
        (width > 0.0).then(|| Rectangle::new(Point::new(x, run.line_top), Size::new(width, run.line_height)))
    });
    parts.collect()
}
