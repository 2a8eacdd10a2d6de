use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The most sub-tasks that a call may start by its line.
const MAX_FORKS: usize = 32;

pub(super) const OTHER_REQUEST: &str = "this id stands for another request";

/// The forks of a call, by the ids of their requests. A repeated id gets the same answer, and starts no
/// second sub-task.
#[derive(Default)]
pub(super) struct Forks(BTreeMap<u64, Fork>);

struct Fork {
    /// The number of earlier forks of the call.
    index: u32,
    /// A digest of the prompt.
    prompt: [u8; 32],
    /// `None` while the fork is being carried out.
    answer: Option<Result<String, String>>,
}

/// What a request to fork needs.
pub(super) enum Forked {
    /// The fork is to be carried out, with this index.
    New(u32),
    /// The fork is being carried out already.
    Open,
    /// The fork was carried out, with this answer.
    Known(Result<String, String>),
}

impl Forks {
    pub(super) fn ask(&mut self, id: u64, prompt: &str) -> Forked {
        let prompt: [u8; 32] = Sha256::digest(prompt).into();
        if let Some(fork) = self.0.get(&id) {
            return match &fork.answer {
                _ if fork.prompt != prompt => Forked::Known(Err(OTHER_REQUEST.to_owned())),
                Some(answer) => Forked::Known(answer.clone()),
                None => Forked::Open,
            };
        }
        match u32::try_from(self.0.len()) {
            Ok(index) if self.0.len() < MAX_FORKS => {
                self.0.insert(id, Fork { index, prompt, answer: None });
                Forked::New(index)
            }
            _ => Forked::Known(Err("this call has asked for 32 sub-tasks, and that is the limit".to_owned())),
        }
    }

    pub(super) fn answered(&mut self, id: u64, answer: Result<String, String>) {
        if let Some(fork) = self.0.get_mut(&id) {
            fork.answer = Some(answer);
        }
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.0.contains_key(&id)
    }

    /// The handles, in the order of the requests.
    pub(super) fn handles(&self) -> Vec<String> {
        let mut forks: Vec<&Fork> = self.0.values().collect();
        forks.sort_by_key(|fork| fork.index);
        forks.into_iter().filter_map(|fork| fork.answer.clone()?.ok()).collect()
    }
}
