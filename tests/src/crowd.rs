//! Many tasks at once, and the people who start, answer, stop and resume them, whatever happens to the daemon.
//!
//! Everything the daemon acknowledged is kept, to be looked for in its database later.

mod keeper;
mod people;
mod script;

use crate::{model_server::ModelServer, seed::Seed, tap::connected, witness::Witness};
use abide_client::{
    CallError, Client, Home,
    protocol::{
        ApprovalId, QuestionId, TaskId,
        inbox::Decision,
        method::{Method, task::StartTaskReply},
    },
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::task::JoinSet;

/// Something that the daemon said it had done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ack {
    /// The client's own id of the request, and what it started.
    Started {
        key: String,
        reply: StartTaskReply,
    },
    /// `counts` is the response that the daemon says holds.
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

/// Where the crowd works.
pub struct Ground {
    pub home: Home,
    pub model: Arc<ModelServer>,
    pub workspace: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub witness: Witness,
    pub seed: Seed,
}

struct Shared {
    ground: Ground,
    acks: Mutex<Vec<Ack>>,
    is_closing: AtomicBool,
}

/// The crowd. Dropped, everybody goes.
pub struct Crowd {
    shared: Arc<Shared>,
    keeper: JoinSet<()>,
    people: JoinSet<()>,
}

impl Crowd {
    /// So many tasks from now on: one that ends is followed by another. Two people look after them.
    #[must_use]
    pub fn gather(ground: Ground, tasks: usize) -> Self {
        let shared = Arc::new(Shared { ground, acks: Mutex::default(), is_closing: AtomicBool::new(false) });
        let (mut keeper, mut people) = (JoinSet::new(), JoinSet::new());
        keeper.spawn(keeper::keep(Arc::clone(&shared), tasks));
        for name in ["anna", "ben"] {
            people.spawn(people::look_after(Arc::clone(&shared), name));
        }
        Self { shared, keeper, people }
    }

    /// No more tasks are begun; waits until all have ended.
    ///
    /// # Panics
    /// They do not end, or somebody in the crowd has failed.
    pub async fn go_home(&mut self) {
        self.shared.is_closing.store(true, Ordering::Release);
        crate::wait::within("the last tasks to end", self.keeper.join_next())
            .await
            .expect("a keeper")
            .expect("the keeper's peace");
    }

    /// # Panics
    /// Somebody in the crowd has failed.
    pub fn assert_well(&mut self) {
        for part in [&mut self.keeper, &mut self.people] {
            if let Some(ended) = part.try_join_next() {
                ended.expect("nobody in the crowd fails");
                panic!("somebody in the crowd has gone");
            }
        }
    }

    /// What was acknowledged so far.
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

/// A person's way to the daemon: what got no answer is asked again.
struct Way {
    home: Home,
    client: Option<Client>,
}

impl Way {
    const fn to(home: Home) -> Self {
        Self { home, client: None }
    }

    /// The daemon's answer, or its refusal.
    async fn ask<M: Method>(&mut self, params: M::Params) -> Result<M::Reply, CallError>
    where
        M::Params: Clone,
    {
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
