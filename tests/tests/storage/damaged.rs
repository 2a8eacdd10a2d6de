//! Bytes of the database or of its log are flipped, zeroed or cut off: the daemon either refuses with a
//! message and leaves the files alone, or works and reports what is missing. It never hangs, never ends
//! without a message and never starts with an empty database.

use abide_client::protocol::{
    ErrorKind,
    method::{
        self,
        conversation::{ConversationParams, ListConversationsParams},
        daemon::StatusParams,
        task::ListTasksParams,
    },
};
use abide_tests::{
    daemon::{Config, TestDaemon},
    ledger,
    model_server::{ModelServer, Turn},
    seed::{Seed, times},
    wait,
    world::World,
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const CONVERSATIONS: usize = 6;

/// Makes a home with a history: either with a WAL that is not in the database yet, as a kill leaves it, or
/// closed cleanly.
///
/// Returns the texts of its messages.
async fn history(folder: &Path, is_closed: bool) -> BTreeSet<String> {
    let mut world = World::start().await;
    let mut texts = BTreeSet::new();
    for n in 0..CONVERSATIONS {
        let script =
            [Turn::say("Looking. ".repeat(200)).call("list", serde_json::json!({})), Turn::ask("Go on?")];
        let task = world.run(&format!("h{n}"), script).await;
        world.wait_status(task, abide_client::protocol::task::Status::WaitingUser).await;
        texts.extend(world.texts(task.conversation_id).await);
    }
    if is_closed {
        assert!(world.daemon.stop().await.success());
    } else {
        world.daemon.kill();
    }
    copy(&world.daemon.home().data_dir, folder);
    texts
}

fn files(folder: &Path) -> Vec<PathBuf> {
    ["abide.db", "abide.db-wal"].iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in files(from).into_iter().chain([from.join("abide.db-newest")]) {
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Damages one of the files; returns a description.
fn damage(folder: &Path, seed: &mut Seed) -> String {
    let files: Vec<_> =
        files(folder).into_iter().filter(|path| fs::metadata(path).unwrap().len() > 0).collect();
    let path = &files[seed.below(files.len())];
    let mut bytes = fs::read(path).unwrap();
    // Half of the time in the structure: the headers of the file and of its pages.
    let at = if seed.in_a_hundred(50) {
        seed.below(bytes.len())
    } else {
        (seed.below(bytes.len() / 4096 + 1) * 4096 + seed.below(64)).min(bytes.len() - 1)
    };
    let how = match seed.below(4) {
        0 => {
            bytes[at] ^= 1 << seed.below(8);
            "one bit flipped"
        }
        1 => {
            let end = (at + 1 + seed.below(64)).min(bytes.len());
            bytes[at..end].iter_mut().for_each(|byte| *byte = seed.number().to_le_bytes()[0]);
            "some bytes written over"
        }
        2 => {
            let begin = at / 4096 * 4096;
            let end = (begin + 4096).min(bytes.len());
            bytes[begin..end].fill(0);
            "a page zeroed"
        }
        _ => {
            bytes.truncate(at);
            "cut off"
        }
    };
    fs::write(path, bytes).unwrap();
    format!("{} at {at}: {how}", path.file_name().unwrap().to_string_lossy())
}

/// Whether the connection was closed because the daemon ended itself over the damage.
async fn ends(daemon: &mut TestDaemon, error: &abide_client::CallError) -> bool {
    if !matches!(error, abide_client::CallError::Disconnected(_)) {
        return false;
    }
    if daemon.is_up() {
        wait::wait_until("the daemon to end", async || daemon.has_ended()).await;
    }
    true
}

#[derive(Debug, Default)]
struct Outcomes {
    refused: usize,
    whole: usize,
    /// Conversations are missing, and the daemon says so.
    missing: usize,
    errors: usize,
    /// How many of the last three were reported to clients.
    told: usize,
}

/// Starts a daemon on the damaged home.
async fn start_over(damaged: &Path, texts: &BTreeSet<String>, how: &str, outcomes: &mut Outcomes) {
    let model = ModelServer::start().await;
    live(&model, damaged, texts, how, outcomes).await;
    // Requests made from a history that was cut off do not match this model's earlier replies.
    drop(model.take_violations());
}

async fn live(
    model: &ModelServer,
    damaged: &Path,
    texts: &BTreeSet<String>,
    how: &str,
    outcomes: &mut Outcomes,
) {
    let mut daemon = TestDaemon::new(&Config::with(model));
    let data = daemon.home().data_dir;
    copy(damaged, &data);
    let originals: Vec<_> =
        files(&data).into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect();
    daemon.launch();
    let answers = daemon.answers().await;
    let client = if answers { daemon.try_client().await } else { None };
    let Some(client) = client else {
        // It may have answered once before it found the damage.
        if answers {
            wait::wait_until("the daemon to end", async || daemon.has_ended()).await;
        }
        let words = daemon.output();
        assert!(
            words.contains("abide.db") && !words.contains("panicked"),
            "{how}: the words do not help: {words}"
        );
        // A daemon that had begun may have written the WAL back into the database.
        for (path, bytes) in originals.iter().filter(|_| !answers) {
            assert!(
                fs::read(path).unwrap() == *bytes,
                "{how}: {} was changed by a daemon that refused",
                path.display()
            );
        }
        outcomes.refused += 1;
        return;
    };
    let is_clear = |e: &abide_client::CallError| {
        e.daemon().is_some_and(|e| {
            matches!(e.kind(), ErrorKind::Storage | ErrorKind::Internal | ErrorKind::NotFound)
        })
    };
    let all = ListConversationsParams { limit: Some(100), ..ListConversationsParams::default() };
    let conversations = client.call::<method::ListConversations>(all).await;
    let tasks =
        client.call::<method::ListTasks>(ListTasksParams { all: true, ..ListTasksParams::default() }).await;
    let mut failed = false;
    for error in [conversations.as_ref().err(), tasks.as_ref().err()].into_iter().flatten() {
        failed = true;
        assert!(is_clear(error) || ends(&mut daemon, error).await, "{how}: {error}");
    }
    for conversation in conversations.iter().flat_map(|c| &c.conversations) {
        let params = method::conversation::ListMessagesParams {
            conversation_id: conversation.id.to_string(),
            task_id: None,
            before: None,
            after: None,
            limit: None,
        };
        match client.call::<method::ListMessages>(params).await {
            Ok(page) => {
                for message in page.messages {
                    assert!(
                        texts.contains(&message.text),
                        "{how}: changed words are shown: {}",
                        message.text
                    );
                }
            }
            Err(error) => {
                failed = true;
                assert!(is_clear(&error) || ends(&mut daemon, &error).await, "{how}: {error}");
            }
        }
    }
    if daemon.output().contains("something may be missing")
        && let Ok(status) = client.call::<method::Status>(StatusParams::default()).await
    {
        assert!(status.daemon.storage_damaged, "{how}: clients are not told");
        outcomes.told += 1;
    }
    if !daemon.is_up() || daemon.has_ended() {
        let words = daemon.output();
        assert!(words.contains("abide.db") && !words.contains("panicked"), "{how}: {words}");
        outcomes.errors += 1;
        return;
    }
    assert!(!daemon.output().contains("panicked"), "{how}: {}", daemon.output());
    if failed {
        outcomes.errors += 1;
        return;
    }
    let count = conversations.map(|c| c.conversations.len()).unwrap_or_default();
    if count == CONVERSATIONS {
        outcomes.whole += 1;
    } else {
        // The list may have been read before the check after the start has found the damage. Then either the
        // database is made anew, and the list is whole, or the daemon says that something may be missing.
        let listed = async || {
            let all = ListConversationsParams { limit: Some(100), ..ListConversationsParams::default() };
            client.call::<method::ListConversations>(all).await.map_or(0, |listed| listed.conversations.len())
        };
        let words =
            format!("{how}: the list to be whole, or the daemon to say that conversations may be missing");
        wait::wait_until(&words, async || {
            daemon.output().contains("is damaged") || listed().await == CONVERSATIONS
        })
        .await;
        if daemon.output().contains("is damaged") { outcomes.missing += 1 } else { outcomes.whole += 1 }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_on_damaged_files_refuses_with_a_message_or_works() {
    let mut seed = Seed::drawn("damaged files");
    let offsets = times("ABIDE_TEST_OFFSETS", 12);
    let mut outcomes = Outcomes::default();
    for is_closed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        let texts = history(&whole, is_closed).await;
        for _ in 0..offsets / 2 {
            let damaged = tempfile::tempdir().unwrap();
            copy(&whole, damaged.path());
            let how = damage(damaged.path(), &mut seed);
            start_over(damaged.path(), &texts, &how, &mut outcomes).await;
        }
    }
    println!("{offsets} damaged homes: {outcomes:?}");
}

/// The record stays valid JSON; only its checksum shows the damage.
#[tokio::test]
async fn a_flipped_bit_in_a_records_text_is_found() {
    let folder = tempfile::tempdir().unwrap();
    history(folder.path(), true).await;
    let database = folder.path().join("abide.db");
    let mut bytes = fs::read(&database).unwrap();
    let at = bytes.windows(8).position(|words| words == b"Looking.").unwrap();
    bytes[at] ^= 1;
    assert_eq!(&bytes[at..at + 8], b"Mooking.");
    fs::write(&database, bytes).unwrap();

    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    copy(folder.path(), &daemon.home().data_dir);
    let sick = daemon.cli().run(&["doctor"]).await;
    assert!(sick.stdout.contains("✗ database:") && sick.stdout.contains("checksum"), "{sick:?}");
    daemon.up().await;
    let words = "the daemon to say that the database is damaged";
    wait::wait_until(words, async || daemon.output().contains("abide.db is damaged")).await;
    assert!(daemon.output().contains("checksum"), "{}", daemon.output());
    let client = daemon.client().await;
    assert!(client.call::<method::Status>(StatusParams::default()).await.unwrap().daemon.storage_damaged);
    let conversations = client.call::<method::ListConversations>(ListConversationsParams::default()).await;
    let mut refused = Vec::new();
    for conversation in conversations.unwrap().conversations {
        let params = method::conversation::ListMessagesParams {
            conversation_id: conversation.id.to_string(),
            task_id: None,
            before: None,
            after: None,
            limit: None,
        };
        if let Err(error) = client.call::<method::ListMessages>(params).await {
            assert_eq!(error.daemon().unwrap().kind(), ErrorKind::Storage, "{error}");
            refused.push(conversation.id);
        }
    }
    let [damaged] = refused[..] else { panic!("the changed words are not shown: {refused:?}") };
    let params = ConversationParams { conversation_id: damaged.to_string() };
    client.call::<method::DeleteConversation>(params).await.expect("it can be deleted");
    let left: Vec<_> = ledger::of(&daemon.home(), damaged).into_iter().map(|line| line.kind).collect();
    assert_eq!(left, ["conversation_deleted"]);
}
