//! How long a reply may be silent. What counts is content: a server that only keeps the connection open
//! writes nothing.

use crate::{config::ProviderConfig, error::ModelError, http::Peer, near::is_near};
use abide_protocol::record::ModelErrorKind as Kind;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How long the rest of the stream may take after the stop reason. The reply is whole then.
const AFTER_STOP: Duration = Duration::from_secs(2);

/// How far a reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing of it has come: the model may still read the prompt.
    Waiting,
    /// It is being written.
    Begun,
    /// Its stop reason has come.
    Finished,
}

/// The time until a silent reply is given up.
pub(crate) struct Patience {
    stall_timeout: Duration,
    prompt_timeout: Duration,
    is_near: bool,
    stage: Stage,
    /// When the stage began, or the last content came.
    since: Instant,
    /// When the last byte came.
    last_sign: Arc<Mutex<Instant>>,
}

impl Patience {
    pub(crate) fn new(config: &ProviderConfig) -> Self {
        let now = Instant::now();
        Self {
            stall_timeout: config.stall_timeout,
            prompt_timeout: config.prompt_timeout.max(config.stall_timeout),
            is_near: is_near(&config.base_url),
            stage: Stage::Waiting,
            since: now,
            last_sign: Arc::new(Mutex::new(now)),
        }
    }

    /// Notes signs of life.
    pub(crate) fn signs(&self) -> Signs {
        Signs(Arc::clone(&self.last_sign))
    }

    /// Content has come, or the end of it.
    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.since = Instant::now();
    }

    /// When the reply is given up if no content comes. Signs of life may move it.
    pub(crate) fn deadline(&self) -> Instant {
        match self.stage {
            Stage::Waiting if self.is_near => self.since + self.prompt_timeout,
            Stage::Waiting => {
                let last = *self.last_sign.lock().unwrap_or_else(PoisonError::into_inner);
                (last.max(self.since) + self.stall_timeout).min(self.since + self.prompt_timeout)
            }
            Stage::Begun => self.since + self.stall_timeout,
            Stage::Finished => self.since + AFTER_STOP,
        }
    }
}

impl Peer<'_> {
    /// No content came until this deadline.
    pub(crate) fn silent(&self, patience: &Patience) -> ModelError {
        self.silent_for(patience.deadline() - patience.since)
    }

    fn silent_for(&self, time: Duration) -> ModelError {
        let time = if time.as_secs() < 10 { time } else { Duration::from_secs(time.as_secs()) };
        let what = format!(
            "nothing of its reply came for {} s; a higher `stall_timeout_secs` of [providers.{}] in config.toml waits longer",
            time.as_secs_f32(),
            self.config.name
        );
        self.error(Kind::Stalled, what)
    }

    /// An error of a request for a reply, before the response. If there was silence, it names the setting.
    pub(crate) fn unanswered(&self, error: ModelError) -> ModelError {
        if error.kind == Kind::Stalled { self.silent_for(until_headers(self.config)) } else { error }
    }
}

/// Notes when bytes come.
pub(crate) struct Signs(Arc<Mutex<Instant>>);

impl Signs {
    pub(crate) fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// How long a provider may take to answer at all. (Some servers send their headers only once the model has
/// read the prompt.)
pub(crate) fn until_headers(config: &ProviderConfig) -> Duration {
    if is_near(&config.base_url) {
        config.prompt_timeout.max(config.stall_timeout)
    } else {
        config.stall_timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Api;

    fn patience(base_url: &str) -> Patience {
        let config = ProviderConfig {
            stall_timeout: Duration::from_secs(180),
            ..ProviderConfig::new("p", Api::OpenaiChat, base_url, "test")
        };
        Patience::new(&config)
    }

    fn wait(patience: &Patience) -> u64 {
        patience.deadline().duration_since(Instant::now()).as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_near_server_may_read_a_prompt_for_long_and_then_write_without_long_pauses() {
        let mut near = patience("http://127.0.0.1:1");
        assert_eq!(wait(&near), 1800);
        near.enter(Stage::Begun);
        assert_eq!(wait(&near), 180);
        near.enter(Stage::Finished);
        assert_eq!(wait(&near), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_far_server_may_read_a_prompt_for_long_only_while_it_shows_signs_of_life() {
        let mut far = patience("https://api.example.com");
        let signs = far.signs();
        assert_eq!(wait(&far), 180);
        for _ in 0..16 {
            tokio::time::advance(Duration::from_secs(100)).await;
            signs.note();
            assert_eq!(wait(&far), 180);
        }
        tokio::time::advance(Duration::from_secs(100)).await;
        signs.note();
        assert_eq!(wait(&far), 100, "1800 s in all");
        far.enter(Stage::Begun);
        tokio::time::advance(Duration::from_secs(100)).await;
        signs.note();
        assert_eq!(wait(&far), 80, "signs of life are no content");
    }
}
