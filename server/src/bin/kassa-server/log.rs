//! The program's `tracing`: its log on standard error, as lines for people or JSON objects, and its spans, for a collector. Both
//! contain only the server's own events: those of libraries contain secrets, such as the values of each PostgreSQL statement.

use std::{
    io::{self, IsTerminal},
    panic,
};

use axum::Router;
use kassa_server::{CollectorSettings, settings::LogSettings};
use tokio::runtime::Handle;
use tracing::{Metadata, Subscriber, level_filters::LevelFilter, subscriber::set_global_default};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{FilterExt, filter_fn},
    fmt,
    layer::{Identity, SubscriberExt},
    registry,
    registry::LookupSpan,
};

use super::output::CommandResult;

/// Starts logging and tracing.
pub(crate) fn start(settings: &LogSettings, traces: &Traces) {
    // Not by `init`, which would also take records of the older crate `log`, if any crate of the build
    // enables that. None was set before.
    let _ = set_global_default(subscriber(settings, traces));
    if settings.is_json {
        panic::set_hook(Box::new(|panic| tracing::error!(target: "kassa_server", "{panic}")));
    }
}

fn subscriber(settings: &LogSettings, traces: &Traces) -> impl Subscriber + Send + Sync {
    // Without a collector, no spans are made.
    let level = if traces.are_collected() { LevelFilter::INFO } else { LevelFilter::OFF };
    let spans = traces.layer().with_filter(level.and(filter_fn(is_own_span)));
    registry().with(log(settings)).with(spans)
}

fn log(settings: &LogSettings) -> impl Layer<Registry> {
    // The filter was tried when the settings were read.
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    // A line that cannot be written is lost. To report that, `tracing-subscriber` would use `eprintln!`, which panics.
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

// Traces, if the program is built with them and has the URL of a collector.

/// The collector, if there is one.
#[derive(Default)]
pub(crate) struct Traces {
    #[cfg(feature = "opentelemetry")]
    collector: Option<kassa_server::Collector>,
}

#[cfg(feature = "opentelemetry")]
impl Traces {
    /// Sends spans to the configured collector, with tasks on this runtime.
    pub(crate) fn to(settings: Option<&CollectorSettings>, runtime: &Handle) -> CommandResult<Self> {
        let collector = settings.map(|settings| kassa_server::Collector::new(settings, runtime.clone()));
        Ok(Self { collector: collector.transpose().map_err(super::output::Failure::new)? })
    }

    pub(crate) fn are_collected(&self) -> bool {
        self.collector.is_some()
    }

    pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> Box<dyn Layer<S> + Send + Sync> {
        match &self.collector {
            Some(collector) => collector.layer().boxed(),
            None => Identity::new().boxed(),
        }
    }

    /// The routes, with a span for each request.
    pub(crate) fn over(&self, routes: Router) -> Router {
        match &self.collector {
            Some(collector) => collector.over(routes),
            None => routes,
        }
    }

    /// Sends the waiting spans. It blocks, for a moment at most.
    pub(crate) fn close(&self) {
        if let Some(collector) = &self.collector {
            collector.close();
        }
    }
}

/// Without a collector: a setting for one was refused.
#[cfg(not(feature = "opentelemetry"))]
impl Traces {
    pub(crate) fn to(_: Option<&CollectorSettings>, _: &Handle) -> CommandResult<Self> {
        Ok(Self::default())
    }

    pub(crate) fn are_collected(&self) -> bool {
        false
    }

    pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> Box<dyn Layer<S> + Send + Sync> {
        Identity::new().boxed()
    }

    pub(crate) fn over(&self, routes: Router) -> Router {
        routes
    }

    pub(crate) fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use tracing::{Level, event_enabled, span_enabled, subscriber::with_default};

    use super::*;

    #[test]
    fn log_without_trace_collector_records_no_spans() {
        let settings = LogSettings { filter: "info".to_owned(), is_json: false };
        with_default(subscriber(&settings, &Traces::default()), || {
            assert!(event_enabled!(target: "kassa_server", Level::INFO));
            assert!(!event_enabled!(target: "kassa_server", Level::DEBUG));
            assert!(!span_enabled!(target: "kassa_server", Level::INFO));
            assert!(!event_enabled!(target: "tokio_postgres", Level::ERROR), "it would say what statements carry");
        });
    }
}
