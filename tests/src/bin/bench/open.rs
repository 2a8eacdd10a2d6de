//! How long a command or a step takes in a conversation that is not in memory, so that its records have to be
//! loaded.

use crate::{
    model::{self, Model},
    setup::{self, Setup},
    table::{Aim, Figure, Value::Time, median},
};
use abide_client::protocol::{
    ConversationId, RecordId, TaskId,
    method::{self, conversation::UpdateConversationParams, task::StartTaskParams},
    record::NewRecord,
    task::AgentTask,
};
use abide_store::{Append, Options, Store, TaskProjection, TaskQuery};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    path::Path,
    time::{Duration, Instant},
};
use uuid::Uuid;

const RECORDS: usize = 100_000;
/// The steps of each task.
const STEPS: usize = 20;
const RUNS: usize = 10;
const KEY: &str = "open";

pub(crate) async fn figures() -> Vec<Figure> {
    let script = |asked: &model::Asked<'_>| match asked.number {
        number if asked.key == KEY && number < STEPS => model::update(number),
        number => model::done(number),
    };
    let mut setup = Setup::with(Model::start(script)).await;
    let long = setup.begin(KEY).await.conversation_id;
    setup.idle().await;
    setup.unloaded().await;
    assert!(setup.daemon.stop().await.success());
    let database = setup.daemon.home().database();
    multiply(&database, long).await;
    setup.daemon.up().await;
    setup.client = setup.daemon.client().await;
    let short = setup.begin("short").await.conversation_id;
    setup.idle().await;

    let mut times = Times::default();
    let mut requests = STEPS + 1;
    for _ in 0..RUNS {
        drop_snapshot(&database);
        times.command_without.push(command(&setup, long).await);
        times.command.push(command(&setup, long).await);
        times.command_floor.push(command(&setup, short).await);
        requests += 1;
        drop_snapshot(&database);
        times.step_without.push(step(&setup, long, KEY, requests).await);
        requests += 1;
        times.step.push(step(&setup, long, KEY, requests).await);
        let asked = times.step_floor.len() + 2;
        times.step_floor.push(step(&setup, short, "short", asked).await);
    }
    times.figures()
}

#[derive(Default)]
struct Times {
    command: Vec<Duration>,
    command_without: Vec<Duration>,
    command_floor: Vec<Duration>,
    step: Vec<Duration>,
    step_without: Vec<Duration>,
    step_floor: Vec<Duration>,
}

impl Times {
    fn figures(&self) -> Vec<Figure> {
        let time = |times: &[Duration]| Time(median(times));
        let most = |ms| Aim::AtMost(Time(Duration::from_millis(ms)));
        vec![
            Figure::new(format!("a command on {RECORDS} records not in memory"), time(&self.command))
                .floor(time(&self.command_floor))
                .aim(most(20)),
            Figure::new("the same without a snapshot", time(&self.command_without))
                .floor(time(&self.command_floor)),
            Figure::new("the next task's first model request there", time(&self.step))
                .floor(time(&self.step_floor))
                .aim(most(100)),
            Figure::new("the same without a snapshot", time(&self.step_without))
                .floor(time(&self.step_floor)),
        ]
    }
}

/// How long it takes to change the title of a conversation that is not in memory.
async fn command(setup: &Setup, id: ConversationId) -> Duration {
    setup.unloaded().await;
    let params = UpdateConversationParams {
        conversation_id: id.to_string(),
        title: Some("another".to_owned()),
        workspace: None,
        mode: None,
        model: None,
        persona: None,
        muted: None,
        memory: None,
    };
    let asked = Instant::now();
    setup.client.call::<method::UpdateConversation>(params).await.expect("a new title");
    asked.elapsed()
}

/// How long it takes from the start of a task to its first model request, in a conversation that is not in
/// memory.
async fn step(setup: &Setup, id: ConversationId, key: &str, requests: usize) -> Duration {
    setup.unloaded().await;
    let params = StartTaskParams { conversation_id: Some(id), ..setup.task(key) };
    let began = Instant::now();
    setup::begin(&setup.client, params).await;
    let took = tokio::task::block_in_place(|| setup.model.asked(key, requests)) - began;
    setup.idle().await;
    took
}

fn drop_snapshot(database: &Path) {
    let connection = Connection::open(database).expect("the database");
    connection.execute("DELETE FROM history_snapshots", []).expect("no snapshot");
}

/// Appends copies of the conversation's only task, with other ids, until there are [`RECORDS`].
async fn multiply(database: &Path, id: ConversationId) {
    let options = Options { path: database.to_owned(), reserve_bytes: 0, readers: 1 };
    let store = Store::open(options, Box::new(|_| ())).expect("the daemon's database");
    let records = store.conversation_records(id).await.expect("the records");
    let query = TaskQuery { conversation: Some(id), with_ended: true, limit: 1, ..TaskQuery::default() };
    let (tasks, _) = store.tasks(query).await.expect("the tasks");
    let task = tasks.into_iter().next().expect("its task");
    let of_task: Vec<_> = records.iter().filter(|record| record.task_id.is_some()).collect();
    for copy in 1..=RECORDS.div_ceil(of_task.len()) {
        let copied = of_task.iter().map(|record| {
            let body = serde_json::to_value(&record.body).expect("JSON");
            NewRecord {
                id: RecordId(other(record.id.0, copy)),
                task_id: record.task_id.map(|id| TaskId(other(id.0, copy))),
                at: record.at,
                body: serde_json::from_value(with_other_ids(body, copy)).expect("a record"),
            }
        });
        let task = AgentTask { id: TaskId(other(task.id.0, copy)), ..task.clone() };
        let tasks = vec![TaskProjection { task, wake_at: None, needs_daemon: false }];
        let append = Append { conversation_id: id, records: copied.collect(), tasks, urgent: false };
        store.append(append).await.expect("an append");
    }
    store.close().await;
}

fn other(id: Uuid, copy: usize) -> Uuid {
    Uuid::from_u128(id.as_u128() ^ copy as u128)
}

fn with_other_ids(value: Value, copy: usize) -> Value {
    match value {
        Value::String(text) => match Uuid::parse_str(&text) {
            Ok(id) => Value::String(other(id, copy).to_string()),
            Err(_) => Value::String(text),
        },
        Value::Array(values) => values.into_iter().map(|value| with_other_ids(value, copy)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, with_other_ids(value, copy))).collect()
        }
        other => other,
    }
}
