//! Metrics in Prometheus' text format. Events are counted where they happen; the state of the storage is read for each request.
//!
//! Written here: all labels are constants of this program, so that a map behind a lock is enough. The crate prometheus-client
//! writes OpenMetrics, and adds macros and three crates that nothing else needs.

mod text;

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use text::{CONTENT_TYPE, Histogram, Text};

use crate::{storage::outputs::Statistics, values::Method};

// The counters since the program started.

/// The readability of callbacks; `unknown_address` is one to an address that no payment has.
const READINGS: [&str; 4] = ["whole", "incomplete", "unreadable", "unknown_address"];
/// The limits that are counted.
const LIMITS: [&str; 8] = [
    "connections",
    "connections_of_address",
    "requests_of_address",
    "requests_of_token",
    "requests_of_key",
    "guesses",
    "callbacks_of_address",
    "sending_places",
];

/// The counters of a server. They count only this process, since it started.
///
/// ```
/// # use std::time::Duration;
/// use kassa_server::Metrics;
///
/// let metrics = Metrics::default();
/// metrics.http_answered("/v1/checkouts", 201, Duration::from_millis(3));
/// let text = metrics.text(true, None);
/// assert!(text.contains("kassa_http_requests_total{route=\"/v1/checkouts\",status=\"201\"} 1\n"));
/// ```
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    requests: BTreeMap<(&'static str, u16), u64>,
    durations: BTreeMap<&'static str, Histogram>,
    status_queries: BTreeMap<&'static str, u64>,
    called_back: BTreeMap<&'static str, u64>,
    limits: BTreeMap<&'static str, u64>,
    sent: BTreeMap<(&'static str, &'static str), u64>,
    delivered: u64,
    not_delivered: u64,
    waiting: usize,
}

impl Metrics {
    /// The media type of [`text`](Self::text).
    pub const CONTENT_TYPE: &'static str = CONTENT_TYPE;

    /// A request was answered. The route is the table's, never the requested path.
    pub fn http_answered(&self, route: &'static str, status: u16, took: Duration) {
        let mut counters = self.locked();
        *counters.requests.entry((route, status)).or_default() += 1;
        counters.durations.entry(route).or_default().note(took);
    }

    /// A status query was answered.
    pub fn queried(&self, result: &'static str) {
        *self.locked().status_queries.entry(result).or_default() += 1;
    }

    /// The gateway sent a callback, of which this much was readable.
    pub fn called_back(&self, reading: &'static str) {
        *self.locked().called_back.entry(reading).or_default() += 1;
    }

    /// A limit was reached.
    pub fn limit_reached(&self, limit: &'static str) {
        *self.locked().limits.entry(limit).or_default() += 1;
    }

    /// A payment was sent to the gateway.
    pub fn sent(&self, method: Method, result: &'static str) {
        *self.locked().sent.entry((method.into(), result)).or_default() += 1;
    }

    /// A one-time password was sent to the gateway.
    pub fn confirmed(&self, result: &'static str) {
        *self.locked().sent.entry(("confirmation", result)).or_default() += 1;
    }

    /// A delivery of an event was attempted.
    pub fn delivered(&self, is_taken: bool) {
        let mut counters = self.locked();
        let count = if is_taken { &mut counters.delivered } else { &mut counters.not_delivered };
        *count += 1;
    }

    /// Counts a caller that waits for a change (long poll), until the returned guard is dropped.
    pub fn waiting(&self) -> WaitingGuard<'_> {
        self.locked().waiting += 1;
        WaitingGuard(self)
    }

    /// All metrics in Prometheus' text format, with whether the storage accepts writes, and with its state if it can be read.
    pub fn text(&self, is_writable: bool, storage: Option<&Statistics>) -> String {
        let mut text = Text::default();
        text.family("kassa_build_info", "gauge", "The version of the program.");
        text.sample("kassa_build_info", &[("version", &env!("CARGO_PKG_VERSION"))], 1);
        self.locked().write(&mut text);
        text::write(is_writable, storage, &mut text);
        text.end()
    }

    /// A panic cannot leave the locked value half-written: every step leaves it whole.
    fn locked(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiting caller.
#[derive(Debug)]
#[must_use]
pub struct WaitingGuard<'a>(&'a Metrics);

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        let mut counters = self.0.locked();
        counters.waiting = counters.waiting.saturating_sub(1);
    }
}

