//! Ids and random numbers from a time and entropy.

use abide_engine::Mint;
use abide_protocol::Timestamp;

/// The reference values of <https://prng.di.unimi.it/splitmix64.c> for this seed.
#[test]
fn numbers_are_those_of_split_mix_64() {
    let mut mint = Mint::new(Timestamp(0), 1_234_567);
    let numbers: Vec<u64> = (0..5).map(|_| mint.random()).collect();
    assert_eq!(
        numbers,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821
        ]
    );
}

#[test]
fn ids_are_unique_uuids_of_their_time() {
    let at = Timestamp(1_790_000_000_123);
    let mut mint = Mint::new(at, 7);
    let (one, other) = (mint.uuid(), mint.uuid());
    assert_ne!(one, other);
    for id in [one, other] {
        assert_eq!(id.get_version_num(), 7);
        let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
        assert_eq!((seconds, nanos / 1_000_000), (1_790_000_000, 123));
    }
    assert_eq!(Mint::new(at, 7).uuid(), one, "the same entropy makes the same ids");
    let mut last = other;
    for n in 0..4000 {
        let next = mint.uuid();
        assert!(next > last, "{n}: an append's ids sort as they were made");
        last = next;
    }
}
