use super::*;
use crate::{in_bytes, published};
use proptest::prelude::*;
use std::sync::LazyLock;

const TEXTS: &str = include_str!("../../tests/golden/texts.json");
const VECTORS: &str = include_str!("../../tests/golden/vectors.json");

/// A model that means nothing.
static MEANINGLESS: LazyLock<Model> = LazyLock::new(|| {
    let weights = published::meaningless();
    Model { tokenizer: Tokenizer::new(&weights.vocabulary), weights }
});

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn gelu_is_the_exact_one() {
    // By Python's math.erf.
    let cases = [
        (0.0, 0.0),
        (0.5, 0.345_731_23),
        (-0.5, -0.154_268_77),
        (1.0, 0.841_344_8),
        (-1.0, -0.158_655_26),
        (3.0, 2.995_950_2),
        (-3.0, -0.004_049_694),
        (20.0, 20.0),
        (-20.0, 0.0),
    ];
    for (x, expected) in cases {
        assert!((gelu(x) - expected).abs() < 1e-6, "{x}: {}", gelu(x));
    }
}

/// By a program in 64-bit numbers that shares nothing with this one; see `tests/golden/make.py`.
#[test]
fn vectors_are_those_of_the_published_model() {
    #[derive(serde::Deserialize)]
    struct Golden {
        text: usize,
        vector: Vec<f32>,
    }
    let Some(model) = published::model("vectors of the published model") else { return };
    let texts: Vec<String> = serde_json::from_str(TEXTS).unwrap();
    let golden: Vec<Golden> = serde_json::from_str(VECTORS).unwrap();
    assert!(golden.len() >= 10);
    for Golden { text, vector } in golden {
        let text = &texts[text];
        let cosine = product(model.embed(text).as_slice(), &vector);
        assert!(cosine >= 0.9999, "{cosine} {text}");
    }
}

#[test]
fn texts_about_the_same_are_more_similar() {
    let Some(model) = published::model("similarities of the published model") else { return };
    let cases = [
        (
            "When is my sister's birthday?",
            "My sister was born on the third of March.",
            "The build takes four minutes.",
        ),
        ("the deployment fails", "Rolling out the service did not work.", "The cake was very good."),
        ("Which database did we choose?", "We settled on Postgres for storage.", "The window shall be dark."),
    ];
    for (query, about_it, about_another) in cases {
        let [near, far] =
            [about_it, about_another].map(|text| model.embed(query).similarity(&model.embed(text)));
        assert!(near > far + 0.1, "{query}: {near} {far}");
    }
}

#[test]
fn any_text_has_a_vector() {
    let mega = 1 << 20;
    let texts = [
        String::new(),
        " ".repeat(mega),
        "a".repeat(mega),
        "a ".repeat(mega / 2),
        "\u{1}".repeat(mega),
        "\u{301}".repeat(mega / 2),
        "<recalled>\u{0}</recalled>".repeat(mega / 22),
        "漢".repeat(mega / 3),
    ];
    for text in texts {
        let vector = MEANINGLESS.embed(&text);
        let length = product(vector.as_slice(), vector.as_slice());
        assert!((length - 1.0).abs() < 1e-4, "{length} {text:.20}");
    }
}

#[test]
fn only_the_first_tokens_count() {
    let text = "a ".repeat(TOKENS - 2);
    assert_eq!(MEANINGLESS.embed(&text), MEANINGLESS.embed(&format!("{text} b c d")));
    assert_ne!(MEANINGLESS.embed(&text), MEANINGLESS.embed(&format!("b {text}")));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_vector_has_the_length_one(text in proptest::collection::vec(any::<char>(), 0..200)) {
        let text: String = text.into_iter().collect();
        let vector = MEANINGLESS.embed(&text);
        let length = product(vector.as_slice(), vector.as_slice());
        prop_assert!((length - 1.0).abs() < 1e-4, "{}", length);
        prop_assert_ne!(in_bytes(vector.as_slice()), [0; DIMENSION]);
    }
}
