//! Starts and ends a daemon.

use crate::{
    allocator, clock,
    config::ConfigError,
    doctor,
    embedder::Embedder,
    events::Hub,
    http::{self, Http},
    inherited_processes,
    instance::{Inherited, Instance, InstanceError, private_folder},
    ipc,
    keys::{KeyError, KeyStore},
    launch::Launcher,
    notify::{Actions, Feed, News, Notifier, Policy, SystemDesktop, channels},
    runner::Runner,
    service::{Connections, Drained, Service},
    session::{Alarm, Alive, Sessions},
    settings::Settings,
    started_by::started_by,
    supervisor::{Ending, Supervisor},
    update::Updater,
};
use abide_engine::driver::Predecessor;
use abide_host::home::{Home, HomeError};
use abide_protocol::{
    CallId, ErrorKind,
    method::daemon::{CutOff, CutWork, ShutdownReply},
};
use abide_store::{Integrity, OpenError, Options as StoreOptions, ReadError, Store};
use abide_tools::{CheckpointFolders, Options as ToolOptions, Tools};
use futures_util::future::LocalBoxFuture;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::sync::watch;

/// The size of the disk reserve: deleted when the disk is full, so that stops and answers can still be
/// committed.
const RESERVE: u64 = 32 * 1024 * 1024;
/// The number of connections that read the database.
const READERS: usize = 2;
/// How long the daemon's parts may take to end once it has drained.
const END: Duration = Duration::from_secs(3);
/// How long the last commits may take once all tasks are at a boundary.
const LAST_COMMITS: Duration = Duration::from_secs(5);

/// What a daemon is made of.
#[derive(Debug)]
pub struct Options {
    pub home: Home,
    /// This process's program. Another that replaces it there takes over.
    pub program: PathBuf,
    /// The command that runs [`abide_tools::helper::main`].
    pub helper: Vec<OsString>,
    /// What this process was given.
    pub inherited: Inherited,
    /// Where the program before this one listened for HTTP, if it has handed over.
    pub http: http::Kept,
}

/// A program to execute in this process. It goes on with the socket and the lock of this instance.
#[derive(Debug)]
pub struct HandOver {
    pub program: PathBuf,
    pub instance: Instance,
    /// Where it listens for HTTP again.
    pub http: http::Kept,
}

/// Why a daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Instance(#[from] InstanceError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Tools(#[from] abide_tools::Error),
    #[error("cannot find this user's home folder; set HOME")]
    NoHome,
    #[error(
        "the database could not be written any more ({0}); nothing that was shown is lost, start the daemon again"
    )]
    StoreFailed(String),
}

/// Runs a daemon until `ending` is set: by a signal, by the `shutdown` method, by the updater, or when the
/// store fails.
///
/// # Errors
/// It could not start, or its store failed.
pub fn run(
    options: Options,
    ending: Arc<watch::Sender<Option<Ending>>>,
) -> LocalBoxFuture<'static, Result<Option<HandOver>, Error>> {
    // Boxed, so that the future is compiled in this crate and not again in the binary.
    Box::pin(serve(options, ending))
}

