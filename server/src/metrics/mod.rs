//! Metrics in Prometheus' text form: what happened is counted where it happens, and what there is now is told by who is asked.
//!
//! Written here: all labels are words of this program's, so that a map behind a lock is enough. The crate for it
//! (prometheus-client) writes OpenMetrics, and brings macros and three crates that nothing else needs.

mod counted;
mod gauges;
mod histogram;
mod text;

pub use counted::{Metrics, Waiting};
