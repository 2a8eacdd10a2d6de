//! What is recalled by what it means, and what is left of the vectors.

use super::{delete::files_that_hold, recall::*, support::*};
use abide_protocol::{
    RecordId, Seq, Timestamp,
    memory::MemoryUse,
    record::{Noted, RecordBody},
};
use abide_store::{Integrity, Meaning, Passage, PassageId, Prune, RecallQuery, Store};

/// An embedder that knows what things are about.
const EMBEDDER: &str = "topics/1";

/// Vehicles, weather, food.
fn vector(text: &str) -> Vec<i8> {
    let topics = [["car", "automobile"], ["rain", "storm"], ["bread", "cake"]];
    let about = |words: &[&str; 2]| if words.iter().any(|word| text.contains(word)) { 100 } else { 1 };
    topics.iter().map(about).collect()
}

fn by_meaning(query: RecallQuery<'static>, vector: &'static [i8]) -> RecallQuery<'static> {
    RecallQuery { meaning: Some(Meaning { embedder: EMBEDDER, vector }), ..query }
}

async fn missing(store: &Store, embedder: &str) -> Vec<Passage> {
    store.passages_without_vector(embedder, None, 500).await.unwrap()
}

/// Keeps a vector of each passage that has none.
async fn embed(store: &Store, embedder: &str, vector: impl Fn(&str) -> Vec<i8>) -> Vec<PassageId> {
    let passages = missing(store, embedder).await;
    let vectors = passages.iter().map(|passage| (passage.id, vector(&passage.text))).collect();
    store.keep_vectors(embedder, vectors).await.unwrap();
    passages.into_iter().map(|passage| passage.id).collect()
}

/// The texts that are recalled, each with why.
async fn found(store: &Store, query: RecallQuery<'_>) -> Vec<String> {
    let snippets = recalled(store, query).await;
    snippets.iter().map(|snippet| format!("{}: {}", snippet.text, snippet.why())).collect()
}

#[tokio::test]
async fn what_means_the_same_is_recalled_within_the_same_scope() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let said = ["My car is red.", "The storm is red.", "A cake was eaten."];
    say(&store, id, 2, &said.map(user)).await;
    let elsewhere = begin_in(&store, 2, 10, "/other").await;
    say(&store, elsewhere, 11, &[user("An automobile of elsewhere.")]).await;
    assert_eq!(missing(&store, EMBEDDER).await[0].text, "\nAn automobile of elsewhere.", "the newest first");

    let query = || by_meaning(here(&["red automobiles"]), &[120, 0, 0]);
    let words = ["The storm is red.: words #1", "My car is red.: words #2"];
    assert_eq!(found(&store, query()).await, words, "nothing is embedded");
    assert_eq!(embed(&store, EMBEDDER, vector).await.len(), 4);
    assert_eq!(missing(&store, EMBEDDER).await, []);
    let both = [
        "My car is red.: words #2, meaning #1",
        "The storm is red.: words #1, meaning #3",
        "A cake was eaten.: meaning #2",
    ];
    assert_eq!(found(&store, query()).await, both);
    assert_eq!(found(&store, here(&["red automobiles"])).await, words);
    let size = store.memory_size().await.unwrap();
    assert_eq!((size.passages, size.vectors, size.embedder.as_str()), (4, 4, EMBEDDER));

    // Vectors that cannot be compared count for nothing.
    let others: [Meaning<'static>; 4] = [
        Meaning { embedder: "topics/2", vector: &[120, 0, 0] },
        Meaning { embedder: EMBEDDER, vector: &[120, 0] },
        Meaning { embedder: EMBEDDER, vector: &[0, 0, 0] },
        Meaning { embedder: EMBEDDER, vector: &[] },
    ];
    for other in others {
        let query = RecallQuery { meaning: Some(other), ..here(&["red automobiles"]) };
        assert_eq!(found(&store, query).await, words, "{other:?}");
    }
}

#[tokio::test]
async fn two_embedders_are_never_mixed() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    say(&store, id, 2, &[user("My car is red."), user("The storm is loud.")]).await;
    let ids = embed(&store, EMBEDDER, vector).await;
    // Another embedder, and another length of the same one.
    for (embedder, vector) in [("topics/2", vec![1, 2, 3]), ("topics/2", vec![1, 2, 3, 4])] {
        let one = vec![(ids[0], vector), (ids[1], vec![7])];
        store.keep_vectors(embedder, one).await.unwrap();
        let size = store.memory_size().await.unwrap();
        assert_eq!((size.vectors, size.embedder.as_str()), (1, embedder), "the second is of no use");
        assert_eq!(missing(&store, EMBEDDER).await.len(), 2);
        assert_eq!(missing(&store, embedder).await.len(), 1);
    }
    let query = by_meaning(here(&["automobile"]), &[120, 0, 0]);
    assert_eq!(found(&store, query).await, [] as [String; 0]);
}

