//! Lines of the log that whoever calls can bring about at will: they must not fill the disk.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often the same is told.
const EVERY: Duration = Duration::from_secs(60);

/// One kind of lines: it is told once a minute at most, and then with how many were left out since.
#[derive(Debug, Default)]
pub(crate) struct Rarely(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    last: Option<Instant>,
    left_out: u64,
}

impl Rarely {
    /// Where it is to be told now: how many were left out since the last one (`repeated`).
    pub(crate) fn is_time(&self, now: Instant) -> Option<u64> {
        // What is behind the lock is whole after every step, whatever panicked.
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.last.is_some_and(|last| now.saturating_duration_since(last) < EVERY) {
            told.left_out = told.left_out.saturating_add(1);
            return None;
        }
        told.last = Some(now);
        Some(std::mem::take(&mut told.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_once_a_minute_with_how_many_were_not() {
        let (told, mut now) = (Rarely::default(), Instant::now());
        assert_eq!(told.is_time(now), Some(0));
        for _ in 0..150 {
            assert_eq!(told.is_time(now), None);
        }
        now += EVERY - Duration::from_millis(1);
        assert_eq!(told.is_time(now), None);
        now += Duration::from_millis(1);
        assert_eq!(told.is_time(now), Some(151), "none is lost");
        assert_eq!(told.is_time(now), None);
        assert_eq!(told.is_time(now + 10 * EVERY), Some(1));
        assert_eq!(told.is_time(now + 20 * EVERY), Some(0));
    }
}
