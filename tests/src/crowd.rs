//! Many tasks at once, and people who start, answer, stop and resume them, through all crashes of the daemon.
//!
//! Everything that the daemon acknowledged is kept, to be compared with its database later.

mod keeper;
mod people;
mod script;

pub(crate) use script::result;

use crate::{daemon::TestDaemon, model_server::ModelServer, seed::Seed, tap::connected, witness::Witness};
use abide_client::{
    CallError, Client,
    protocol::{
        ApprovalId, QuestionId, TaskId,
        inbox::Decision,
        method::{Method, task::StartTaskReply},
    },
};
use abide_host::Home;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{sync::Notify, task::JoinSet};

/// An acknowledgement by the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ack {
    /// The client's own id of the request, and what it started.
    Started {
        key: String,
        reply: StartTaskReply,
    },
    /// `counts` is the response that counts, according to the daemon.
    Answered {
        question: QuestionId,
        said: Option<String>,
        won: bool,
        counts: Option<String>,
    },
    Decided {
        approval: ApprovalId,
        said: Decision,
        won: bool,
        counts: Decision,
    },
    Stopped(TaskId),
}

/// What the crowd works with.
pub struct Ground {
    pub home: Home,
    pub model: Arc<ModelServer>,
    pub workspace: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub witness: Witness,
    pub seed: Seed,
}

impl Ground {
    /// The workspace of this daemon, with the file that the crowd reads. The witness is beneath it.
    ///
    /// # Panics
    /// The file cannot be written.
    #[must_use]
    pub fn of(daemon: &TestDaemon, model: &Arc<ModelServer>, seed: Seed) -> Self {
        let workspace = daemon.workspace();
        std::fs::write(workspace.join("shared.txt"), "for all to read\n").expect("the workspace is there");
        Self {
            home: daemon.home(),
            model: Arc::clone(model),
            witness: Witness::at(workspace.join("witness")),
            workspace,
            environment: daemon.variables(),
            seed,
        }
    }
}

struct Shared {
    ground: Ground,
    acks: Mutex<Vec<Ack>>,
    is_closing: AtomicBool,
    /// A root task has ended.
    ended: Notify,
}

/// The crowd. Dropping it ends all its tasks.
pub struct Crowd {
    shared: Arc<Shared>,
    keeper: JoinSet<()>,
    people: JoinSet<()>,
}

impl Crowd {
    /// Keeps so many tasks running: one that ends is replaced. Two people look after them.
    #[must_use]
    pub fn start(ground: Ground, tasks: usize) -> Self {
        let shared = Arc::new(Shared {
            ground,
            acks: Mutex::default(),
            is_closing: AtomicBool::new(false),
            ended: Notify::new(),
        });
        let (mut keeper, mut people) = (JoinSet::new(), JoinSet::new());
        keeper.spawn(keeper::keep(Arc::clone(&shared), tasks));
        for name in ["anna", "ben"] {
            people.spawn(people::look_after(Arc::clone(&shared), name));
        }
        Self { shared, keeper, people }
    }

    /// Starts no more tasks and waits until all have ended.
    ///
    /// # Panics
    /// They do not end, or somebody in the crowd has failed.
    pub async fn finish(&mut self) {
        self.shared.is_closing.store(true, Ordering::Release);
        // The limit is for each, since all of them together may be much work.
        let peace = loop {
            let last = async {
                tokio::select! {
                    () = self.shared.ended.notified() => None,
                    joined = self.keeper.join_next() => Some(joined.expect("a keeper")),
                }
            };
            if let Some(joined) = crate::wait::within("one more of the last tasks to end", last).await {
                break joined;
            }
        };
        peace.expect("the keeper's peace");
    }

    /// # Panics
    /// Somebody in the crowd has failed.
    pub fn assert_running(&mut self) {
        for part in [&mut self.keeper, &mut self.people] {
            if let Some(ended) = part.try_join_next() {
                ended.expect("nobody in the crowd fails");
                panic!("somebody in the crowd has gone");
            }
        }
    }

    /// The acknowledgements so far.
    #[must_use]
    pub fn acks(&self) -> Vec<Ack> {
        self.shared.acks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    fn acknowledged(&self, ack: Ack) {
        self.acks.lock().unwrap_or_else(PoisonError::into_inner).push(ack);
    }

    fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }
}

/// A person's connection to the daemon: a request without a reply is sent again.
struct Way {
    home: Home,
    client: Option<Client>,
}

impl Way {
    const fn to(home: Home) -> Self {
        Self { home, client: None }
    }

    /// The daemon's reply or refusal.
    async fn ask<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CallError> {
        loop {
            let client = match &self.client {
                Some(client) => client.clone(),
                None => self.client.insert(connected(&self.home).await).clone(),
            };
            match client.call::<M>(params.clone()).await {
                Err(CallError::Disconnected(_)) => self.client = None,
                answer => return answer,
            }
        }
    }
}
