//! Vectors, whole and in a byte a number.

use crate::DIMENSION;
use std::array;

/// The direction in which a text lies; its length is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector([f32; DIMENSION]);

impl Vector {
    /// Takes the direction of these numbers.
    pub(crate) fn towards(numbers: [f32; DIMENSION]) -> Self {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        Self(numbers.map(|number| number / length.max(f32::MIN_POSITIVE)))
    }

    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How much two texts are about the same things: the cosine of the angle between them, 1 for the same
    /// direction.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

/// The same direction in a byte a number, the largest number as 127. Its length says nothing.
#[must_use]
pub fn in_bytes(numbers: &[f32]) -> Vec<i8> {
    let scale = scale(numbers);
    numbers.iter().map(|number| (number / scale).round() as i8).collect()
}

/// Numbers in a byte each, and what one of them must be multiplied with to have the number again.
pub(crate) fn quantized(numbers: &[f32; DIMENSION]) -> ([i8; DIMENSION], f32) {
    let scale = scale(numbers);
    (array::from_fn(|at| (numbers[at] / scale).round() as i8), scale)
}

fn scale(numbers: &[f32]) -> f32 {
    numbers.iter().fold(f32::MIN_POSITIVE, |largest, number| largest.max(number.abs())) / f32::from(i8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_the_direction() {
        let vector = Vector::towards(array::from_fn(|at| (at as f32 * 0.37).sin()));
        let bytes = in_bytes(vector.as_slice());
        assert_eq!(bytes.iter().map(|byte| byte.unsigned_abs()).max(), Some(127));
        let product: f32 = vector.as_slice().iter().zip(&bytes).map(|(a, b)| a * f32::from(*b)).sum();
        let length = bytes.iter().map(|byte| f32::from(*byte).powi(2)).sum::<f32>().sqrt();
        assert!(product / length > 0.9999, "{}", product / length);
        assert_eq!(in_bytes(&[0.0; 3]), [0; 3]);
        assert_eq!(in_bytes(&[f32::NAN, 1.0, -2.0]), [0, 64, -127]);
    }
}
