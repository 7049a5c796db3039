//! What the program tells by `tracing`: its log, to the standard error as lines for people or JSON objects, and its spans to
//! whoever collects them. Both are the server's own alone: what libraries say of what they carry would hold secrets, as
//! PostgreSQL's does of each statement's values.

use std::{
    io::{self, IsTerminal},
    panic,
};

use kassa_server::settings::LogSettings;
use tracing::{Metadata, Subscriber, level_filters::LevelFilter, subscriber::set_global_default};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{FilterExt, filter_fn},
    fmt,
    layer::SubscriberExt,
    registry,
};

use super::traces::Traces;

/// Begins to tell.
pub(crate) fn start(settings: &LogSettings, traces: &Traces) {
    // By itself, as `init` would also take what comes through the older interface `log`, where any crate of a build turns
    // that on. Nobody set one before.
    let _ = set_global_default(subscriber(settings, traces));
    if settings.is_json {
        panic::set_hook(Box::new(|panic| tracing::error!(target: "kassa_server", "{panic}")));
    }
}

fn subscriber(settings: &LogSettings, traces: &Traces) -> impl Subscriber + Send + Sync {
    // Where nobody collects spans, none is made.
    let level = if traces.are_collected() { LevelFilter::INFO } else { LevelFilter::OFF };
    let spans = traces.layer().with_filter(level.and(filter_fn(is_own_span)));
    registry().with(log(settings)).with(spans)
}

fn log(settings: &LogSettings) -> impl Layer<Registry> {
    // The filter was tried when the settings were read.
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    // A line that cannot be written is lost. To tell of that, `tracing-subscriber` would use `eprintln!`, which panics.
    let lines = fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    let lines = match settings.is_json {
        true => lines.json().flatten_event(true).boxed(),
        false => lines.with_ansi(io::stderr().is_terminal()).boxed(),
    };
    lines.with_filter(filter.and(filter_fn(is_own_event)))
}

fn is_own_event(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && is_own(metadata)
}

fn is_own_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && is_own(metadata)
}

fn is_own(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("kassa")
}

#[cfg(test)]
mod tests {
    use tracing::{Level, event_enabled, span_enabled, subscriber::with_default};

    use super::*;

    #[test]
    fn without_a_collector_there_are_lines_and_no_spans() {
        let settings = LogSettings { filter: "info".to_owned(), is_json: false };
        with_default(subscriber(&settings, &Traces::default()), || {
            assert!(event_enabled!(target: "kassa_server", Level::INFO));
            assert!(!event_enabled!(target: "kassa_server", Level::DEBUG));
            assert!(!span_enabled!(target: "kassa_server", Level::INFO));
            assert!(!event_enabled!(target: "tokio_postgres", Level::ERROR), "it would say what statements carry");
        });
    }
}
