//! Goes over to a program that has replaced the daemon's own on disk, without cutting anything off.
//!
//! The file is looked at when a client connects, and once a minute. A new program is asked whether it could
//! take over (`abided check`: it reads configuration, keys and the database's schema). If the configuration
//! leaves it to the daemon, or a person asks for it, all tasks are brought to a boundary
//! ([`Sessions::hold`]), the daemon drains, and the process executes the new program. Socket and lock stay
//! open meanwhile ([`crate::instance::Instance::keep_open`]). If a boundary does not come in time, all tasks
//! go on, and the next attempt follows later.

mod delay;
mod program;

use crate::{
    clock,
    config::UpdatePolicy,
    events::Hub,
    instance::Stayed,
    session::{Held, Sessions},
    settings::Settings,
    supervisor::{Ending, Supervisor},
};
use abide_host::{
    home::Home,
    program::{CheckError, Checked, check},
};
use abide_protocol::{
    Timestamp,
    measure::duration,
    task::{AgentTask, CallState, Status},
    update::{UpdateStage, UpdateStatus},
};
use abide_store::{Store, TreeOf};
use delay::Delay;
use program::{Identity, Program};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::Instant,
};

/// How often the file is looked at if no client connects.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// A file that is being written changes between two looks this far apart.
const SETTLE: Duration = Duration::from_secs(1);
/// How long tasks are held before they go on instead, unless a request says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest patience of a request.
const MAX_PATIENCE: Duration = Duration::from_secs(600);
/// A program that refused is asked again after this time: what it was refused for may be mended.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The least patience: the time that idle conversations need to say that they rest.
const LEAST_PATIENCE: Duration = Duration::from_millis(250);
/// How often a file that is being written is looked at for a request.
const LOOKS: usize = 5;
/// A tool call that has run this long is likely to run on, so the daemon does not hold all other tasks for
/// it.
const LONG_CALL_MS: u64 = 10_000;
/// The most lines about work that is waited for.
const MAX_LINES: usize = 8;
/// The most requests that wait for the updater.
const QUEUE: usize = 8;

/// Said of a program that does not know `check`.
const TOO_OLD: &str = "it does not answer `abided check`, so it is too old to take over from a running daemon; `abide daemon restart` starts it";

/// A person's request to go over now, if nothing is cut off by it.
struct Ask {
    patience: Duration,
    reply: oneshot::Sender<Option<UpdateStatus>>,
}

/// What the service sees of the updater. Cheap to clone.
#[derive(Clone)]
pub struct Updates {
    asks: mpsc::Sender<Ask>,
    look: Arc<Notify>,
    status: watch::Receiver<Option<UpdateStatus>>,
}

impl Updates {
    /// How far the daemon is with a program that has replaced its own; `None`: none has.
    #[must_use]
    pub fn status(&self) -> Option<UpdateStatus> {
        self.status.borrow().clone()
    }

    /// Has the file looked at soon: a client has connected, perhaps one of another version.
    pub fn look(&self) {
        self.look.notify_one();
    }

    /// Goes over now, if nothing is cut off by it within `patience`. `None`: the daemon ends.
    pub async fn now(&self, patience: Option<Duration>) -> Option<Option<UpdateStatus>> {
        let (reply, answer) = oneshot::channel();
        let patience = patience.unwrap_or(PATIENCE).min(MAX_PATIENCE);
        self.asks.send(Ask { patience, reply }).await.ok()?;
        answer.await.ok()
    }
}

/// Looks at the file, and goes over to a new one.
pub struct Updater {
    pub program: PathBuf,
    /// This program was executed again, because that which has replaced it could not be.
    pub stayed: Option<Stayed>,
    pub home: Arc<Home>,
    pub store: Store,
    pub sessions: Sessions,
    pub settings: Settings,
    pub hub: Hub,
    pub ending: Arc<watch::Sender<Option<Ending>>>,
}

/// A new program, and whether it could take over.
struct Candidate {
    identity: Identity,
    /// Its version; or why it cannot.
    verdict: Result<String, String>,
    /// When one that cannot is asked again; `None`: if a person wants it.
    again_at: Option<Instant>,
}

/// The state of the updater's task.
struct Watch {
    updater: Updater,
    program: Program,
    candidate: Option<Candidate>,
    policy: UpdatePolicy,
    /// Until when the daemon does not try by itself.
    delay: Delay,
    look: Arc<Notify>,
    /// All tasks are at a boundary, and the daemon ends for the new program.
    held: Option<Held>,
    status: watch::Sender<Option<UpdateStatus>>,
}