#[tokio::test]
async fn a_passage_that_cannot_be_read_keeps_no_other_from_its_vector() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    say(&store, id, 2, &[user("My car is red."), user("The storm is loud.")]).await;
    assert_eq!(missing(&store, EMBEDDER).await.len(), 2);
    let damage = "UPDATE records SET body = replace(body, 'storm', 'strom')";
    rusqlite::Connection::open(home.path()).unwrap().execute(damage, []).unwrap();
    let first = store.passages_without_vector(EMBEDDER, None, 1).await.unwrap();
    assert_eq!(first[0].text, "\nMy car is red.");
    assert_eq!(store.passages_without_vector(EMBEDDER, Some(first[0].id), 1).await.unwrap(), []);
}

#[tokio::test]
async fn pruned_vectors_are_not_made_again_and_words_still_find_their_passages() {
    for prune in [Prune::AllBut(1), Prune::Before(Timestamp(4))] {
        let home = Home::new();
        let store = home.open();
        let id = begin(&store, 1, 1).await;
        let note = RecordBody::Noted(Noted { text: "a red car".to_owned() });
        say(&store, id, 2, &[note, user("My car is red."), user("An automobile is loud.")]).await;
        let ids = embed(&store, EMBEDDER, vector).await;
        let gone = async |n| {
            store.prune_memory(prune, false, somebody(), Timestamp(99), RecordId(uuid(1, n))).await.unwrap()
        };
        assert_eq!((gone(1).await, gone(2).await), (1, 0), "{prune:?}");
        let query = by_meaning(here(&["cars"]), &[120, 0, 0]);
        let left = [
            "a red car: words #1, meaning #2",
            "An automobile is loud.: meaning #1",
            "My car is red.: words #2",
        ];
        assert_eq!(found(&store, query).await, left);
        assert_eq!(missing(&store, EMBEDDER).await, []);
        let other = "topics/2";
        let late = ids.iter().map(|id| (*id, vec![1, 2, 3])).collect();
        store.keep_vectors(other, late).await.unwrap();
        assert_eq!(
            store.memory_size().await.unwrap().vectors,
            2,
            "one that was made meanwhile comes too late"
        );
        assert_eq!(missing(&store, EMBEDDER).await.len(), 2, "another embedder makes no more");
        let anew = "UPDATE memory_progress SET form = 0";
        rusqlite::Connection::open(home.path()).unwrap().execute(anew, []).unwrap();
        assert_eq!(missing(&store, other).await.len(), 2, "an index that is made anew gets no more");
        assert_eq!(store.memory_size().await.unwrap().passages, 3);
    }
}

/// With few passages, taken out one by one, and with many, when the index is emptied.
#[tokio::test]
async fn a_vector_goes_with_its_passage() {
    enum How {
        Delete,
        Private,
        Forget,
        Prune,
    }
    for (how, passages) in
        [(How::Delete, 3), (How::Delete, 150), (How::Private, 150), (How::Forget, 1), (How::Prune, 60)]
    {
        let home = Home::new();
        let store = home.open();
        let id = begin(&store, 2, 10).await;
        let words: Vec<RecordBody> = (0..passages).map(|n| user(&format!("a thing number{n}"))).collect();
        say(&store, id, 100, &words).await;
        let kept = begin(&store, 1, 1).await;
        say(&store, kept, 2, &[user("a vermilion bird, not a fish")]).await;
        // Bytes that are found in the files, in any part of a vector.
        let marked = |text: &str| {
            let mark = if text.contains("vermilion") { "kept" } else { "gone" };
            mark.bytes().cycle().take(384).map(u8::cast_signed).collect()
        };
        let ids = embed(&store, EMBEDDER, marked).await;
        let folder = home.path().parent().unwrap().to_owned();
        assert_ne!(files_that_hold(&folder, "gonegone"), [] as [String; 0]);
        let (at, record) = (Timestamp(99), RecordId(uuid(1, 1)));
        match how {
            How::Delete => drop(store.delete_conversation(id, at, record).await.unwrap()),
            How::Private => set(&store, id, 20, MemoryUse::Private).await,
            How::Forget => {
                let seq = seqs(&store, here(&["number0"])).await[0];
                assert_eq!(store.forget(Seq(seq), somebody(), at, record).await.unwrap().passages, 1);
            }
            How::Prune => {
                let gone = store.prune_memory(Prune::AllBut(1), true, somebody(), at, record).await.unwrap();
                assert_eq!(gone, passages);
            }
        }
        if !matches!(how, How::Private) {
            assert_eq!(files_that_hold(&folder, "gone"), [] as [String; 0], "{passages}");
        }
        // A vector that was made meanwhile comes too late.
        let late = ids.iter().map(|id| (*id, marked("late"))).collect();
        store.keep_vectors(EMBEDDER, late).await.unwrap();
        let size = store.memory_size().await.unwrap();
        assert!(size.vectors <= 1 && size.passages <= 1, "{size:?}");
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
        embed(&store, EMBEDDER, marked).await;
        let query = RecallQuery {
            meaning: Some(Meaning { embedder: EMBEDDER, vector: &marked("vermilion") }),
            ..here(&["nothing"])
        };
        assert_eq!(found(&store, query).await, ["a vermilion bird, not a fish: meaning #1"]);
    }
}
