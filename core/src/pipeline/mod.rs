//! Pipeline: one call from its request to its outcome. Attempts, retries with backoff, one deadline, the log, and what
//! the result means for the money.

pub(crate) mod attempts;
pub(crate) mod engine;
mod execute;
pub(crate) mod journaling;
pub(crate) mod log;
pub(crate) mod outcome;
pub(crate) mod spans;
pub(crate) mod telemetry;
pub(crate) mod timers;
