use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// More than the 4,096 records that may wait in the daemon's queue for a client before it is cut.
const CAPACITY: usize = 8192;

/// A map that forgets its oldest keys, so that it does not grow in a window that is open for months.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recent<K: Hash + Eq, V> {
    values: HashMap<K, V>,
    /// Keys, oldest first.
    order: VecDeque<K>,
}

impl<K: Hash + Eq, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Hash + Eq + Copy, V> Recent<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.values.insert(key, value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_keys_are_forgotten() {
        let mut recent = Recent::default();
        for key in 0..3 * CAPACITY {
            recent.insert(key, 0);
            recent.insert(key, key);
        }
        assert_eq!((recent.values.len(), recent.order.len()), (CAPACITY, CAPACITY));
        assert_eq!(recent.get(&(2 * CAPACITY - 1)), None);
        assert_eq!(recent.get(&(2 * CAPACITY)), Some(&(2 * CAPACITY)));
    }
}
