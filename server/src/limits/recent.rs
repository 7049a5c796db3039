//! Who was here of late: a bounded number of keys, each for a time.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Keys that were noted within a time. Where there are too many, the one that was noted first is forgotten.
#[derive(Debug)]
pub(crate) struct Recent<K> {
    most: usize,
    within: Duration,
    noted: Mutex<HashMap<K, Instant>>,
}

impl<K: Copy + Eq + Hash> Recent<K> {
    pub(crate) fn new(most: usize, within: Duration) -> Self {
        Self { most, within, noted: Mutex::default() }
    }

    pub(crate) fn note(&self, key: K, now: Instant) {
        let mut noted = self.locked();
        if noted.len() >= self.most && !noted.contains_key(&key) {
            let first = noted.iter().min_by_key(|(_, at)| **at).map(|(key, _)| *key);
            if let Some(first) = first {
                noted.remove(&first);
            }
        }
        noted.insert(key, now);
    }

    pub(crate) fn has(&self, key: K, now: Instant) -> bool {
        self.locked().get(&key).is_some_and(|at| now.saturating_duration_since(*at) < self.within)
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn locked(&self) -> MutexGuard<'_, HashMap<K, Instant>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn it_is_remembered_for_a_time() {
        let (recent, now) = (Recent::new(10, DAY), Instant::now());
        recent.note("a", now);
        let nearly = DAY - Duration::from_secs(1);
        assert!(recent.has("a", now + nearly) && !recent.has("a", now + DAY) && !recent.has("b", now));
        recent.note("a", now + nearly);
        assert!(recent.has("a", now + DAY), "the last time counts");
    }

    #[test]
    fn nobody_fills_the_memory() {
        let (recent, now) = (Recent::new(10, DAY), Instant::now());
        for key in 0..100 {
            recent.note(key, now + Duration::from_secs(key));
            recent.note(0, now + Duration::from_secs(key));
        }
        assert_eq!(recent.locked().len(), 10);
        let later = now + Duration::from_secs(100);
        let known: Vec<u64> = (0..100).filter(|key| recent.has(*key, later)).collect();
        assert_eq!(known, [0, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
    }
}
