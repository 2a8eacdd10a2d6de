//! The model: from tokens to a vector.

use crate::{
    DIMENSION, OpenError, Vector,
    tokenizer::{TOKENS, Tokenizer},
    weights::{LAYERS, Row, WIDENING, Weights},
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, Slice};
use std::{array, path::Path};

/// How many parts of a token look at the other tokens, each on its own.
const HEADS: usize = 12;
const HEAD: usize = DIMENSION / HEADS;
/// Keeps a normalisation from dividing by nothing.
const EPSILON: f32 = 1e-12;

/// A model that is loaded: some 60 MB.
pub struct Model {
    tokenizer: Tokenizer,
    weights: Weights,
}

impl Model {
    /// Loads the file that [`install`](crate::install()) has written, which takes some 70 ms.
    ///
    /// # Errors
    /// The file cannot be read, is something else, or is damaged.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let mut weights = Weights::read(path)?;
        let tokenizer = Tokenizer::new(&std::mem::take(&mut weights.vocabulary));
        Ok(Self { tokenizer, weights })
    }

    /// What the text is about. Only its first 254 pieces of words count, which are some 200 English words. A
    /// text without words has a vector too, which says nothing.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vector {
        let tokens = self.tokenizer.tokens(text);
        let mut rows = Rows(&self.weights.rows);
        let mut state = self.places(&tokens, &mut rows);
        normalize(&mut state, &mut rows);
        for _ in 0..LAYERS {
            state = layer(&state, &mut rows);
        }
        let mean = state.sum_axis(Axis(0));
        Vector::towards(array::from_fn(|at| mean[at]))
    }

    /// Each token with its place in the text.
    fn places(&self, tokens: &[u16], rows: &mut Rows<'_>) -> Array2<f32> {
        let places = rows.take(TOKENS);
        let mut state = Array2::zeros((tokens.len(), DIMENSION));
        for ((mut row, &token), place) in state.rows_mut().into_iter().zip(tokens).zip(places) {
            let token = usize::from(token);
            let scale = self.weights.scales[token];
            for ((number, &word), place) in row.iter_mut().zip(&self.weights.words[token]).zip(place) {
                *number = f32::from(word).mul_add(scale, *place);
            }
        }
        state
    }
}

/// The rows of weights that are still to come.
struct Rows<'a>(&'a [Row]);

impl<'a> Rows<'a> {
    fn take(&mut self, count: usize) -> &'a [Row] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn matrix(&mut self, count: usize) -> ArrayView2<'a, f32> {
        ArrayView2::from(self.take(count))
    }

    /// One vector of all numbers of the rows.
    fn vector(&mut self, count: usize) -> ArrayView1<'a, f32> {
        ArrayView1::from(self.take(count).as_flattened())
    }
}

fn layer(state: &Array2<f32>, rows: &mut Rows<'_>) -> Array2<f32> {
    let seen = attention(&(state.dot(&rows.matrix(3 * DIMENSION).t()) + rows.vector(3)));
    let mut state = seen.dot(&rows.matrix(DIMENSION).t()) + rows.vector(1) + state;
    normalize(&mut state, rows);

    let mut wide = state.dot(&rows.matrix(WIDENING * DIMENSION).t()) + rows.vector(WIDENING);
    wide.mapv_inplace(gelu);
    let mut state = wide.dot(&rows.matrix(WIDENING * DIMENSION)) + rows.vector(1) + state;
    normalize(&mut state, rows);
    state
}

/// What each token takes of the others, of the queries, keys and values of all tokens.
fn attention(of: &Array2<f32>) -> Array2<f32> {
    let mut seen = Array2::zeros((of.nrows(), DIMENSION));
    for head in 0..HEADS {
        let columns = |from: usize| {
            let start = from * DIMENSION + head * HEAD;
            Slice::from(start..start + HEAD)
        };
        let [query, key, value] = [0, 1, 2].map(|from| of.slice_axis(Axis(1), columns(from)));
        let mut weights = query.dot(&key.t());
        for mut row in weights.rows_mut() {
            let largest = row.fold(f32::NEG_INFINITY, |largest, number| largest.max(*number));
            row.mapv_inplace(|number| ((number - largest) / (HEAD as f32).sqrt()).exp());
            let sum = row.sum();
            row /= sum;
        }
        seen.slice_axis_mut(Axis(1), columns(0)).assign(&weights.dot(&value));
    }
    seen
}

/// Gives the numbers of each row the learned mean and spread.
fn normalize(state: &mut Array2<f32>, rows: &mut Rows<'_>) {
    let (spread, mean) = (rows.vector(1), rows.vector(1));
    for mut row in state.rows_mut() {
        let had = row.sum() / DIMENSION as f32;
        row -= had;
        let variance = row.dot(&row) / DIMENSION as f32;
        row /= (variance + EPSILON).sqrt();
        row *= &spread;
        row += &mean;
    }
}

/// x Φ(x), with the error function of Abramowitz and Stegun 7.1.26, which is off by 1.5e-7 at most.
fn gelu(x: f32) -> f32 {
    const FACTORS: [f32; 5] = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6];
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / 0.327_591_1_f32.mul_add(z, 1.0);
    let tail = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-z * z).exp();
    let below = if x < 0.0 { tail } else { 2.0 - tail };
    0.5 * x * below
}

#[cfg(test)]
mod tests;
