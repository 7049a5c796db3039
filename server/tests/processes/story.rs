//! What everybody did, for whoever has to understand a failure.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// The story so far.
#[derive(Clone)]
pub struct Story {
    begun: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Story {
    pub fn new() -> Self {
        Self { begun: Instant::now(), lines: Arc::default() }
    }

    pub fn tell(&self, line: impl AsRef<str>) {
        let line = format!("{:7.3} {}", self.begun.elapsed().as_secs_f64(), line.as_ref());
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    pub fn text(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}