async fn serve(
    options: Options,
    ending: Arc<watch::Sender<Option<Ending>>>,
) -> Result<Option<HandOver>, Error> {
    let Options { home, program, helper, inherited, http: kept_http } = options;
    for folder in [&home.config_dir, &home.data_dir, &home.state_dir, &home.run_dir, &home.spool_dir()] {
        private_folder(folder)?;
    }
    let stayed = inherited.stayed().cloned();
    let was_handed_over = inherited.is_from_predecessor();
    let mut instance = Instance::inherit(home.lock_file(), inherited)?;
    let keys = Arc::new(KeyStore::open(&home.key_file())?);
    let variable = Arc::new(|name: &str| std::env::var(name).ok());
    let settings = Settings::open(&home.config_file(), home.last_good_config(), keys.clone(), variable)?;

    let supervisor = Supervisor::default();
    let alive = Alive::new(home.alive_file());
    let predecessor = predecessor(was_handed_over, &alive, &supervisor);
    let hub = Hub::default();
    let (feed, news) = Feed::new();
    let publish = hub.clone();
    let sink = Box::new(move |committed: &abide_store::Committed| {
        publish.publish(committed);
        feed.committed(committed);
    });
    let options = StoreOptions { path: home.database(), reserve_bytes: RESERVE, readers: READERS };
    let store = Store::open_repairing(options, sink, doctor::projected)?;
    let tools = open_tools(&home, helper)?;
    let kept = tools.kept().unwrap_or_else(|e| {
        tracing::warn!("the kept output of tools cannot be listed, so none of it is dropped: {e}");
        Vec::new()
    });

    let embedder = Embedder::new(settings.clone(), home.embedding_model());
    let runner = Runner {
        settings: settings.clone(),
        tools: tools.clone(),
        store: store.clone(),
        embedder: embedder.clone(),
        hub: hub.clone(),
        supervisor: supervisor.clone(),
    };
    let alarm = Alarm::default();
    let sessions = Sessions::new(runner, alarm.clone(), alive, predecessor, ending.clone());

    // Before a request can name a branch that a crash has left.
    sessions.tidy_worktrees().await;

    let drained = Arc::new(watch::channel(None).0);
    let (socket, database) = (home.socket()?, home.database());
    let listener = instance.listen(&socket, env!("CARGO_PKG_VERSION"))?;
    let socket = instance.socket().map_or(socket, Path::to_path_buf);
    tracing::info!(socket = %socket.display(), version = env!("CARGO_PKG_VERSION"), "listening");
    let (http, home) = (Http::new(home.token_file()), Arc::new(home));
    let updater = Updater {
        program,
        stayed,
        home: home.clone(),
        store: store.clone(),
        sessions: sessions.clone(),
        settings: settings.clone(),
        hub: hub.clone(),
        ending: ending.clone(),
    };
    let service = Service {
        store: store.clone(),
        embedder: embedder.clone(),
        hub: hub.clone(),
        sessions: sessions.clone(),
        settings: settings.clone(),
        tools: tools.clone(),
        launcher: Launcher::new(settings.clone(), tools.clone(), home.clone()),
        home,
        socket,
        supervisor: supervisor.clone(),
        connections: Connections::default(),
        started_at: clock::now(),
        started_by: started_by(),
        ending: ending.clone(),
        drained: drained.clone(),
        updates: updater.start(&supervisor).await,
        http: http.clone(),
    };
    start_notifier(&service, news);
    http.start(&service, if was_handed_over { kept_http } else { http::Kept::default() }).await;
    supervisor.spawn("ipc", ipc::serve(listener, service));
    supervisor.spawn("storage state", watch_storage(store.clone(), hub.clone(), supervisor.clone()));
    supervisor.spawn("keys", fetch_keys(keys, settings, supervisor.clone()));
    let damaged = |e: ReadError| OpenError::Damaged { path: database.clone(), reason: e.to_string() };
    sessions.recover().await.map_err(damaged)?;
    drop_what_is_left(&supervisor, &sessions, kept);
    supervisor.spawn("integrity", check_integrity(store.clone(), database, hub.clone(), supervisor.clone()));
    supervisor.spawn("alarm", alarm.run(sessions.clone()));
    supervisor.spawn("meaning", embedder.keep_indexed(store.clone(), sessions.clone(), supervisor.clone()));
    supervisor.spawn("allocator", allocator::trim_after_unload(sessions.clone(), supervisor.clone()));

    let why = drain(&sessions, &store, &hub, &ending, &drained).await;
    sessions.sign().await;
    let http = http.kept();
    supervisor.end(END).await;
    let _ = tokio::task::spawn_blocking(move || tools.close()).await;
    store.close().await;
    // A signal that came while the parts ended: then this daemon ends, too.
    let ending = ending.borrow().clone();
    match ending.unwrap_or(why) {
        Ending::Asked { .. } => Ok(None),
        Ending::HandOver { program } => Ok(Some(HandOver { program, instance, http })),
        Ending::StoreFailed { reason } => Err(Error::StoreFailed(reason)),
    }
}

