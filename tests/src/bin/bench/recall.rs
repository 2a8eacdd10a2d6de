//! How long a recall takes where much was said: by words, and by meaning with vectors of the right length.

use crate::{
    model::{self, Model},
    setup::Setup,
    table::{Aim, Figure, Value::Size, Value::Time, percentile},
};
use abide_client::protocol::{
    ConversationId, RecordId, Timestamp,
    memory::MemoryUse,
    method::{self, memory::SearchMemoryParams},
    record::{ConversationCreated, NewRecord, RecordBody, UserMessage},
};
use abide_store::{Append, Options, Store};
use abide_tests::{peer, wait};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use uuid::Uuid;

const CONVERSATIONS: u64 = 100;
const PASSAGES: u64 = 1_000;
const RUNS: u64 = 40;
/// The built-in model, and the length of its vectors.
const EMBEDDER: &str = "all-MiniLM-L6-v2/builtin/1";
const LENGTH: u64 = 384;

pub(crate) async fn figures() -> Vec<Figure> {
    let mut setup = Setup::with(Model::start(|asked| model::done(asked.number))).await;
    let many = CONVERSATIONS * PASSAGES;
    let aim = |ms| Aim::AtMost(Time(Duration::from_millis(ms)));
    assert!(setup.daemon.stop().await.success());
    let store = opened(&setup.daemon.home().database());
    talk(&store).await;
    embed(&store).await;
    store.close().await;
    setup.daemon.up().await;
    setup.client = setup.daemon.client().await;

    let words = p95(&setup).await;
    let mut figures = vec![Figure::new(format!("recall by words, {many} passages, p95"), words).aim(aim(80))];
    let Some(folder) = peer::embedding_model() else { return figures };
    let before = setup.pss();
    setup.daemon.cli().ok(&["memory", "install", &folder.display().to_string()]).await;
    let first = search(&setup, 0).await;
    figures.push(Figure::new("the same by meaning, the first", Time(first)).aim(aim(600)));
    figures.push(Figure::new("the same by meaning, p95", p95(&setup).await).aim(aim(150)));
    let loaded = setup.pss();
    figures.push(Figure::new("memory with the model loaded, more", Size(loaded - before)));
    let is_dropped = async || (setup.pss() < loaded - 40e6).then_some(());
    wait::wait_long_for("the model to be dropped", is_dropped).await;
    let more = Size(setup.pss() - before);
    figures.push(Figure::new("a minute later, more", more).aim(Aim::AtMost(Size(1e6))));
    figures
}

async fn p95(setup: &Setup) -> crate::table::Value {
    let mut times = Vec::new();
    for run in 1..=RUNS {
        times.push(search(setup, run).await);
    }
    Time(percentile(&times, 95))
}

async fn search(setup: &Setup, run: u64) -> Duration {
    let params = SearchMemoryParams { query: words(run, 12), workspace: Some("/w".to_owned()), limit: None };
    let asked = Instant::now();
    let found = setup.client.call::<method::SearchMemory>(params).await.expect("a search");
    let took = asked.elapsed();
    assert!(!found.snippets.is_empty() && found.problem.is_none(), "{found:?}");
    took
}

/// Words of which some are rare.
fn words(seed: u64, count: u64) -> String {
    let word = |n: u64| {
        let drawn = (seed * 1_000 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        format!("word{}", drawn * drawn / 50_000_000)
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn opened(database: &Path) -> Store {
    let options = Options { path: database.to_owned(), reserve_bytes: 0, readers: 1 };
    Store::open(options, Box::new(|_| ())).expect("the daemon's database")
}

async fn talk(store: &Store) {
    for conversation in 1..=CONVERSATIONS {
        let record = |n: u64, body| NewRecord {
            id: RecordId(Uuid::from_u64_pair(conversation, n)),
            task_id: None,
            at: Timestamp(1),
            body,
        };
        let created = ConversationCreated {
            title: "Talk".to_owned(),
            workspace: "/w".to_owned(),
            mode: None,
            model: None,
            persona: None,
            memory: MemoryUse::Normal,
        };
        let said = (1..=PASSAGES).map(|n| {
            let text = words(conversation * PASSAGES + n, 40);
            record(n, RecordBody::UserMessage(UserMessage { text }))
        });
        let records = [record(0, RecordBody::ConversationCreated(created))].into_iter().chain(said).collect();
        let conversation_id = ConversationId(Uuid::from_u64_pair(conversation, 0));
        let append = Append { conversation_id, records, tasks: Vec::new(), urgent: false };
        store.append(append).await.expect("an append");
    }
}

/// Gives each passage a vector that says nothing: those of the model would take an hour.
async fn embed(store: &Store) {
    let mut last = None;
    loop {
        let passages = store.passages_without_vector(EMBEDDER, last, 256).await.expect("the passages");
        let Some(passage) = passages.last() else { break };
        last = Some(passage.id);
        let vector = |seed: u64| {
            (0..LENGTH)
                .map(|n| ((seed * 1_000 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as i8)
                .collect()
        };
        let vectors = passages.iter().zip(1_u64..).map(|(passage, n)| (passage.id, vector(n))).collect();
        store.keep_vectors(EMBEDDER, vectors).await.expect("kept");
    }
}
