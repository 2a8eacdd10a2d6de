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

    /// The same direction in a byte a number, the largest number as 127. Its length says nothing.
    #[must_use]
    pub fn quantized(&self) -> [i8; DIMENSION] {
        quantized(&self.0).0
    }
}

/// Numbers in a byte each, and what one of them must be multiplied with to have the number again.
pub(crate) fn quantized(numbers: &[f32; DIMENSION]) -> ([i8; DIMENSION], f32) {
    let largest = numbers.iter().fold(f32::MIN_POSITIVE, |largest, number| largest.max(number.abs()));
    let scale = largest / f32::from(i8::MAX);
    (array::from_fn(|at| (numbers[at] / scale).round() as i8), scale)
}

/// The cosine of the angle between two vectors in bytes: 1 for the same direction. `None`: one of them is no
/// vector of this model, or has no direction.
#[must_use]
pub fn similarity(one: &[i8], other: &[i8]) -> Option<f32> {
    if one.len() != DIMENSION || other.len() != DIMENSION {
        return None;
    }
    let product =
        |a: &[i8], b: &[i8]| -> i32 { a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum() };
    let lengths = f64::from(product(one, one)) * f64::from(product(other, other));
    (lengths > 0.0).then(|| (f64::from(product(one, other)) / lengths.sqrt()) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector with these numbers first, and zeros.
    fn with(first: &[i8]) -> Vec<i8> {
        let mut vector = vec![0; DIMENSION];
        vector[..first.len()].copy_from_slice(first);
        vector
    }

    #[test]
    fn similarity_is_the_cosine_and_refuses_what_is_no_vector() {
        let cases = [
            (with(&[3, 4]), with(&[3, 4]), Some(1.0)),
            (with(&[3, 4]), with(&[30, 40]), Some(1.0)),
            (with(&[3, 4]), with(&[-3, -4]), Some(-1.0)),
            (with(&[1]), with(&[0, 1]), Some(0.0)),
            (with(&[1]), with(&[3, 4]), Some(0.6)),
            (vec![-128; DIMENSION], vec![-128; DIMENSION], Some(1.0)),
            (with(&[]), with(&[1]), None),
            (vec![], vec![], None),
            (vec![1; DIMENSION - 1], vec![1; DIMENSION], None),
            (vec![1; DIMENSION], vec![1; DIMENSION + 1], None),
        ];
        for (one, other, expected) in cases {
            assert_eq!(similarity(&one, &other), expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn bytes_keep_the_direction() {
        let vector = Vector::towards(array::from_fn(|at| (at as f32 * 0.37).sin()));
        let bytes = vector.quantized();
        assert_eq!(bytes.iter().map(|byte| byte.unsigned_abs()).max(), Some(127));
        let product: f32 = vector.as_slice().iter().zip(bytes).map(|(a, b)| a * f32::from(b)).sum();
        let length = bytes.iter().map(|byte| f32::from(*byte).powi(2)).sum::<f32>().sqrt();
        assert!(product / length > 0.9999, "{}", product / length);
        assert_eq!(Vector::towards([0.0; DIMENSION]).quantized(), [0; DIMENSION]);
    }
}
