//! Makes one list of two that rank by different things.

use abide_protocol::memory::Reason;
use std::collections::HashMap;

/// How much a first place counts more than a second one, and so on. With the usual 60 the places would count
/// for almost nothing, and what is found would be no better than by words alone.
const SMOOTHING: f64 = 5.0;

/// A chunk that was found, and its places in the lists, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fused {
    pub(crate) id: i64,
    pub(crate) words: Option<u32>,
    pub(crate) meaning: Option<u32>,
}

impl Fused {
    /// Why it was found.
    pub(crate) fn why(&self) -> Vec<Reason> {
        let (words, meaning) = (self.words.map(Reason::Words), self.meaning.map(Reason::Meaning));
        words.into_iter().chain(meaning).collect()
    }

    fn score(&self) -> f64 {
        let of = |place: Option<u32>| place.map_or(0.0, |place| 1.0 / (SMOOTHING + f64::from(place)));
        of(self.words) + of(self.meaning)
    }
}

/// The found by words and by meaning, the best first, by reciprocal rank. Of two that are as good the greater
/// id comes first, which is the newer. An id that a list has twice counts where it stands first.
pub(crate) fn fuse(words: &[i64], meaning: &[i64]) -> Vec<Fused> {
    let mut found: HashMap<i64, Fused> = HashMap::new();
    let unplaced = |id| Fused { id, words: None, meaning: None };
    for (&id, place) in words.iter().zip(1..) {
        found.entry(id).or_insert_with(|| unplaced(id)).words.get_or_insert(place);
    }
    for (&id, place) in meaning.iter().zip(1..) {
        found.entry(id).or_insert_with(|| unplaced(id)).meaning.get_or_insert(place);
    }
    let mut found: Vec<Fused> = found.into_values().collect();
    found.sort_unstable_by(|a, b| b.score().total_cmp(&a.score()).then_with(|| b.id.cmp(&a.id)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_both_lists_count_and_ties_go_to_the_newer() {
        let cases: [(&[i64], &[i64], &[i64]); 7] = [
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
            let found: Vec<i64> = fuse(words, meaning).iter().map(|fused| fused.id).collect();
            assert_eq!(found, expected, "{words:?} {meaning:?}");
        }
    }

    #[test]
    fn a_first_place_is_more_than_two_late_ones() {
        let words: Vec<i64> = (1..=8).collect();
        let meaning: Vec<i64> = (11..=18).chain([8]).collect();
        let first: Vec<i64> = fuse(&words, &meaning).iter().take(2).map(|fused| fused.id).collect();
        assert_eq!(
            first,
            [11, 1],
            "1/6 > 1/13 + 1/14; with the usual 60 the one in both lists would be first"
        );
    }

    #[test]
    fn each_says_where_it_stood() {
        let found = fuse(&[7, 8], &[8]);
        assert_eq!(found[0].why(), [Reason::Words(2), Reason::Meaning(1)]);
        assert_eq!(found[1].why(), [Reason::Words(1)]);
    }
}
