use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts connections. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    open: Arc<AtomicUsize>,
}

impl Connections {
    /// A slot, released when dropped; `None` if `max` are taken.
    #[must_use]
    pub fn take_slot(&self, max: usize) -> Option<ConnectionSlot> {
        let taken =
            self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n < max).then_some(n + 1));
        taken.ok().map(|_| ConnectionSlot { open: self.open.clone() })
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }
}

/// One connection's slot.
#[derive(Debug)]
pub struct ConnectionSlot {
    open: Arc<AtomicUsize>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
    }
}
