//! Lines that come in one burst: a text that was pasted into a terminal that does not mark pastes. They are
//! one message.

use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout_at},
};

/// An Enter that comes so soon after another key was not typed by hand.
const APART: Duration = Duration::from_millis(5);
/// When nothing has come for so long, the burst is over.
const OVER: Duration = Duration::from_millis(40);

/// What has come of a line. Clones are the same burst.
#[derive(Debug, Clone)]
pub(super) struct Burst(watch::Sender<Keys>);

#[derive(Debug, Clone, Copy, Default)]
struct Keys {
    /// When the last character came, if it was typed: completion, history and marked pastes bring several at
    /// once.
    last: Option<Instant>,
    /// The length of the line, in characters.
    count: usize,
    /// The last one was an Enter amid a burst, which has begun another line instead of sending the text.
    is_enter: bool,
}

impl Burst {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Keys::default()))
    }

    /// A line begins.
    pub(super) fn begin(&self) {
        self.0.send_replace(Keys::default());
    }

    /// Whether this Enter is part of a burst. If so, it begins another line, and [`Self::over`] says whether
    /// it was the last key.
    pub(super) fn enter(&self) -> bool {
        let is_amid = self.0.borrow().last.is_some_and(|last| last.elapsed() < APART);
        if is_amid {
            self.0.send_modify(|keys| keys.is_enter = true);
        }
        is_amid
    }

    /// The line has changed.
    pub(super) fn changed(&self, line: &str) {
        let count = line.chars().count();
        self.0.send_modify(|keys| {
            keys.last = (count == keys.count + 1).then(Instant::now);
            keys.count = count;
            keys.is_enter &= line.ends_with('\n');
        });
    }

    /// Waits until a burst has ended with an Enter.
    pub(super) async fn over(&self) {
        let mut keys = self.0.subscribe();
        loop {
            let Keys { last, is_enter, .. } = *keys.borrow_and_update();
            match last.filter(|_| is_enter) {
                Some(last) => {
                    if timeout_at(last + OVER, keys.changed()).await.is_err() {
                        return;
                    }
                }
                // The sender is here.
                None => drop(keys.changed().await),
            }
        }
    }

    /// Waits as long as a burst may pause.
    pub(super) async fn pause() {
        sleep_until(Instant::now() + OVER).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn typed(burst: &Burst, line: &str) {
        for (at, c) in line.char_indices() {
            burst.changed(&line[..at + c.len_utf8()]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_enter_amid_a_burst_begins_a_line_and_the_last_one_ends_the_text() {
        let burst = Burst::new();
        typed(&burst, "one");
        assert!(burst.enter());
        burst.changed("one\n");
        burst.changed("one\nt");
        assert!(burst.enter());
        burst.changed("one\nt\n");
        let begun = Instant::now();
        burst.over().await;
        assert_eq!(begun.elapsed(), OVER);
    }

    #[tokio::test(start_paused = true)]
    async fn an_enter_by_hand_is_none_and_a_burst_without_one_at_its_end_stays() {
        let burst = Burst::new();
        assert!(!burst.enter(), "an Enter at the beginning");
        typed(&burst, "one");
        advance(APART).await;
        assert!(!burst.enter(), "an Enter by hand");
        burst.changed("one completed");
        assert!(!burst.enter(), "an Enter after a completion");
        burst.changed("one completed!");
        assert!(burst.enter());
        burst.changed("one completed!\n");
        burst.changed("one completed!\nx");
        assert!(tokio::time::timeout(OVER * 100, burst.over()).await.is_err(), "the last line is not ended");
    }
}
