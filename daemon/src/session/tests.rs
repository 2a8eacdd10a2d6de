//! Actors with a real store, whose models and tools never start.

use super::{Alarm, CommandError, Lane, Message, Sessions};
use crate::{
    embedder::Embedder,
    events::Hub,
    http::Http,
    keys::KeyStore,
    launch::Launcher,
    runner::Runner,
    service::{Connections, Service},
    settings::Settings,
    supervisor::Supervisor,
    update::Updater,
};
use abide_engine::{Command, History, Mint, Refusal, Shown, Start, advance, handle, view};
use abide_host::home::Home;
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    memory::MemoryUse,
    record::{ConversationCreated, NewRecord, Record, RecordBody, TaskStarted},
    start::StartedBy,
    task::{Approvals, EndReason, Limits, Mode, RestartPolicy, Status},
};
use abide_skip::skip;
use abide_store::{Append, AppendError, Options, Store, TaskProjection, TaskQuery};
use abide_tools::Tools;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

pub(super) const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(1));
pub(crate) const TASK: TaskId = TaskId(Uuid::from_u128(2));
/// A timeout much longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// A reserve too large for any disk.
pub(crate) const ENDLESS: u64 = 1 << 55;

pub(crate) fn open(folder: &Path, reserve_bytes: u64) -> Store {
    Store::open(Options { path: folder.join("abide.db"), reserve_bytes, readers: 1 }, Box::new(|_| {}))
        .unwrap()
}

pub(super) fn sessions(store: &Store, folder: &Path) -> Sessions {
    sessions_with(Hub::default(), store, folder)
}

/// Sessions that learn of commits by this hub.
pub(super) fn sessions_with(hub: Hub, store: &Store, folder: &Path) -> Sessions {
    let keys = Arc::new(KeyStore::open(&folder.join("keys")).unwrap());
    let settings =
        Settings::open(&folder.join("config"), folder.join("last-good"), keys, Arc::new(|_| None)).unwrap();
    let tools = Tools::new(abide_tools::Options {
        helper: vec!["true".into()],
        spool_dir: folder.join("spool"),
        own_dirs: Vec::new(),
        home: folder.to_owned(),
        checkpoints: abide_tools::CheckpointFolders {
            kept: folder.join("checkpoints"),
            scratch: folder.join("scratch"),
        },
        hidden_dirs: Vec::new(),
        sandbox_dir: folder.join("sandbox"),
        worktrees_dir: folder.join("worktrees"),
    });
    let runner = Runner {
        embedder: Embedder::new(settings.clone(), folder.join("model")),
        settings,
        tools: tools.unwrap(),
        store: store.clone(),
        hub,
        supervisor: Supervisor::default(),
    };
    let ending = Arc::new(watch::channel(None).0);
    let alive = super::Alive::new(std::env::temp_dir().join(format!("abide-alive-{}", std::process::id())));
    Sessions::new(runner, Alarm::default(), alive, abide_engine::driver::Predecessor::default(), ending)
}

/// A service whose tasks never act, and its scratch folders.
pub(crate) async fn service(store: &Store, folder: &Path) -> (Service, PathBuf) {
    let sessions = sessions(store, folder);
    let Runner { settings, tools, hub, supervisor, embedder, .. } = sessions.inner.runner.clone();
    let home = Arc::new(Home::at(folder));
    let ending = sessions.inner.ending.clone();
    let updater = Updater {
        program: folder.join("abided"),
        stayed: None,
        home: home.clone(),
        store: store.clone(),
        sessions: sessions.clone(),
        settings: settings.clone(),
        hub: hub.clone(),
        ending: ending.clone(),
    };
    let scratch = home.scratch_dir();
    let service = Service {
        store: store.clone(),
        embedder,
        launcher: Launcher::new(settings.clone(), tools.clone(), home.clone()),
        socket: folder.join("socket"),
        connections: Connections::default(),
        started_at: Timestamp(0),
        started_by: StartedBy::Client,
        drained: Arc::new(watch::channel(None).0),
        updates: updater.start(&supervisor).await,
        http: Http::new(home.token_file()),
        hub,
        sessions,
        settings,
        tools,
        home,
        supervisor,
        ending,
    };
    (service, scratch)
}

