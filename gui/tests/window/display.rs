//! A display, painted the way iced does it: only what has changed, by
//! `iced_tiny_skia::window::compositor::present`.

use crate::person::Person;
use iced_test::core::{Rectangle, Size};
use iced_tiny_skia::{
    Layer,
    graphics::{Viewport, damage},
};

/// The display's pixels.
pub(crate) struct Display {
    pub(crate) pixels: tiny_skia::Pixmap,
    mask: tiny_skia::Mask,
    last: Option<Vec<Layer>>,
    scale: f32,
}

impl Display {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self {
            pixels: tiny_skia::Pixmap::new(width, height).unwrap(),
            mask: tiny_skia::Mask::new(width, height).unwrap(),
            last: None,
            scale: 1.0,
        }
    }

    /// The same with so many pixels for a logical one.
    pub(crate) fn scaled(width: u32, height: u32, scale: f32) -> Self {
        Self { scale, ..Self::new(width, height) }
    }

    /// Shows the last frame, and returns the parts that were repainted.
    pub(crate) fn present(&mut self, person: &mut Person) -> Vec<Rectangle> {
        let whole = Rectangle::with_size(person.size);
        let ground = abide_gui::theme::tokens(&person.app.theme()).background;
        let layers = person.renderer.layers();
        let damage = match &self.last {
            None => vec![whole],
            Some(last) => damage::diff(last, layers, |layer| vec![layer.bounds], Layer::damage),
        };
        if damage.is_empty() {
            return damage;
        }
        self.last = Some(layers.to_vec());
        let damage = damage::group(damage, whole);
        let view =
            Viewport::with_physical_size(Size::new(self.pixels.width(), self.pixels.height()), self.scale);
        person.renderer.draw(&mut self.pixels.as_mut(), &mut self.mask, &view, &damage, ground);
        damage
    }
}

/// Writes a picture of the window, whose pixels have red and blue exchanged.
pub(crate) fn save(pixels: &tiny_skia::Pixmap, file: &std::path::Path) {
    let mut encoder =
        png::Encoder::new(std::fs::File::create(file).unwrap(), pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgba);
    let mut data = pixels.data().to_vec();
    data.chunks_mut(4).for_each(|pixel| pixel.swap(0, 2));
    encoder.write_header().unwrap().write_image_data(&data).unwrap();
}
