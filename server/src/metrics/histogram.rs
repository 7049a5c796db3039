//! How long something took: counts in buckets.

use std::time::Duration;

/// Upper bounds in seconds. Those above 10 are for callers that wait for a change (long poll).
pub(super) const BOUNDS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Of each bucket alone; the last one has no bound.
    counts: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

impl Histogram {
    pub(super) fn note(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[bucket] += 1;
        self.seconds += seconds;
    }

    /// How many took at most so long, by bound; the last of all.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (String, u64)> {
        let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        let mut sum = 0;
        bounds.zip(self.counts).map(move |(bound, count)| {
            sum += count;
            (bound, sum)
        })
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }
}
