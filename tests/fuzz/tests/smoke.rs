//! Runs every decoder for a few seconds on valid inputs with small changes. `tests/fuzz/run` runs longer.

use abide_fuzz::{Place, corpus};
use proptest::{collection::vec, prelude::*, sample, test_runner::TestRunner};

/// How many inputs each decoder gets; a thousand take about a second.
const CASES: u32 = 1000;

#[derive(Debug, Clone)]
enum Change {
    Set(u8),
    Insert(u8),
    Remove,
    CutHere,
    /// Repeats the bytes at this place.
    Repeat(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u8>().prop_map(Change::Set),
        // Bytes with a meaning in the formats.
        sample::select(&b"\"\\{}[]:,0-9\n \0\xff"[..]).prop_map(Change::Insert),
        Just(Change::Remove),
        Just(Change::CutHere),
        any::<u8>().prop_map(Change::Repeat),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: Vec<(sample::Index, Change)>) -> Vec<u8> {
    for (place, change) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = place.index(bytes.len());
        match change {
            Change::Set(byte) => bytes[at] = byte,
            Change::Insert(byte) => bytes.insert(at, byte),
            Change::Remove => drop(bytes.remove(at)),
            Change::CutHere => bytes.truncate(at),
            Change::Repeat(most) => {
                let end = bytes.len().min(at + usize::from(most));
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

fn try_some(target: &str, holds: impl Fn(&[u8])) {
    let corpus = corpus::of(target);
    corpus.iter().for_each(|bytes| holds(bytes));
    let inputs = (sample::select(corpus), vec((any::<sample::Index>(), change()), 1..6))
        .prop_map(|(bytes, changes)| changed(bytes, changes));
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let ran = TestRunner::new(config).run(&inputs, |bytes| {
        holds(&bytes);
        Ok(())
    });
    assert_eq!(ran.map_err(|failure| failure.to_string()), Ok(()), "{target}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn frames() {
    try_some("frame", abide_fuzz::frame);
}

#[test]
fn hellos() {
    try_some("hello", abide_fuzz::hello);
}

#[test]
fn lines() {
    try_some("line", abide_fuzz::line);
}

#[test]
fn answers_of_openai() {
    try_some("sse_openai", abide_fuzz::sse_openai);
}

#[test]
fn answers_of_responses() {
    try_some("sse_responses", abide_fuzz::sse_responses);
}

#[test]
fn answers_of_anthropic() {
    try_some("sse_anthropic", abide_fuzz::sse_anthropic);
}

#[test]
fn arguments_of_tools() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path());
    try_some("arguments", |bytes| abide_fuzz::arguments(&place, &text(bytes)));
}

#[test]
fn rules_of_commands() {
    try_some("rules", |bytes| abide_fuzz::rules(&text(bytes)));
}

#[test]
fn cursors_of_streams() {
    try_some("cursor", |bytes| abide_fuzz::cursor(&text(bytes)));
}

#[test]
fn stored_records() {
    try_some("stored_record", |bytes| abide_fuzz::stored_record(&text(bytes)));
}

/// For `tests/fuzz/run`.
#[test]
#[ignore = "writes what the fuzzer begins with"]
fn write_corpus() {
    let folder = std::path::PathBuf::from(std::env::var_os("ABIDE_FUZZ_CORPUS").expect("a folder for it"));
    for target in [
        "frame",
        "hello",
        "line",
        "sse_openai",
        "sse_responses",
        "sse_anthropic",
        "arguments",
        "stored_record",
        "rules",
        "cursor",
    ] {
        std::fs::create_dir_all(folder.join(target)).unwrap();
        for (number, bytes) in corpus::of(target).into_iter().enumerate() {
            std::fs::write(folder.join(target).join(number.to_string()), bytes).unwrap();
        }
    }
}
