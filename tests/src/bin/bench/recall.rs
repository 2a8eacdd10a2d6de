//! How long a recall takes where much was said: by words, and by meaning with vectors of the right length.

use crate::{
    model::{self, Answer, Model},
    setup::{self, PARALLEL, Setup},
    table::{Aim, Figure, Value::Size, Value::Time, median, percentile},
};
use abide_client::protocol::{
    ConversationId, RecordId, Timestamp,
    memory::MemoryUse,
    method::{self, memory::SearchMemoryParams, task::StartTaskParams},
    record::{ConversationCreated, NewRecord, RecordBody, UserMessage},
    task::Mode,
};
use abide_store::{Append, Options, Store};
use abide_tests::{peer, wait};
use serde_json::json;
use std::{
    cell::Cell,
    fs,
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

/// The steps of a plan.
const STEPS: usize = 20;

pub(crate) async fn figures() -> Vec<Figure> {
    let mut figures = with_empty_memory().await;
    figures.append(&mut with_full_memory().await);
    figures
}

/// What the memory costs where there is nothing to recall: each task has a workspace of its own.
async fn with_empty_memory() -> Vec<Figure> {
    let model = || Model::start(|asked| plan(asked.number));
    let [on, off] = [model(), model()];
    let of_on = setup::config(&on, PARALLEL).memory();
    let of_off = setup::config(&off, PARALLEL);
    let on = Setup::configured(on, &of_on).await;
    let off = Setup::configured(off, &of_off).await;
    let mut starts = [Vec::new(), Vec::new()];
    let mut steps = [Vec::new(), Vec::new()];
    for run in 0..2 * RUNS {
        for (place, setup) in [&on, &off].into_iter().enumerate() {
            let (start, step) = plan_in_new_workspace(setup, run).await;
            starts[place].push(start);
            steps[place].push(step);
        }
    }
    let figure = |what: &str, [on, off]: &[Vec<Duration>; 2]| {
        Figure::new(what, Time(median(on))).floor(Time(median(off)))
    };
    vec![
        figure("start to the first request, an empty memory; floor without a memory", &starts)
            .aim(Aim::TimesFloor(1.02)),
        // It has one append more, of a call that finds nothing.
        figure("a step of `plan`, likewise", &steps),
    ]
}

/// The time from the request that starts a task to its model's first request, and the mean of its steps.
async fn plan_in_new_workspace(setup: &Setup, run: u64) -> (Duration, Duration) {
    let key = format!("empty-{run}");
    let workspace = setup.daemon.workspace().join(&key);
    fs::create_dir_all(workspace.join("inner")).expect("a folder");
    let workspace = Some(workspace.display().to_string());
    let params = StartTaskParams { mode: Some(Mode::Plan), workspace, ..setup.task(&key) };
    let began = Instant::now();
    setup::begin(&setup.client, params).await;
    let asked = |times| tokio::task::block_in_place(|| setup.model.asked(&key, times));
    let first = asked(1);
    let step = (asked(STEPS) - first) / u32::try_from(STEPS - 1).expect("small");
    setup.idle().await;
    (first - began, step)
}

fn plan(number: usize) -> Answer {
    let is_last = number + 1 == STEPS;
    // The same call again and again would be a loop.
    let path = [".", "inner"][number % 2];
    let call = json!({ "tool_name": "list", "parameters": { "path": path } });
    let calls = if is_last { Vec::new() } else { vec![call] };
    model::say(&json!({ "reasoning": "I look.", "tool_calls": calls, "is_complete": is_last }))
}

async fn with_full_memory() -> Vec<Figure> {
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
    // Each of the store's readers has pages in memory, whatever it reads.
    tokio::join!(p95(&setup), p95(&setup));
    let before = setup.pss();
    setup.daemon.cli().ok(&["memory", "install", &folder.display().to_string()]).await;
    let first = search(&setup, 0).await;
    figures.push(Figure::new("the same by meaning, the first", Time(first)).aim(aim(600)));
    figures.push(Figure::new("the same by meaning, p95", p95(&setup).await).aim(aim(150)));
    let loaded = setup.pss();
    figures.push(Figure::new("memory with the model loaded, more", Size(loaded - before)));
    // The model is dropped, and what it took is given back some ms later.
    let last = Cell::new(loaded);
    let is_given_back = async || {
        let now = setup.pss();
        let is_settled = last.replace(now).total_cmp(&now).is_eq();
        (is_settled && now < loaded - 40e6).then_some(now)
    };
    let later = wait::wait_long_for("the model to be dropped", is_given_back).await;
    let more = Size(later - before);
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