/// How the daemon before ended; the children of one that handed over are waited for from here on.
fn predecessor(was_handed_over: bool, alive: &Alive, supervisor: &Supervisor) -> Predecessor {
    if !was_handed_over {
        return Predecessor::Ended { ran_until: alive.last() };
    }
    inherited_processes::adopt(supervisor);
    Predecessor::HandedOver
}

/// Drops files that nothing needs any more.
fn drop_what_is_left(supervisor: &Supervisor, sessions: &Sessions, kept: Vec<CallId>) {
    supervisor.spawn("checkpoints", sessions.clone().forget_checkpoints_of_deleted());
    supervisor.spawn("kept output", sessions.clone().drop_settled_output(kept));
    supervisor.spawn("private files", sessions.clone().drop_private_files());
}

async fn fetch_keys(keys: Arc<KeyStore>, settings: Settings, supervisor: Supervisor) {
    tokio::select! {
        () = async { settings.now().await.warm().await; keys.keep_fetching().await } => {}
        () = supervisor.ending() => {}
    }
}

/// Waits until the daemon is asked to end, and lets its tasks come to a boundary. Returns why it ends.
async fn drain(
    sessions: &Sessions,
    store: &Store,
    hub: &Hub,
    ending: &watch::Sender<Option<Ending>>,
    drained: &watch::Sender<Option<Drained>>,
) -> Ending {
    let mut endings = ending.subscribe();
    let mut why = wait_for_ending(&mut endings).await;
    while let Ending::Asked { .. } | Ending::HandOver { .. } = &why {
        let drain = match &why {
            Ending::Asked { drain } => *drain,
            _ => LAST_COMMITS,
        };
        // Clients of a daemon that hands over connect again by themselves.
        hub.daemon(|state| state.shutting_down = !matches!(why, Ending::HandOver { .. }));
        tracing::info!(?why, "shutting down");
        tokio::select! {
            biased;
            // A stop instead of a hand-over, a second signal with a shorter deadline, or a failed store.
            Ok(()) = endings.changed() => why = wait_for_ending(&mut endings).await,
            () = sessions.drain(drain) => break,
        }
    }
    if matches!(why, Ending::Asked { .. }) {
        drained.send_replace(Some(shutdown_report(sessions, store).await));
        // The `shutdown` request gets its reply before connections are closed.
        let _ = tokio::time::timeout(END, drained.closed()).await;
    }
    why
}

/// The shutdown's report, made when nothing is written any more.
async fn shutdown_report(sessions: &Sessions, store: &Store) -> Drained {
    let cut = sessions.cut_off();
    for CutOff { task_id, work, .. } in &cut {
        let what = match work {
            CutWork::ModelCall => "model call",
            CutWork::ToolCall(call) => &call.tool,
        };
        tracing::warn!(task = %task_id, what, "cut off: it did not finish within the drain deadline");
    }
    match store.counts().await {
        Ok(counts) => {
            let tasks = counts.tasks;
            let unfinished = tasks.running + tasks.waiting + tasks.paused;
            Ok(ShutdownReply { unfinished, tasks, cut })
        }
        Err(e) => Err(abide_protocol::Error::new(ErrorKind::Storage, e.to_string())),
    }
}

