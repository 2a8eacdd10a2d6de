//! Makes one list of two that rank by different things.

use std::{collections::HashMap, hash::Hash};

/// How much a first place counts more than a second one, and so on. With the usual 60 the places would count
/// for almost nothing, and what is found would be no better than by words alone.
const SMOOTHING: f64 = 5.0;

/// One of the found, and its places in the lists, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fused<T> {
    pub id: T,
    pub words: Option<usize>,
    pub meaning: Option<usize>,
}

impl<T> Fused<T> {
    fn score(&self) -> f64 {
        let of = |place: Option<usize>| place.map_or(0.0, |place| 1.0 / (SMOOTHING + place as f64));
        of(self.words) + of(self.meaning)
    }
}

/// The found by words and by meaning, the best first, by reciprocal rank. Of two that are as good the greater
/// id comes first, which is the newer. An id that a list has twice counts where it stands first.
#[must_use]
pub fn fuse<T: Copy + Ord + Hash>(words: &[T], meaning: &[T]) -> Vec<Fused<T>> {
    let mut found: HashMap<T, Fused<T>> = HashMap::new();
    let unplaced = |id| Fused { id, words: None, meaning: None };
    for (&id, place) in words.iter().zip(1..) {
        found.entry(id).or_insert_with(|| unplaced(id)).words.get_or_insert(place);
    }
    for (&id, place) in meaning.iter().zip(1..) {
        found.entry(id).or_insert_with(|| unplaced(id)).meaning.get_or_insert(place);
    }
    let mut found: Vec<Fused<T>> = found.into_values().collect();
    found.sort_unstable_by(|a, b| b.score().total_cmp(&a.score()).then_with(|| b.id.cmp(&a.id)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_both_lists_count_and_ties_go_to_the_newer() {
        let cases: [(&[u32], &[u32], &[u32]); 7] = [
            (&[], &[], &[]),
            (&[3, 1, 2], &[], &[3, 1, 2]),
            (&[], &[3, 1, 2], &[3, 1, 2]),
            // As good: the newer first.
            (&[1], &[2], &[2, 1]),
            (&[1, 2], &[2, 1], &[2, 1]),
            // Fourth and fifth place together are more than a first place: 1/9 + 1/10 > 1/6.
            (&[1, 2, 3, 9], &[4, 5, 6, 7, 9], &[9, 4, 1, 5, 2, 6, 3, 7]),
            // Twice in a list.
            (&[1, 1, 2], &[2], &[2, 1]),
        ];
        for (words, meaning, expected) in cases {
            let found: Vec<u32> = fuse(words, meaning).iter().map(|fused| fused.id).collect();
            assert_eq!(found, expected, "{words:?} {meaning:?}");
        }
    }

    #[test]
    fn a_first_place_is_more_than_two_late_ones() {
        let words: Vec<u32> = (1..=8).collect();
        let meaning: Vec<u32> = (11..=18).chain([8]).collect();
        let first: Vec<u32> = fuse(&words, &meaning).iter().take(2).map(|fused| fused.id).collect();
        assert_eq!(
            first,
            [11, 1],
            "1/6 > 1/13 + 1/14; with the usual 60 the one in both lists would be first"
        );
    }

    #[test]
    fn each_says_where_it_stood() {
        let found = fuse(&[7, 8], &[8]);
        assert_eq!(found[0], Fused { id: 8, words: Some(2), meaning: Some(1) });
        assert_eq!(found[1], Fused { id: 7, words: Some(1), meaning: None });
    }
}
