use super::*;
use crate::published;
use std::{collections::BTreeMap, fs};

const TEXTS: &str = include_str!("../../tests/golden/texts.json");
const TOKENS_OF_TEXTS: &str = include_str!("../../tests/golden/tokens.json");
const SOME_PIECES: &str = include_str!("../../tests/golden/pieces.json");

/// Those of the pieces that occur in the golden texts.
fn with_some_pieces() -> Tokenizer {
    let pieces: BTreeMap<usize, String> = serde_json::from_str(SOME_PIECES).unwrap();
    let lines = (0..PIECES).map(|number| pieces.get(&number).map_or("", String::as_str));
    Tokenizer::new(&lines.collect::<Vec<_>>().join("\n"))
}

/// The published tokenizer is the one of PyPI's `tokenizers`; see `tests/golden/make.py`.
fn cuts_as_the_published(tokenizer: &Tokenizer) {
    let texts: Vec<String> = serde_json::from_str(TEXTS).unwrap();
    let expected: Vec<Vec<u16>> = serde_json::from_str(TOKENS_OF_TEXTS).unwrap();
    assert!(texts.len() >= 200 && texts.len() == expected.len());
    let other: Vec<_> = texts
        .iter()
        .zip(&expected)
        .map(|(text, expected)| (text, tokenizer.tokens(text), expected))
        .filter(|(_, tokens, expected)| tokens != *expected)
        .collect();
    assert!(other.is_empty(), "{} of {} texts: {other:#?}", other.len(), texts.len());
}

#[test]
fn texts_are_cut_as_by_the_published_tokenizer() {
    cuts_as_the_published(&with_some_pieces());
}

#[test]
fn texts_are_cut_so_with_all_pieces() {
    let Some(folder) = published::folder("the published vocabulary") else { return };
    let vocabulary = fs::read_to_string(folder.join("vocab.txt")).unwrap();
    cuts_as_the_published(&Tokenizer::new(&vocabulary));
}

#[test]
fn the_name_of_a_special_token_is_text() {
    let tokenizer = Tokenizer::new(&"\n[\n]\nmask\nsep".replace('\n', &format!("\n{}", "\n".repeat(300))));
    for text in ["[MASK]", "[SEP]"] {
        assert_eq!(tokenizer.tokens(text).len(), 5, "{text}");
        assert!(!tokenizer.tokens(text)[1..4].contains(&UNKNOWN), "{text}");
    }
}
