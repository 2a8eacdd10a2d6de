/// The background of a card that needs a person, dark and light, each plain and of high risk; and how many of
/// its pixels must be seen.
const CARDS: [u32; 4] = [0x2a_2318, 0xfd_f3df, 0x2c_1d1d, 0xfb_eae8];
const CARD: usize = 5_000;

/// The pixels of a window.
pub struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// Of a binary PPM with 8 bits a channel.
    pub(super) fn parse(ppm: &[u8]) -> Option<Self> {
        let mut rest = ppm.strip_prefix(b"P6")?;
        let mut number = || {
            let from = rest.iter().position(u8::is_ascii_digit)?;
            let to = from + rest[from..].iter().position(|byte| !byte.is_ascii_digit())?;
            let text = std::str::from_utf8(&rest[from..to]).ok()?;
            rest = &rest[to..];
            text.parse::<usize>().ok()
        };
        let (width, height, most) = (number()?, number()?, number()?);
        let rgb = rest.get(1..)?.to_vec();
        (most == 255 && rgb.len() == 3 * width * height).then_some(Self { width, height, rgb })
    }

    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// The colour of a pixel, as `0xrrggbb`; `None` outside.
    #[must_use]
    pub fn at(&self, x: usize, y: usize) -> Option<u32> {
        let index = 3 * (y * self.width + x);
        let is_inside = x < self.width && y < self.height;
        self.rgb.get(index..index + 3).filter(|_| is_inside).map(colour)
    }

    /// How many pixels have this colour.
    #[must_use]
    pub fn count(&self, wanted: u32) -> usize {
        self.rgb.chunks_exact(3).filter(|pixel| colour(pixel) == wanted).count()
    }

    /// Whether a card that needs a person is shown.
    #[must_use]
    pub fn has_card(&self) -> bool {
        CARDS.into_iter().any(|ground| self.count(ground) > CARD)
    }
}

fn colour(pixel: &[u8]) -> u32 {
    pixel.iter().fold(0, |colour, channel| (colour << 8) | u32::from(*channel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_knows_its_pixels() {
        let picture = Picture::parse(b"P6\n2 1\n255\n\x01\x02\x03\x0a\x0b\x0c").unwrap();
        assert_eq!(picture.size(), (2, 1));
        assert_eq!([picture.at(1, 0), picture.at(2, 0), picture.at(0, 1)], [Some(0x0a_0b0c), None, None]);
        assert_eq!(picture.count(0x01_0203), 1);
        assert!(Picture::parse(b"P6\n2 2\n255\n\x01\x02\x03").is_none());
    }
}
