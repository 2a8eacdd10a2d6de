//! How much is recalled of a set of conversations: `tests/data/memories.txt`, whose head says its form.

use super::support::*;
use abide_protocol::record::RecordBody;
use abide_store::{RecallQuery, Store};
use std::collections::BTreeMap;

const SET: &str = include_str!("../data/memories.txt");

/// The lowest share of each kind, in percent, whose answer is among the ten snippets. By words alone it was 100,
/// 45 and 100 when the set was written: a paraphrase shares few words with its answer. A question weighs 3 % at
/// most: a floor leaves room for one answer that goes, but not for an index that knows no other form of a word,
/// or a query that wants all the words.
const FLOORS: [(&str, usize); 3] = [("identifier", 97), ("paraphrase", 42), ("words", 97)];

/// A question, and the seq of the record with its answer.
struct Asked {
    kind: &'static str,
    text: &'static str,
    answer: u64,
}

/// Puts the set's conversations into the store. Returns how many messages they have, and the questions.
async fn fill(store: &Store) -> (usize, Vec<Asked>) {
    let mut conversations: Vec<(&str, Vec<RecordBody>)> = Vec::new();
    let (mut asked, mut seq, mut messages) = (Vec::new(), 0, 0);
    for line in SET.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (sign, text) = line.split_once(' ').unwrap();
        if sign == "==" {
            seq += 1;
            conversations.push((text, vec![created(text)]));
            continue;
        }
        if sign == "?" {
            let (kind, text) = text.split_once(' ').unwrap();
            asked.push(Asked { kind, text, answer: seq });
            continue;
        }
        (seq, messages) = (seq + 1, messages + 1);
        let said = if sign == "<" { user(text) } else { reply(text, &[]) };
        conversations.last_mut().unwrap().1.push(said);
    }
    let (mut n, mut at) = (0, 0);
    for (_, bodies) in conversations {
        let records = bodies.into_iter().map(|body| {
            at += 1;
            record(at, None, body)
        });
        n += 1;
        store.append(append(conversation(n), records.collect())).await.unwrap();
    }
    (messages, asked)
}

#[tokio::test]
async fn enough_of_a_set_of_conversations_is_recalled() {
    let home = Home::new();
    let store = home.open();
    let (messages, asked) = fill(&store).await;
    assert!(messages >= 200 && asked.len() >= 80, "{messages} messages, {} questions", asked.len());
    let mut kinds: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
    for Asked { kind, text, answer } in asked {
        let query =
            RecallQuery { texts: &[text], workspace: Some("/w"), limit: 10, ..RecallQuery::default() };
        let found = store.recall(query).await.unwrap();
        let (all, missed) = kinds.entry(kind).or_default();
        *all += 1;
        if !found.iter().any(|snippet| snippet.seq.0 == answer) {
            missed.push(text);
        }
    }
    for (kind, (all, missed)) in &kinds {
        let share = 100 * (all - missed.len()) / all;
        println!("recall at 10, {kind}: {share} % of {all}; missed: {missed:#?}");
    }
    for (kind, floor) in FLOORS {
        let (all, missed) = &kinds[kind];
        let share = 100 * (all - missed.len()) / all;
        assert!(share >= floor, "{kind}: {share} %, at least {floor}; missed: {missed:#?}");
    }
    assert_eq!(kinds.len(), FLOORS.len(), "each kind has a floor");
}