impl Updater {
    /// Starts the updater's task.
    pub async fn start(mut self, supervisor: &Supervisor) -> Updates {
        let (asks, mut asked) = mpsc::channel::<Ask>(QUEUE);
        let (status, shown) = watch::channel(None);
        let look = Arc::new(Notify::new());
        let looks = look.clone();
        let stayed = self.stayed.take();
        let mut watch = Watch {
            program: Program::of(self.program.clone()),
            updater: self,
            candidate: None,
            policy: UpdatePolicy::default(),
            delay: Delay::none(),
            look: look.clone(),
            held: None,
            status,
        };
        // Before any client asks.
        if let Some(Stayed { why, .. }) = stayed {
            watch.has_stayed(&why).await;
        }
        let ending = supervisor.clone();
        supervisor.spawn("updater", async move {
            loop {
                let mut ask = tokio::select! {
                    () = ending.ending() => return,
                    () = looks.notified() => None,
                    () = tokio::time::sleep(LOOK_EVERY) => None,
                    Some(ask) = asked.recv() => Some(ask),
                };
                let mut is_done = false;
                while !is_done {
                    let by_itself = ask.is_none();
                    tokio::select! {
                        () = ending.ending() => return,
                        () = watch.turn(ask.take()) => is_done = true,
                        // A person's patience may be shorter.
                        Some(next) = asked.recv(), if by_itself => ask = Some(next),
                    }
                }
            }
        });
        Updates { asks, look, status: shown }
    }
}

impl Watch {
    /// The program that was found to be fit could not be executed. It is not tried again by itself: each
    /// attempt ends this daemon's parts.
    async fn has_stayed(&mut self, why: &str) {
        tracing::error!(why, program = %self.program.path().display(), "cannot go over to the program; the one before goes on");
        let Some(identity) = self.program.replaced_by() else { return };
        self.policy = self.updater.settings.now().await.config().daemon.update;
        let verdict = Err(format!("it could not be executed ({why}); `abide daemon update` tries it again"));
        self.candidate = Some(Candidate { identity, verdict, again_at: None });
        self.show(UpdateStage::Refused, Vec::new());
    }

    /// Looks once, and goes over if that is wanted and possible. Dropped before its end, it lets all tasks go
    /// on.
    async fn turn(&mut self, ask: Option<Ask>) {
        let ask = ask.filter(|ask| !ask.reply.is_closed());
        if self.held.is_some() {
            let is_handing_over = self.is_shown(UpdateStage::HandingOver);
            return self.answer(ask.filter(|_| is_handing_over));
        }
        self.policy = self.updater.settings.now().await.config().daemon.update;
        self.look(ask.is_some()).await;
        match &self.candidate {
            None => self.set(None),
            Some(candidate) if candidate.verdict.is_err() => self.show(UpdateStage::Refused, Vec::new()),
            Some(_) => {
                let by_itself = self.policy == UpdatePolicy::Auto && self.delay.is_over();
                let patience = ask.as_ref().map(|ask| ask.patience);
                match patience.or(by_itself.then_some(PATIENCE)) {
                    Some(patience) => return self.go_over(patience, ask).await,
                    None if self.policy == UpdatePolicy::Auto => {}
                    None => self.show(UpdateStage::Ready, Vec::new()),
                }
            }
        }
        self.answer(ask);
    }

    /// Looks for another program at the path, and asks a new one whether it could take over. A person may
    /// have mended what it was refused for, so it is asked again for a request.
    async fn look(&mut self, is_request: bool) {
        for _ in 0..if is_request { LOOKS } else { 1 } {
            let Some(found) = self.program.replaced_by() else {
                self.candidate = None;
                return;
            };
            if let Some(known) = self.candidate.as_ref().filter(|known| known.identity == found) {
                let is_time = known.again_at.is_some_and(|at| Instant::now() >= at);
                if known.verdict.is_ok() || !(is_request || is_time) {
                    return;
                }
            } else {
                self.candidate = None;
                tokio::time::sleep(SETTLE).await;
            }
            if self.program.replaced_by() == Some(found) {
                return self.examine(found).await;
            }
            // It is still being written.
        }
    }

    /// Asks the program whether it could take over.
    async fn examine(&mut self, identity: Identity) {
        let verdict = match self.program.check_fit() {
            Ok(()) => self.ask_program().await,
            Err(unfit) => Err(unfit.to_string()),
        };
        let program = self.program.path().display();
        match &verdict {
            Ok(version) => tracing::info!(version, %program, "another program is installed"),
            Err(why) => tracing::warn!(why, %program, "the program that is installed cannot take over"),
        }
        self.delay = Delay::none();
        let again_at = Some(Instant::now() + ASK_AGAIN_AFTER);
        self.candidate = Some(Candidate { identity, verdict, again_at });
    }