/// Desktop notifications, while the configuration allows them.
fn start_notifier(service: &Service, news: News) {
    let Service { settings, store, hub, supervisor, .. } = service.clone();
    let ((orders, notes), (ordered, said)) = channels();
    let notifier = Notifier::new(SystemDesktop, hub.focused(), orders);
    let waiting = store.clone();
    let inbox = move || {
        let store = waiting.clone();
        async move { store.inbox(None).await.unwrap_or_default() }
    };
    let policy = move |conversation| {
        let (settings, store) = (settings.clone(), store.clone());
        async move {
            let catalog = settings.now().await;
            let notify = &catalog.config().notify;
            let is_muted =
                async || store.conversation(conversation).await.is_ok_and(|c| c.is_none_or(|c| c.muted));
            if !notify.enabled || is_muted().await {
                Policy::Drop
            } else if notify.quiet.is_some_and(|quiet| quiet.has(clock::minute_of_day())) {
                Policy::Hold
            } else {
                Policy::Show
            }
        }
    };
    let ending = supervisor.clone();
    supervisor.spawn("notifier", async move {
        notifier.run(news, notes, policy, inbox, ending.ending()).await;
    });
    let (actions, ending) = (Actions::new(service.clone()), supervisor.clone());
    supervisor.spawn("notifications' answers", async move {
        tokio::select! {
            () = actions.run(ordered, said) => {}
            () = ending.ending() => {}
        }
    });
}

/// Waits until the daemon is asked to end.
async fn wait_for_ending(endings: &mut watch::Receiver<Option<Ending>>) -> Ending {
    let why = endings.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
    why.unwrap_or(Ending::Asked { drain: Duration::ZERO })
}

/// Closes Abide's own files to tools, but not the scratch workspaces beside them.
fn open_tools(home: &Home, helper: Vec<OsString>) -> Result<Tools, Error> {
    let own = [
        home.config_dir.clone(),
        home.state_dir.clone(),
        home.run_dir.clone(),
        home.spool_dir(),
        home.checkpoints_dir(),
        home.sandbox_dir(),
        home.lock_file(),
        home.embedding_model(),
    ];
    let own_dirs = own.into_iter().chain(abide_store::files(&home.database())).collect();
    let user_home = directories::BaseDirs::new().ok_or(Error::NoHome)?.home_dir().to_path_buf();
    let checkpoints = CheckpointFolders { kept: home.checkpoints_dir(), scratch: home.scratch_dir() };
    let hidden = [&home.config_dir, &home.data_dir, &home.state_dir, &home.run_dir];
    Ok(Tools::new(ToolOptions {
        helper,
        spool_dir: home.spool_dir(),
        own_dirs,
        home: user_home,
        checkpoints,
        hidden_dirs: hidden.into_iter().cloned().collect(),
        sandbox_dir: home.sandbox_dir(),
        worktrees_dir: home.worktrees_dir(),
    })?)
}

/// Checks the whole database, and makes it anew if something in it is damaged that is no record.
async fn check_and_repair(store: &Store) -> Result<Integrity, ReadError> {
    let found = store.check().await;
    if matches!(found, Ok(Integrity::Sound)) || store.repair().await.is_err() {
        return found;
    }
    store.check().await
}

/// Checks the whole database, because a flipped bit may be where no query reads.
async fn check_integrity(store: Store, path: PathBuf, hub: Hub, supervisor: Supervisor) {
    let found = tokio::select! {
        found = check_and_repair(&store) => found,
        () = supervisor.ending() => return,
    };
    let reason = match found {
        Ok(Integrity::Sound) => return,
        Ok(Integrity::Damaged(findings)) => findings.join("; "),
        Err(e) => e.to_string(),
    };
    hub.daemon(|daemon| daemon.storage_damaged = true);
    tracing::error!(
        "{} is damaged ({reason}), and something may be missing: end the daemon, move the file away together with its -wal, -shm \
         and -newest files, and put a backup in its place, or what can be read of it: abide doctor --salvage FILE",
        path.display()
    );
}

async fn watch_storage(store: Store, hub: Hub, supervisor: Supervisor) {
    let mut state = store.state();
    loop {
        tokio::select! {
            changed = state.changed() => if changed.is_err() { return },
            () = supervisor.ending() => return,
        }
        let full = state.borrow_and_update().full;
        if full {
            tracing::error!("the disk is full: nothing is lost, everything waits for room");
        } else {
            tracing::info!("there is room on the disk again");
        }
        hub.daemon(|daemon| daemon.storage_full = full);
    }
}
