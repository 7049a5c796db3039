//! The clock of a running sandbox, for those who hold it: `sandbox.clock()`.

use std::time::{Duration, SystemTime};

use crate::{
    domain::clock::{self, MAX_AHEAD_MS},
    gateway::Gateway,
    settings::SettlePending,
};

/// The gateway's clock, and what it makes of pending payments.
#[derive(Clone, Copy)]
pub struct ClockControl<'a> {
    gateway: &'a Gateway,
}

/// Why the clock does not do as it is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// It would be too far ahead.
    #[error("the clock can be at most {} days ahead", MAX_AHEAD_MS / 86_400_000)]
    TooFar,
    /// A payment that nobody asked about would be final at once.
    #[error("settle_after_queries must be at least 1")]
    NoQueries,
    /// The database failed.
    #[error("the sandbox failed: {0}")]
    Failed(String),
}

impl<'a> ClockControl<'a> {
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        Self { gateway }
    }

    /// What time it is there.
    pub fn now(&self) -> SystemTime {
        clock::system_time(self.gateway.clock().now_ms())
    }

    /// How far it is ahead of the machine's.
    pub fn ahead(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.gateway.clock().ahead_ms()).unwrap_or_default())
    }

    /// Steps it forward. What is due by then happens at once: callbacks are sent again, pending payments become final.
    /// Only a reset steps it back.
    ///
    /// # Errors
    /// Where it would be more than a hundred years ahead.
    pub fn forward(&self, by: Duration) -> Result<(), ClockError> {
        match self.gateway.step_clock(by) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ClockError::TooFar),
            Err(error) => Err(ClockError::Failed(error.to_string())),
        }
    }

    /// When pending payments become final by themselves.
    pub fn settle_pending(&self) -> SettlePending {
        self.gateway.settle_pending()
    }

    /// Sets when pending payments become final by themselves; those that are pending already count, too.
    ///
    /// # Errors
    /// Where a number of queries is 0.
    pub fn set_settle_pending(&self, settle_pending: SettlePending) -> Result<(), ClockError> {
        if settle_pending.after_queries == Some(0) {
            return Err(ClockError::NoQueries);
        }
        self.gateway.change_settle_pending(|_| settle_pending);
        Ok(())
    }
}
