//! The simulation clock of a running sandbox, for tests: `sandbox.clock()`.

use std::time::{Duration, SystemTime};

use crate::{
    domain::clock::{self, MAX_AHEAD_MS},
    settings::ResolvePending,
    state::State,
};

/// The gateway's clock, and the automatic resolution of pending payments.
#[derive(Clone, Copy)]
pub struct ClockControl<'a> {
    state: &'a State,
}

/// Why the clock was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// The clock would be too far ahead.
    #[error("the clock can be at most {} days ahead", MAX_AHEAD_MS / 86_400_000)]
    TooFar,
    /// With 0 queries, a payment would be final at once.
    #[error("resolve_after_queries must be at least 1")]
    NoQueries,
    /// The database failed.
    #[error("the sandbox failed: {0}")]
    Failed(String),
}

impl<'a> ClockControl<'a> {
    pub(crate) fn new(state: &'a State) -> Self {
        Self { state }
    }

    /// The current time of the gateway's clock.
    pub fn now(&self) -> SystemTime {
        clock::system_time(self.state.clock().now_ms())
    }

    /// Its offset ahead of the machine's clock.
    pub fn ahead(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.state.clock().ahead_ms()).unwrap_or_default())
    }

    /// Moves it forward. Everything due by then happens at once: callbacks are
    /// retried, pending payments become final. Only a reset moves it back.
    ///
    /// # Errors
    /// If it would be more than a hundred years ahead.
    pub fn forward(&self, by: Duration) -> Result<(), ClockError> {
        match self.state.step_clock(by) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ClockError::TooFar),
            Err(error) => Err(ClockError::Failed(error.to_string())),
        }
    }

    /// When pending payments become final automatically.
    pub fn resolve_pending(&self) -> ResolvePending {
        self.state.resolve_pending()
    }

    /// Sets when pending payments become final automatically, including those that are already pending.
    ///
    /// # Errors
    /// If the number of queries is 0.
    pub fn set_resolve_pending(&self, resolve_pending: ResolvePending) -> Result<(), ClockError> {
        if resolve_pending.after_queries == Some(0) {
            return Err(ClockError::NoQueries);
        }
        self.state.change_resolve_pending(|_| resolve_pending);
        Ok(())
    }
}
