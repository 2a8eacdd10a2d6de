//! The icon's pictures: a doorway in which the light stays on. The light is dim while nothing works, blue
//! while something does; amber is what waits, with its count.

use super::state::Mood;
use crate::theme::DARK;
use iced::Color;
use tiny_skia::{FillRule, LineCap, Paint, Path, PathBuilder, PixmapMut, Rect, Stroke, Transform};

/// As a tray takes it: width, height, and four bytes a pixel: alpha, red, green, blue.
pub(super) type Pixmap = (i32, i32, Vec<u8>);

/// The heights of trays, in pixels.
const SIZES: [u32; 5] = [16, 22, 32, 48, 64];
/// The picture is drawn on a grid of so many units.
const GRID: f32 = 16.0;
/// How far the handles of a curve are from its ends, as a part of the radius, so that it is a quarter of a
/// circle.
const ARC: f32 = 0.5523;
/// Rows of three pixels each, the left one first: the digits, and `+`.
const DIGITS: [[u8; 5]; 11] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
    [0b000, 0b010, 0b111, 0b010, 0b000],
];

/// The picture in each size.
pub(super) fn pixmaps(mood: Mood) -> Vec<Pixmap> {
    SIZES.into_iter().filter_map(|size| pixmap(mood, size)).collect()
}

/// `None` only if there is no such size.
fn pixmap(mood: Mood, size: u32) -> Option<Pixmap> {
    let side = i32::try_from(size).ok()?;
    let mut map = tiny_skia::Pixmap::new(size, size)?;
    draw(&mut map.as_mut(), mood, side);
    let pixels = map.pixels().iter().map(|pixel| pixel.demultiply());
    let bytes = pixels.flat_map(|pixel| [pixel.alpha(), pixel.red(), pixel.green(), pixel.blue()]).collect();
    Some((side, side, bytes))
}

#[expect(clippy::cast_precision_loss, reason = "pixels of an icon")]
fn draw(map: &mut PixmapMut<'_>, mood: Mood, side: i32) {
    let grid = Transform::from_scale(side as f32 / GRID, side as f32 / GRID);
    let mut fill = |path: Option<Path>, colour: Color, transform| {
        if let Some(path) = path {
            map.fill_path(&path, &paint(colour), FillRule::Winding, transform, None);
        }
    };
    fill(tile(0.0, 0.0, GRID, GRID, 3.5), DARK.on_accent, grid);
    let light = match mood {
        Mood::Away | Mood::Idle => DARK.faint,
        Mood::Working => DARK.accent,
        Mood::Waiting(_) => DARK.needs_you,
    };
    fill(PathBuilder::from_circle(8.0, 10.0, 2.0), light, grid);
    let stroke = Stroke { width: 2.0, line_cap: LineCap::Butt, ..Stroke::default() };
    if let Some(arch) = arch() {
        map.stroke_path(&arch, &paint(DARK.text), &stroke, grid, None);
    }
    if let Mood::Waiting(count) = mood {
        badge(map, count, side);
    }
}

/// The count, at the lower right, in whole pixels.
#[expect(clippy::cast_precision_loss, reason = "pixels of an icon")]
fn badge(map: &mut PixmapMut<'_>, count: usize, side: i32) {
    let signs: &[usize] = if count > 9 { &[9, 10] } else { &[count] };
    let columns = if signs.len() == 1 { 3 } else { 7 };
    let dot = (side / (columns + 8)).max(1);
    let (width, height) = ((columns + 2) * dot, 7 * dot);
    let (left, top) = (side - width, side - height);
    // A dark edge parts it from the light.
    for (edge, colour) in [(dot, DARK.on_accent), (0, DARK.needs_you)] {
        let (left, top, size) = ((left - edge) as f32, (top - edge) as f32, 2.0 * edge as f32);
        if let Some(ground) = tile(left, top, width as f32 + size, height as f32 + size, dot as f32) {
            map.fill_path(&ground, &paint(colour), FillRule::Winding, Transform::identity(), None);
        }
    }
    for (at, sign) in (0..).zip(signs) {
        for (row, bits) in (0..).zip(DIGITS.get(*sign).into_iter().flatten()) {
            for column in (0..3).filter(|column| bits & (0b100 >> column) != 0) {
                let x = left + (1 + at * 4 + column) * dot;
                let y = top + (1 + row) * dot;
                if let Some(pixel) = Rect::from_xywh(x as f32, y as f32, dot as f32, dot as f32) {
                    map.fill_rect(pixel, &paint(DARK.on_accent), Transform::identity(), None);
                }
            }
        }
    }
}

fn paint(colour: Color) -> Paint<'static> {
    let [red, green, blue, alpha] = colour.into_rgba8();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, alpha);
    paint
}

/// A rectangle with round corners.
fn tile(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    let (right, bottom, handle) = (x + width, y + height, radius * (1.0 - ARC));
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.cubic_to(right - handle, y, right, y + handle, right, y + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - handle, right - handle, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.cubic_to(x + handle, bottom, x, bottom - handle, x, bottom - radius);
    path.line_to(x, y + radius);
    path.cubic_to(x, y + handle, x + handle, y, x + radius, y);
    path.close();
    path.finish()
}

/// The doorway.
fn arch() -> Option<Path> {
    let (radius, reach) = (4.0, 4.0 * ARC);
    let mut path = PathBuilder::new();
    path.move_to(4.0, 13.0);
    path.line_to(4.0, 7.0);
    path.cubic_to(4.0, 7.0 - reach, 8.0 - reach, 7.0 - radius, 8.0, 7.0 - radius);
    path.cubic_to(8.0 + reach, 7.0 - radius, 12.0, 7.0 - reach, 12.0, 7.0);
    path.line_to(12.0, 13.0);
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(mood: Mood, colour: Color) -> usize {
        let [red, green, blue, alpha] = colour.into_rgba8();
        let (.., bytes) = pixmap(mood, 64).unwrap();
        bytes.chunks_exact(4).filter(|pixel| *pixel == [alpha, red, green, blue]).count()
    }

    #[test]
    fn each_mood_has_its_light() {
        let moods = [
            (Mood::Idle, DARK.faint),
            (Mood::Away, DARK.faint),
            (Mood::Working, DARK.accent),
            (Mood::Waiting(1), DARK.needs_you),
        ];
        for (mood, light) in moods {
            for colour in [DARK.faint, DARK.accent, DARK.needs_you] {
                assert_eq!(count(mood, colour) > 100, colour == light, "{mood:?}: {colour:?}");
            }
        }
    }

    #[test]
    fn the_count_is_drawn_up_to_nine_and_then_says_more() {
        for size in SIZES {
            let drawn = |count| pixmap(Mood::Waiting(count), size).unwrap();
            let all: Vec<Pixmap> = (1..=10).map(drawn).collect();
            for (at, one) in all.iter().enumerate() {
                assert!(
                    all[..at].iter().all(|other| other != one),
                    "{size}: {} looks like a smaller count",
                    at + 1
                );
            }
            assert_eq!(drawn(10), drawn(1000));
        }
    }

    #[test]
    fn a_picture_has_four_bytes_a_pixel_and_clear_corners() {
        for (width, height, bytes) in pixmaps(Mood::Waiting(3)) {
            assert_eq!((width, i32::try_from(bytes.len()).unwrap()), (height, 4 * width * height));
            assert_eq!(bytes[..4], [0; 4]);
        }
    }
}
