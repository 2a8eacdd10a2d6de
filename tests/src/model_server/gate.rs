use crate::wait;
use std::fmt;
use tokio::sync::watch;

/// A point at which a reply waits until the test lets it go on. Clones are the same gate.
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

    /// Lets everything through that stands or comes here.
    pub fn open(&self) {
        self.state.send_modify(|s| s.is_open = true);
    }

    /// Waits until a reply has come this far.
    ///
    /// # Panics
    /// None does in time.
    pub async fn reached(&self) {
        self.reached_times(1).await;
    }

    /// Waits until replies have come this far so many times.
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
        // An error would mean that nobody could open it any more; `self` can.
        drop(self.state.subscribe().wait_for(|s| s.is_open).await);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gate({})", self.name)
    }
}
