//! What the collector of traces is, and how much it gets.

use crate::values::hidden::Hidden;

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectorSettings {
    /// Where a collector takes traces by OTLP over HTTP, with its whole path: `http://127.0.0.1:4318/v1/traces`. It may hold a
    /// key.
    pub url: Hidden,
    /// Headers that it asks for, with a key as a rule.
    pub headers: Vec<(String, Hidden)>,
    /// Of so many traces that begin here it gets one. A shop that calls within a trace of its own decides itself.
    pub one_in: u32,
}

impl CollectorSettings {
    /// All traces, to this address.
    pub fn to(url: impl Into<String>) -> Self {
        Self { url: Hidden::new(url), headers: Vec::new(), one_in: 1 }
    }
}
