use crate::wait;
use std::fmt;
use tokio::sync::watch;

/// A point at which a reply waits until the test opens it. Clones share the gate.
#[derive(Clone)]
pub struct Gate {
    name: &'static str,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    arrivals: usize,
    is_open: bool,
}

impl Gate {
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, state: watch::Sender::new(State::default()) }
    }

    /// Lets all replies pass, those that wait and those that come later.
    pub fn open(&self) {
        self.state.send_modify(|s| s.is_open = true);
    }

    /// Waits until a reply has reached the gate.
    ///
    /// # Panics
    /// None does in time.
    pub async fn reached(&self) {
        self.reached_times(1).await;
    }

    /// Waits until this many replies have reached the gate.
    ///
    /// # Panics
    /// They do not in time.
    pub async fn reached_times(&self, times: usize) {
        let what = format!("a reply at the gate `{}` (time {times})", self.name);
        let mut state = self.state.subscribe();
        wait::within(&what, state.wait_for(|s| s.arrivals >= times))
            .await
            .expect("the gate is held by the test");
    }

    pub(super) async fn pass(&self) {
        self.state.send_modify(|s| s.arrivals += 1);
        // It fails only if all senders are dropped, but `self` holds one.
        drop(self.state.subscribe().wait_for(|s| s.is_open).await);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gate({})", self.name)
    }
}