    /// Its version, or why it cannot take over.
    async fn ask_program(&self) -> Result<String, String> {
        match check(&self.updater.home, Some(self.program.path().to_path_buf())).await {
            Ok(Checked { version: Some(version) }) => Ok(version),
            Ok(Checked { version: None }) => Err(TOO_OLD.to_owned()),
            Err(CheckError::Refused { said }) => Err(said),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Brings all tasks to a boundary and ends the daemon for the new program. If that takes too long, all
    /// tasks go on.
    async fn go_over(&mut self, patience: Duration, mut ask: Option<Ask>) {
        self.show(UpdateStage::Waiting, Vec::new());
        let long = self.under_way(LONG_CALL_MS).await;
        // A person's patience may be longer than what such a call still takes.
        if ask.is_none() && !long.is_empty() {
            return self.put_off(long, None);
        }
        let hold = self.updater.sessions.hold(patience.max(LEAST_PATIENCE));
        let held = match &mut ask {
            None => hold.await,
            Some(ask) => tokio::select! {
                held = hold => held,
                // Nobody waits for it any more, so nothing is held for it.
                () = ask.reply.closed() => return self.put_off(Vec::new(), None),
            },
        };
        let held = match held {
            Ok(held) => held,
            Err(held) => {
                let waits_for = self.under_way(0).await;
                drop(held);
                return self.put_off(waits_for, ask);
            }
        };
        if self.program.replaced_by() != self.candidate.as_ref().map(|candidate| candidate.identity) {
            // Meanwhile it was replaced or removed, and what is there now was not asked.
            drop(held);
            self.look.notify_one();
            return self.put_off(Vec::new(), ask);
        }
        // Until the daemon ends, nothing may begin.
        self.held = Some(held);
        if self.updater.ending.borrow().is_some() {
            // It was asked to end meanwhile. The request gets that as its reply.
            return;
        }
        self.show(UpdateStage::HandingOver, Vec::new());
        self.answer(ask);
        let program = self.program.path().to_path_buf();
        self.updater.ending.send_if_modified(|ending| {
            let is_first = ending.is_none();
            if is_first {
                *ending = Some(Ending::HandOver { program });
            }
            is_first
        });
    }

    /// All tasks go on, and the next attempt follows later.
    fn put_off(&mut self, waits_for: Vec<String>, ask: Option<Ask>) {
        tracing::info!(?waits_for, "the new program waits until nothing would be cut off");
        self.delay.grow();
        self.show(UpdateStage::Waiting, waits_for);
        self.answer(ask);
    }

    /// The work under way that began at least `since_ms` ago, one line each; calls of tools first.
    async fn under_way(&self, since_ms: u64) -> Vec<String> {
        let now = clock::now();
        match self.updater.store.tree(TreeOf::Everything, false).await {
            Ok(agents) => lines(agents.iter().map(|agent| &agent.task), now, since_ms),
            Err(e) => {
                tracing::warn!("the tasks under way cannot be listed: {e}");
                Vec::new()
            }
        }
    }

    fn show(&self, stage: UpdateStage, waits_for: Vec<String>) {
        let Some(candidate) = &self.candidate else { return self.set(None) };
        let (version, refused) = match &candidate.verdict {
            Ok(version) => (Some(version.clone()), None),
            Err(why) => (None, Some(why.clone())),
        };
        let program = self.program.path().display().to_string();
        self.set(Some(UpdateStatus { stage, program, version, waits_for, refused }));
    }

    fn is_shown(&self, stage: UpdateStage) -> bool {
        self.status.borrow().as_ref().is_some_and(|status| status.stage == stage)
    }

    fn set(&self, status: Option<UpdateStatus>) {
        let stage = status.as_ref().map(|status| status.stage);
        // Where a person does not want to hear of it, only the status says so.
        let is_told = self.policy != UpdatePolicy::Manual || stage == Some(UpdateStage::HandingOver);
        self.updater.hub.daemon(|daemon| daemon.update = stage.filter(|_| is_told));
        self.status.send_replace(status);
    }

    fn answer(&self, ask: Option<Ask>) {
        if let Some(ask) = ask {
            // Sending fails only if the client has gone.
            let _ = ask.reply.send(self.status.borrow().clone());
        }
    }
}

/// Describes calls and model calls that have run for at least `since_ms`. The start of a model call is not
/// known, so those are listed only with 0.
fn lines<'t>(tasks: impl Iterator<Item = &'t AgentTask>, now: Timestamp, since_ms: u64) -> Vec<String> {
    let (mut lines, mut asked) = (Vec::new(), 0);
    for task in tasks {
        asked += usize::from(task.status == Status::Thinking);
        for call in task.active_calls.iter().filter(|call| call.state == CallState::Running) {
            let runs_for = call.started_at.map_or(0, |at| now.since(at));
            if runs_for >= since_ms {
                lines.push(format!("{}: {}, for {}", call.tool, call.summary, duration(runs_for)));
            }
        }
    }
    if since_ms == 0 && asked > 0 {
        lines.push(format!("{asked} model call{}", if asked == 1 { "" } else { "s" }));
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}
