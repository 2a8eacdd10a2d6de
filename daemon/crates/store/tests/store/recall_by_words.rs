//! How much of what was said is recalled by words alone.

use super::{
    recall::HERE,
    recall_set::{Kind, RecallSet},
    support::*,
};
use abide_store::RecallQuery;

/// How many questions of each kind have their answer among the first ten at least. Measured, of 30 each:
/// 29 with the same words or other forms of them (20 without `porter`), 7 paraphrases (most are beyond
/// words), and 30 with identifiers.
const FLOORS: [(Kind, usize); 3] = [(Kind::SameWords, 28), (Kind::Paraphrase, 6), (Kind::Identifiers, 29)];

#[tokio::test]
async fn words_recall_at_ten_what_they_did_when_it_was_measured() {
    let home = Home::new();
    let store = home.open();
    let set = RecallSet::read();
    set.fill(&store).await;
    let (mut answered, mut missed) = (Vec::new(), Vec::new());
    for question in &set.questions {
        let texts = [question.text.as_str()];
        let query =
            RecallQuery { texts: &texts, workspaces: Some(&HERE[..]), limit: 10, ..RecallQuery::default() };
        match set.is_answered(question, &store.recall(query).await.unwrap()) {
            true => answered.push(question.kind),
            false => missed.push(&question.text),
        }
    }
    let found = FLOORS.map(|(kind, _)| (kind, answered.iter().filter(|of| **of == kind).count()));
    let is_enough = found.iter().zip(FLOORS).all(|((_, found), (_, floor))| *found >= floor);
    assert!(is_enough, "{found:?} is less than {FLOORS:?}; missed: {missed:#?}");
}