/// A folder on a file system without room for [`ENDLESS`]; `None` on other systems than a tmpfs, where asking
/// would take all room.
pub(crate) fn full(test: &str) -> Option<TempDir> {
    let folder = TempDir::new_in("/dev/shm").ok();
    if folder.is_none() {
        skip(test, "there is no tmpfs here to be full");
    }
    folder
}

pub(crate) fn facts() -> ConversationCreated {
    ConversationCreated {
        title: "t".to_owned(),
        workspace: "/".to_owned(),
        mode: None,
        model: None,
        persona: None,
        memory: MemoryUse::Normal,
    }
}

pub(crate) fn head(system_prompt: &str) -> TaskStarted {
    TaskStarted {
        parent_id: None,
        mode: Mode::Chat,
        model: "none/none".to_owned(),
        system_prompt: system_prompt.to_owned(),
        tools: Vec::new(),
        workspace: "/".to_owned(),
        environment: [].into(),
        limits: Limits::default(),
        approvals: Approvals::Ask,
        restart: RestartPolicy::Resume,
        parks: false,
        original_prompt: "p".to_owned(),
        metadata: None,
        client_message: None,
        depth: 0,
        by: None,
        prompts: std::collections::BTreeMap::new(),
        persona: None,
        instructions: Vec::new(),
        compact_at_tokens: 0,
        external_id: None,
        files: Vec::new(),
        checkpoints: false,
        title: String::new(),
        forked_by: None,
        child_system_prompt: None,
    }
}

/// Starts a sub-task that any version may have recorded, and lets it act; its records.
pub(crate) fn begin_sub_task(
    history: &mut History,
    [parent, task]: [TaskId; 2],
    system_prompt: &str,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let head = TaskStarted { parent_id: Some(parent), depth: 1, ..head(system_prompt) };
    let body = RecordBody::TaskStarted(Box::new(head));
    let mut records = vec![NewRecord { id: mint.record_id(), task_id: Some(task), at: mint.at(), body }];
    history.fold(&records[0]);
    records.append(&mut advance(history, mint));
    records
}

/// A conversation with a paused task; `child`: with that sub-task.
pub(super) async fn paused_task_with(store: &Store, child: Option<TaskId>) {
    let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
    let start = Box::new(Start {
        task: TASK,
        conversation: Some(facts()),
        head: head(""),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    });
    let mut records = abide_engine::accept(&history, Command::Start(start), Shown::new(), &mut mint).unwrap();
    records.iter().for_each(|record| history.fold(record));
    records.extend(handle(&mut history, Command::Pause { task: TASK }, &mut mint).unwrap());
    if let Some(child) = child {
        records.extend(begin_sub_task(&mut history, [TASK, child], "", &mut mint));
    }
    let stands = |task| {
        let task = view(CONVERSATION, &history, task);
        TaskProjection { task, wake_at: None, needs_daemon: false }
    };
    let tasks = history.tasks().iter().map(stands).collect();
    store.append(Append { conversation_id: CONVERSATION, records, tasks, urgent: false }).await.unwrap();
}

async fn paused_task(store: &Store) {
    paused_task_with(store, None).await;
}

async fn kinds(store: &Store) -> Vec<String> {
    let records = store.conversation_records(CONVERSATION).await.unwrap();
    let kind = |record: &Record| format!("{:?}", record.body).split('(').next().unwrap().to_owned();
    records.iter().map(kind).collect()
}

#[tokio::test]
async fn a_stop_on_a_full_disk_is_committed_with_the_waiting_append() {
    let Some(folder) = full("a_stop_on_a_full_disk_is_committed_with_the_waiting_append") else { return };
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    store.close().await;

    let store = open(folder.path(), ENDLESS);
    assert!(store.state().borrow().full, "there cannot be room");
    let sessions = sessions(&store, folder.path());
    let mailbox = sessions.mailbox(CONVERSATION);
    let (reply, archived) = oneshot::channel();
    let archive = Message::Command { command: Command::Archive { archived: true }, reply };
    assert!(mailbox.put(Lane::Command, archive).await.is_ok());
    // Once it is received, the append waits for room: only urgent ones are written.
    while mailbox.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    let stop = Command::Stop { task: TASK };
    let stopped =
        tokio::time::timeout(PATIENCE, sessions.command(CONVERSATION, stop)).await.unwrap().unwrap();
    assert_eq!(stopped.task.unwrap().end_reason, Some(EndReason::Stopped));
    archived.await.unwrap().unwrap();
    let kinds = kinds(&store).await;
    let last: Vec<&str> = kinds.iter().rev().take(3).map(String::as_str).collect();
    assert_eq!(last, ["TaskEnded", "Notice", "ConversationArchived"]);
    assert!(store.state().borrow().full, "it still is");
}

