//! How much of what was said is recalled by words and by the meaning that the published model gives them.

use super::{
    recall_set::{Kind, RecallSet},
    support::*,
};
use abide_embedding::{ID, Model, in_bytes, install};
use abide_store::{Meaning, RecallQuery};

/// How many questions of each kind have their answer among the first ten at least. Measured, of 30 each:
/// 29 with the same words, 20 paraphrases (7 by words alone), and 30 with identifiers.
const FLOORS: [(Kind, usize); 3] = [(Kind::SameWords, 28), (Kind::Paraphrase, 19), (Kind::Identifiers, 29)];

#[tokio::test]
async fn words_and_meaning_recall_at_ten_what_they_did_when_it_was_measured() {
    let Some(folder) = abide_skip::embedding_model("recall by meaning of a set of questions") else { return };
    let home = Home::new();
    let store = home.open();
    let installed = home.path().with_file_name("model");
    install(&folder, &installed).unwrap();
    let model = Model::open(&installed).unwrap();
    let vector = |text: &str| in_bytes(model.embed(text).as_slice());
    let set = RecallSet::read();
    set.fill(&store).await;
    let passages = store.passages_without_vector(ID, None, 1000).await.unwrap();
    let vectors = passages.iter().map(|passage| (passage.id, vector(&passage.text))).collect();
    store.keep_vectors(ID, vectors).await.unwrap();
    let workspaces = ["/w".to_owned()];
    let mut answered = Vec::new();
    for question in &set.questions {
        let (texts, vector) = ([question.text.as_str()], vector(&question.text));
        let meaning = Some(Meaning { embedder: ID, vector: &vector });
        let query = RecallQuery {
            texts: &texts,
            meaning,
            workspaces: Some(&workspaces),
            limit: 10,
            ..RecallQuery::default()
        };
        if set.is_answered(question, &store.recall(query).await.unwrap()) {
            answered.push(question.kind);
        }
    }
    let found = FLOORS.map(|(kind, _)| (kind, answered.iter().filter(|of| **of == kind).count()));
    let is_enough = found.iter().zip(FLOORS).all(|((_, found), (_, floor))| *found >= floor);
    assert!(is_enough, "{found:?} is less than {FLOORS:?}");
}
