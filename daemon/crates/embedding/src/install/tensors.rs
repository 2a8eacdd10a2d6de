//! Brings the published weights into the order and form of our file.

use crate::{
    DIMENSION,
    tokenizer::{PIECES, TOKENS},
    vector::quantized,
    weights::{LAYERS, ROWS, Row, WIDENING, Weights},
};
use serde_json::Value;
use std::array;

/// The weights of a published file: the length of a header, the header in JSON, and numbers. `None`: it is
/// not this model's.
pub(super) fn arrange(published: &[u8], vocabulary: String) -> Option<Weights> {
    let tensors = Tensors::new(published)?;
    let mut rows = Vec::with_capacity(ROWS);
    // Each text is of the first kind of the two that a text can be.
    let kind = *tensors.rows("embeddings.token_type_embeddings.weight")?.first()?;
    let places = tensors.rows("embeddings.position_embeddings.weight")?;
    rows.extend(places.get(..TOKENS)?.iter().map(|place| array::from_fn(|at| place[at] + kind[at])));
    rows.extend(tensors.normalization("embeddings")?);
    for layer in 0..LAYERS {
        let of = |name: &str| format!("encoder.layer.{layer}.{name}");
        for what in ["weight", "bias"] {
            for part in ["query", "key", "value"] {
                rows.extend(tensors.rows(&of(&format!("attention.self.{part}.{what}")))?);
            }
        }
        for what in ["weight", "bias"] {
            rows.extend(tensors.rows(&of(&format!("attention.output.dense.{what}")))?);
        }
        rows.extend(tensors.normalization(&of("attention.output"))?);
        for what in ["weight", "bias"] {
            rows.extend(tensors.rows(&of(&format!("intermediate.dense.{what}")))?);
        }
        // The only one whose rows are not of our length; its columns are.
        rows.extend(turned(&tensors.rows(&of("output.dense.weight"))?));
        rows.extend(tensors.rows(&of("output.dense.bias"))?);
        rows.extend(tensors.normalization(&of("output"))?);
    }
    let words = tensors.rows("embeddings.word_embeddings.weight")?;
    let (words, scales): (Vec<_>, Vec<_>) = words.iter().map(quantized).unzip();
    let is_whole = rows.len() == ROWS && words.len() == PIECES;
    is_whole.then_some(Weights { scales, words, rows, vocabulary })
}

/// A published file taken apart.
struct Tensors<'a> {
    header: Value,
    numbers: &'a [u8],
}

impl<'a> Tensors<'a> {
    fn new(published: &'a [u8]) -> Option<Self> {
        let (length, rest) = published.split_first_chunk()?;
        let (header, numbers) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Self { header: serde_json::from_slice(header).ok()?, numbers })
    }

    fn rows(&self, name: &str) -> Option<Vec<Row>> {
        let place =
            |at: usize| usize::try_from(self.header.get(name)?.get("data_offsets")?.get(at)?.as_u64()?).ok();
        let bytes = self.numbers.get(place(0)?..place(1)?)?;
        let numbers: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Some(numbers.as_chunks::<DIMENSION>().0.to_vec())
    }

    fn normalization(&self, of: &str) -> Option<Vec<Row>> {
        let [weight, bias] = ["weight", "bias"].map(|what| self.rows(&format!("{of}.LayerNorm.{what}")));
        Some([weight?, bias?].concat())
    }
}

/// The columns of a matrix with rows of [`WIDENING`] times our length.
fn turned(matrix: &[Row]) -> Vec<Row> {
    let long = matrix.as_chunks::<WIDENING>().0;
    (0..WIDENING * DIMENSION)
        .map(|column| array::from_fn(|row| long.get(row).map_or(0.0, |row| row.as_flattened()[column])))
        .collect()
}