/// Otherwise a caller could be told of an end or an answer that a crash then undoes, and its own command
/// would be lost.
#[tokio::test]
async fn on_a_full_disk_a_refusal_waits_for_the_commit_it_rests_on() {
    let Some(folder) = full("on_a_full_disk_a_refusal_waits_for_the_commit_it_rests_on") else { return };
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    store.close().await;

    let store = open(folder.path(), ENDLESS);
    let sessions = sessions(&store, folder.path());
    let mailbox = sessions.mailbox(CONVERSATION);
    let (reply, archived) = oneshot::channel();
    let archive = Message::Command { command: Command::Archive { archived: true }, reply };
    assert!(mailbox.put(Lane::Command, archive).await.is_ok());
    while mailbox.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    let decide = Command::Decide {
        approval: abide_protocol::ApprovalId(Uuid::nil()),
        decision: abide_protocol::inbox::Decision::AllowOnce,
        note: None,
        rule: None,
        by: abide_protocol::record::By { via: abide_protocol::record::Via::Socket, name: String::new() },
    };
    let refused = tokio::time::timeout(PATIENCE, sessions.command(CONVERSATION, decide)).await.unwrap();
    assert!(matches!(refused, Err(CommandError::Refused(Refusal::NoApproval))), "{refused:?}");
    assert_eq!(kinds(&store).await.last().unwrap(), "ConversationArchived");
    archived.await.unwrap().unwrap();
}

