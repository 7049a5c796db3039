//! Prometheus' text format, version 0.0.4.

use std::{
    fmt::{Display, Write},
    time::Duration,
};

use crate::storage::outputs::Statistics;

/// The content type of the metrics.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics text under construction. Each family is begun once, and its samples follow it.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family: its name, its type, and its description.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// A sample of the family that was begun. Labels and their values are constants of this program, so nothing needs escaping.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let mut shown = String::new();
        for (at, (label, word)) in labels.iter().enumerate() {
            let opening = if at == 0 { "{" } else { "," };
            let _ = write!(shown, "{opening}{label}=\"{word}\"");
        }
        let closing = if labels.is_empty() { "" } else { "}" };
        self.line(format_args!("{name}{shown}{closing} {value}"));
    }

    /// A family of one sample.
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }

    pub(super) fn end(self) -> String {
        self.0
    }

    /// Writing to a string does not fail.
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }
}

// The state of the storage, read for each request of the metrics.

/// Without statistics if the storage cannot be read, so that old figures never look current.
pub(super) fn write(is_writable: bool, storage: Option<&Statistics>, text: &mut Text) {
    let help = "1 if the database answers and accepts writes, 0 if it does not.";
    text.gauge("kassa_database_up", help, u8::from(is_writable && storage.is_some()));
    if let Some(storage) = storage {
        write_storage(storage, text);
    }
}

fn write_storage(of: &Statistics, text: &mut Text) {
    let name = "kassa_open_payments";
    text.family(name, "gauge", "Payments that may still take money, by state, counted up to a million each.");
    for (state, count) in &of.open_payments {
        text.sample(name, &[("state", state)], count);
    }
    let help = "Payments that have been open for three days, or whose QR code cannot be polled and may have been paid, \
                counted up to 10,000. A person decides.";
    text.gauge("kassa_stuck_payments", help, of.stuck_payments);
    let help = "Age of the oldest payment with an unknown outcome.";
    text.gauge("kassa_oldest_unknown_seconds", help, seconds(of.oldest_unknown_ms));
    let help = "Remaining time of the gateway's Retry-After.";
    text.gauge("kassa_gateway_wait_seconds", help, seconds(of.gateway_wait_ms));
    let help = "Payments whose poll is overdue, counted up to 10,000.";
    text.gauge("kassa_due_payments", help, of.due_payments);
    let help = "How long the most overdue poll has been waiting.";
    text.gauge("kassa_oldest_due_seconds", help, seconds(of.oldest_due_ms));
    let help = "Checkouts whose events are no longer delivered to the shop, counted up to 10,000.";
    text.gauge("kassa_event_streams_given_up", help, of.streams_given_up);
    let help = "Events that the shop refused and that were skipped, counted up to 10,000.";
    text.gauge("kassa_refused_events", help, of.refused_events);
    let help = "Age of the oldest undelivered event; without those given up.";
    text.gauge("kassa_oldest_undelivered_event_seconds", help, seconds(of.oldest_undelivered_ms));
    text.gauge("kassa_database_size_bytes", "The size of the database.", of.database_bytes);
    if !of.dead_rows.is_empty() {
        let name = "kassa_database_dead_rows";
        text.family(name, "gauge", "Dead rows that were not removed yet, as PostgreSQL estimates them.");
        of.dead_rows.iter().for_each(|(table, count)| text.sample(name, &[("table", table)], count));
    }
}

fn seconds(ms: i64) -> f64 {
    ms.max(0) as f64 / 1000.0
}

// Histograms of durations.

/// Upper bounds in seconds. Those above 10 are for callers that wait for a change (long poll).
pub(super) const BOUNDS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The count of each bucket, not cumulative; the last one has no bound.
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

    /// The counts by upper bound; the last one counts all.
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
