//! Reproducible random numbers: a test that uses them prints its seed.

use std::{
    env,
    hash::{BuildHasher as _, Hasher as _, RandomState},
};

/// A stream of random numbers (SplitMix64). A clone repeats the rest of the stream.
#[derive(Debug, Clone)]
pub struct Seed(u64);

impl Seed {
    /// The seed from `ABIDE_TEST_SEED`, or a new one. Prints how to repeat it.
    #[must_use]
    pub fn drawn(test: &str) -> Self {
        let given = env::var("ABIDE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        eprintln!("{test}: again with ABIDE_TEST_SEED={seed}");
        Self(seed)
    }

    /// A stream for this name. Drawing from it does not change other streams.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        // FNV-1a, which is the same on every machine and in every version.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let mut seed = Self(self.0 ^ hash);
        Self(seed.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("it is below a usize")
    }

    /// True in so many cases of a hundred.
    pub fn in_a_hundred(&mut self, times: usize) -> bool {
        self.below(100) < times
    }
}

/// How often to do something: the variable's number, or `bounded` without it.
#[must_use]
pub fn times(variable: &str, bounded: usize) -> usize {
    env::var(variable).ok().map_or(bounded, |times| times.parse().expect("a number of times"))
}

/// The median, the 99th percentile and the maximum of some durations, in ms.
#[must_use]
pub fn spread(mut durations: Vec<std::time::Duration>) -> String {
    durations.sort_unstable();
    let Some(slowest) = durations.last() else { return "none".to_owned() };
    let at =
        |part: usize| durations[(durations.len() * part / 100).min(durations.len() - 1)].as_secs_f64() * 1e3;
    format!(
        "median {:.0} ms, p99 {:.0} ms, max {:.0} ms (of {})",
        at(50),
        at(99),
        slowest.as_secs_f64() * 1e3,
        durations.len()
    )
}