/// Nobody may want it any more when there is room again.
#[tokio::test]
async fn on_a_full_disk_what_does_not_steer_existing_work_is_refused_at_once() {
    let test = "on_a_full_disk_what_does_not_steer_existing_work_is_refused_at_once";
    let Some(folder) = full(test) else { return };
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    store.close().await;

    let store = open(folder.path(), ENDLESS);
    let sessions = sessions(&store, folder.path());
    let start = || {
        let (task, conversation) = (TaskId(Uuid::from_u128(9)), Some(facts()));
        let start =
            Start { task, conversation, head: head(""), imported: Vec::new(), recalled: None, setup: None };
        Command::Start(Box::new(start))
    };
    let new = ConversationId(Uuid::from_u128(7));
    let commands = [
        (new, start()),
        (new, Command::Create(facts())),
        (CONVERSATION, Command::Archive { archived: true }),
        (CONVERSATION, Command::Update(Default::default())),
    ];
    for (conversation, command) in commands {
        let said = format!("{command:?}");
        let refused = tokio::time::timeout(PATIENCE, sessions.command(conversation, command)).await;
        let Ok(Err(CommandError::Store(AppendError::Full(room)))) = refused else {
            panic!("{said}: {refused:?}")
        };
        assert_eq!(room.folder, folder.path(), "{said}");
    }
    // One that came before the disk was full: the store refuses it.
    let (reply, started) = oneshot::channel();
    let message = Message::Command { command: start(), reply };
    assert!(sessions.mailbox(new).put(Lane::Command, message).await.is_ok());
    let refused = tokio::time::timeout(PATIENCE, started).await.unwrap().unwrap();
    assert!(matches!(refused, Err(CommandError::Store(AppendError::Full(_)))), "{refused:?}");
    assert!(store.conversation_records(new).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_deletion_on_a_full_disk_does_not_wait_for_room() {
    let Some(folder) = full("a_deletion_on_a_full_disk_does_not_wait_for_room") else { return };
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    store.close().await;

    let store = open(folder.path(), ENDLESS);
    let sessions = sessions(&store, folder.path());
    let mailbox = sessions.mailbox(CONVERSATION);
    let (reply, _archived) = oneshot::channel();
    let archive = Message::Command { command: Command::Archive { archived: true }, reply };
    assert!(mailbox.put(Lane::Command, archive).await.is_ok());
    while mailbox.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(PATIENCE, sessions.delete(CONVERSATION)).await.unwrap().unwrap();
    assert_eq!(kinds(&store).await, ["ConversationDeleted"]);
}

#[tokio::test]
async fn while_the_daemon_drains_a_stop_is_recorded_and_nothing_starts() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    let sessions = sessions(&store, folder.path());
    sessions.drain(PATIENCE).await;
    let archive = sessions.command(CONVERSATION, Command::Archive { archived: true }).await;
    assert!(matches!(archive, Err(CommandError::ShuttingDown)));
    let stop = Command::Stop { task: TASK };
    let stopped =
        tokio::time::timeout(PATIENCE, sessions.command(CONVERSATION, stop)).await.unwrap().unwrap();
    assert_eq!(stopped.task.unwrap().end_reason, Some(EndReason::Stopped));
}

/// Callers behind an append without room may repeat their command at the next daemon.
#[tokio::test]
async fn when_the_daemon_ends_waiting_callers_get_shutting_down() {
    let test = "when_the_daemon_ends_waiting_callers_get_shutting_down";
    let Some(folder) = full(test) else { return };
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    store.close().await;

    let store = open(folder.path(), ENDLESS);
    let sessions = sessions(&store, folder.path());
    let mailbox = sessions.mailbox(CONVERSATION);
    let mut callers = Vec::new();
    for _ in 0..2 {
        let (reply, answer) = oneshot::channel();
        let archive = Message::Command { command: Command::Archive { archived: true }, reply };
        assert!(mailbox.put(Lane::Command, archive).await.is_ok());
        callers.push(answer);
    }
    // One command's append waits for room, the other command is still in the mailbox.
    while mailbox.waiting() > 1 {
        tokio::task::yield_now().await;
    }
    sessions.drain(Duration::ZERO).await;
    for answer in callers {
        let answer = answer.await.unwrap();
        assert!(matches!(answer, Err(CommandError::CutOff)), "{answer:?}");
    }
}

/// A sub-task of a paused task is held; it is addressed by its own id, and ends with the root.
#[tokio::test]
async fn a_sub_task_belongs_to_the_conversation_of_its_parent() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path(), 0);
    let child = TaskId(Uuid::from_u128(3));
    paused_task_with(&store, Some(child)).await;
    let sessions = sessions(&store, folder.path());
    let held = store.task(child).await.unwrap().unwrap();
    assert_eq!((held.parent_id, held.status), (Some(TASK), Status::Paused));
    let root = store.task(TASK).await.unwrap().unwrap();
    assert_eq!(root.children, [child]);

    let paused = sessions.command(CONVERSATION, Command::Pause { task: child }).await.unwrap();
    assert_eq!(paused.task.unwrap().id, child);
    let stopped = sessions.command(CONVERSATION, Command::Stop { task: TASK }).await.unwrap();
    assert_eq!(stopped.task.unwrap().id, TASK);
    let ended = store.task(child).await.unwrap().unwrap();
    assert_eq!(ended.end_reason, Some(EndReason::ParentEnded));
    let query = TaskQuery { with_ended: true, limit: 9, ..TaskQuery::default() };
    let listed: Vec<TaskId> = store.tasks(query).await.unwrap().0.iter().map(|task| task.id).collect();
    assert_eq!(listed, [TASK]);
}

/// Actors start and leave under concurrent commands; each command is carried out by one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_command_is_lost_when_an_actor_leaves() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path(), 0);
    paused_task(&store).await;
    let sessions = sessions(&store, folder.path());
    // An actor leaves as soon as it is idle.
    sessions.inner.draining.cancel();
    let hands = (0..8).map(|_| async {
        for _ in 0..200 {
            let answer = Command::Decide {
                approval: abide_protocol::ApprovalId(Uuid::nil()),
                decision: abide_protocol::inbox::Decision::AllowOnce,
                note: None,
                rule: None,
                by: abide_protocol::record::By {
                    via: abide_protocol::record::Via::Socket,
                    name: String::new(),
                },
            };
            let refused = sessions.command(CONVERSATION, answer).await;
            assert!(matches!(refused, Err(CommandError::Refused(_))), "{refused:?}");
        }
    });
    tokio::time::timeout(PATIENCE, futures_util::future::join_all(hands)).await.unwrap();
    let records = store.conversation_records(CONVERSATION).await.unwrap();
    assert!(matches!(records.last().unwrap().body, RecordBody::Paused(_)));
}
