//! What the collector of traces is, and how much it gets.

use crate::values::hidden::Hidden;

/// Where traces go.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CollectorSettings {
    /// Where a collector takes traces by OTLP over HTTP, with its whole path: `http://127.0.0.1:4318/v1/traces`. It may hold a
    /// key.
    pub url: Hidden,
    /// Headers that it asks for, with a key as a rule.
    pub headers: Vec<(String, Hidden)>,
    /// The share of the traces that begin here which it gets, from 0 to 1. A shop that calls within a trace of its own decides itself.
    pub sample_ratio: f64,
}

impl CollectorSettings {
    /// All traces, to this address.
    pub fn to(url: impl Into<String>) -> Self {
        Self { url: Hidden::new(url), headers: Vec::new(), sample_ratio: 1.0 }
    }
}
