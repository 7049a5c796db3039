//! Metrics: what happened is counted where it happens.

use std::time::Duration;
/// The counters of a server.
#[derive(Debug, Default)]
pub struct Metrics {}
impl Metrics {
    /// A request was answered.
    pub fn http_answered(&self, _: &'static str, _: u16, _: Duration) {}
    /// So many callers wait for a change now (long poll).
    pub fn waiting(&self, _: usize) {}
}