impl Counters {
    fn write(&self, text: &mut Text) {
        let requests = self
            .requests
            .iter()
            .map(|((route, status), count)| ([("route", route as Shown<'_>), ("status", status)], *count));
        counter(text, "kassa_http_requests_total", "Answered requests.", requests);
        self.write_durations(text);
        let status_queries =
            self.status_queries.iter().map(|(result, count)| ([("result", result as Shown<'_>)], *count));
        counter(
            text,
            "kassa_gateway_status_queries_total",
            "Status queries to the gateway, by its answer.",
            status_queries,
        );
        let called_back = from_zero(&READINGS, &self.called_back);
        let called_back = called_back.iter().map(|(reading, count)| ([("reading", reading as Shown<'_>)], *count));
        let about =
            "Callbacks, by how much of them was read; callbacks to an address of no payment are counted separately.";
        counter(text, "kassa_gateway_callbacks_total", about, called_back);
        let sent = self
            .sent
            .iter()
            .map(|((method, result), count)| ([("method", method as Shown<'_>), ("result", result)], *count));
        counter(text, "kassa_gateway_sent_total", "Payments and confirmations sent to the gateway.", sent);
        let delivered = [("taken", self.delivered), ("failed", self.not_delivered)];
        let delivered = delivered.iter().map(|(result, count)| ([("result", result as Shown<'_>)], *count));
        counter(text, "kassa_event_deliveries_total", "Attempts to deliver an event to the shop.", delivered);
        let limits = from_zero(&LIMITS, &self.limits);
        let limits = limits.iter().map(|(limit, count)| ([("limit", limit as Shown<'_>)], *count));
        counter(text, "kassa_limit_reached_total", "How often a limit was reached.", limits);
        text.gauge("kassa_waiting_apps", "Callers that wait for a checkout to change.", self.waiting);
    }

    fn write_durations(&self, text: &mut Text) {
        let name = "kassa_http_request_duration_seconds";
        text.family(name, "histogram", "How long requests took, including the wait for a change.");
        for (route, histogram) in &self.durations {
            for (bound, count) in histogram.cumulative() {
                text.sample(&format!("{name}_bucket"), &[("route", route), ("le", &bound)], count);
            }
            text.sample(&format!("{name}_sum"), &[("route", route)], histogram.seconds());
            text.sample(&format!("{name}_count"), &[("route", route)], histogram.count());
        }
    }
}

/// The counters, including those at zero: an alarm on growth misses the first sample of a new series.
fn from_zero(known: &[&'static str], counters: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    let mut all: BTreeMap<&'static str, u64> = known.iter().map(|word| (*word, 0)).collect();
    all.extend(counters);
    all
}

type Shown<'a> = &'a dyn Display;

fn counter<'a, const N: usize>(
    text: &mut Text,
    name: &str,
    help: &str,
    samples: impl Iterator<Item = ([(&'a str, Shown<'a>); N], u64)>,
) {
    text.family(name, "counter", help);
    for (labels, count) in samples {
        text.sample(name, &labels, count);
    }
}

#[cfg(test)]
mod counters_tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::values::PaymentState;

    fn filled() -> String {
        let metrics = Metrics::default();
        metrics.http_answered("/v1/checkouts/{id}", 200, Duration::from_millis(3));
        metrics.http_answered("/v1/checkouts/{id}", 200, Duration::from_millis(300));
        metrics.http_answered("/v1/checkouts/{id}", 404, Duration::from_secs(100));
        metrics.http_answered("/v1/checkout", 200, Duration::from_secs(25));
        metrics.queried("charged");
        metrics.queried("pending");
        metrics.sent(Method::Qr, "accepted");
        metrics.confirmed("unknown");
        metrics.called_back("unknown_address");
        metrics.limit_reached("guesses");
        metrics.limit_reached("guesses");
        metrics.delivered(true);
        let storage = Statistics {
            open_payments: PaymentState::MAY_TAKE_MONEY.map(|state| (state, 7)).to_vec(),
            oldest_due_ms: 1500,
            oldest_unknown_ms: 60_000,
            dead_rows: vec![("due".to_owned(), 17)],
            ..Statistics::default()
        };
        let (_one, _other) = (metrics.waiting(), metrics.waiting());
        drop(metrics.waiting());
        metrics.text(true, Some(&storage))
    }

    #[test]
    fn what_happened_is_counted() {
        let text = filled();
        for line in [
            "kassa_http_requests_total{route=\"/v1/checkouts/{id}\",status=\"200\"} 2",
            "kassa_http_request_duration_seconds_bucket{route=\"/v1/checkouts/{id}\",le=\"0.005\"} 1",
            "kassa_http_request_duration_seconds_bucket{route=\"/v1/checkouts/{id}\",le=\"0.5\"} 2",
            "kassa_http_request_duration_seconds_bucket{route=\"/v1/checkouts/{id}\",le=\"+Inf\"} 3",
            "kassa_http_request_duration_seconds_count{route=\"/v1/checkouts/{id}\"} 3",
            "kassa_http_request_duration_seconds_sum{route=\"/v1/checkout\"} 25",
            "kassa_gateway_status_queries_total{result=\"charged\"} 1",
            "kassa_gateway_callbacks_total{reading=\"unknown_address\"} 1",
            "kassa_gateway_callbacks_total{reading=\"unreadable\"} 0",
            "kassa_limit_reached_total{limit=\"guesses\"} 2",
            "kassa_limit_reached_total{limit=\"connections\"} 0",
            "kassa_gateway_sent_total{method=\"qr\",result=\"accepted\"} 1",
            "kassa_gateway_sent_total{method=\"confirmation\",result=\"unknown\"} 1",
            "kassa_event_deliveries_total{result=\"taken\"} 1",
            "kassa_event_deliveries_total{result=\"failed\"} 0",
            "kassa_open_payments{state=\"awaiting\"} 7",
            "kassa_oldest_due_seconds 1.5",
            "kassa_oldest_unknown_seconds 60",
            "kassa_database_dead_rows{table=\"due\"} 17",
            "kassa_waiting_apps 2",
            "kassa_database_up 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn metrics_without_database_omit_payment_gauges() {
        let text = Metrics::default().text(true, None);
        assert!(text.contains("\nkassa_database_up 0\n"));
        assert!(!text.contains("kassa_open_payments"), "{text}");
    }

    /// Prometheus refuses a whole answer for one line that is wrong.
    #[test]
    fn metrics_text_is_valid_prometheus_format() {
        for text in [filled(), Metrics::default().text(true, None)] {
            check(&text);
        }
    }

    #[test]
    fn every_metric_is_documented() {
        let page = include_str!("../../../docs/server-design.md");
        for name in filled().lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    /// The names of metrics in a text.
    fn names(text: &str) -> BTreeSet<&str> {
        let words = text.split(|sign: char| !sign.is_ascii_lowercase() && sign != '_');
        words.filter(|word| word.starts_with("kassa_")).map(|word| word.trim_end_matches("_bucket")).collect()
    }

    #[test]
    fn dashboard_and_alerts_use_existing_metrics() {
        let text = filled();
        let there: BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()).collect();
        let dashboard = include_str!("../../packaging/grafana-dashboard.json");
        let alarms = include_str!("../../packaging/prometheus-alerts.yml");
        assert_eq!(names(dashboard), there, "all of them are shown, and no others");
        assert!(names(alarms).is_subset(&there), "{:?}", names(alarms));
        let page = include_str!("../../../docs/server.md");
        let documented = page.split("## Alarms").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table");
        let lacking: Vec<_> = names(documented).difference(&names(alarms)).copied().collect();
        assert!(lacking.is_empty(), "told as an alarm, and no rule: {lacking:?}");
        serde_json::from_str::<serde_json::Value>(dashboard).expect("JSON");
    }

    fn check(text: &str) {
        assert!(text.ends_with('\n'));
        let mut families = BTreeMap::new();
        let mut family = ("", "");
        let mut samples = BTreeSet::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a help");
                assert!(!help.is_empty() && !help.contains('\\'), "{line}");
                let kind =
                    lines.next().and_then(|line| line.strip_prefix(&format!("# TYPE {name} "))).expect("its type");
                assert!(families.insert(name, kind).is_none(), "{name} twice");
                check_name(name, kind);
                family = (name, kind);
                continue;
            }
            let (sample, value) = line.rsplit_once(' ').expect("a value");
            assert!(samples.insert(sample), "{sample} twice");
            assert!(value.parse::<f64>().is_ok_and(|value| value >= 0.0), "{line}");
            check_sample(sample, family);
        }
    }

    fn check_name(name: &str, kind: &str) {
        assert!(
            name.starts_with("kassa_") && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        assert!(["counter", "gauge", "histogram"].contains(&kind), "{name} is a {kind}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
        assert!(!["_ms", "_milliseconds", "_kb"].iter().any(|unit| name.ends_with(unit)), "{name}: base units");
    }

    /// A sample follows its own family, and its labels are `name="value"` with commas between them.
    fn check_sample(sample: &str, (family, kind): (&str, &str)) {
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let ending = name.strip_prefix(family).expect("the family's own");
        let endings: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(endings.contains(&ending), "{sample}");
        let has_bound = labels.starts_with("le=\"") || labels.contains(",le=\"");
        assert_eq!(ending == "_bucket", has_bound, "{sample}");
        let Some(mut rest) = labels.strip_suffix('}') else { return assert!(labels.is_empty(), "{sample}") };
        loop {
            let (label, after) = rest.split_once("=\"").expect("a label");
            assert!(
                !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{sample}"
            );
            let (value, after) = after.split_once('"').expect("its end");
            assert!(!value.contains(['\\', '\n']), "{sample}");
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => return assert!(after.is_empty(), "{sample}"),
            }
        }
    }
}
