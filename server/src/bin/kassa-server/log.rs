//! The program's log, to the standard error: lines for people, or JSON objects. It is the server's own alone: what libraries say
//! of what they carry would hold secrets, as PostgreSQL's does of each statement's values.

use std::{
    io::{self, IsTerminal},
    panic,
};

use kassa_server::settings::LogSettings;
use tracing::{Metadata, Subscriber, subscriber::set_global_default};
use tracing_subscriber::{EnvFilter, filter::filter_fn, layer::SubscriberExt};

/// Begins to write it.
pub(crate) fn start(settings: &LogSettings) {
    // The filter was tried when the settings were read.
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if settings.is_json {
        set(log.json().flatten_event(true).finish());
        panic::set_hook(Box::new(|panic| tracing::error!(target: "kassa_server", "{panic}")));
    } else {
        set(log.with_ansi(io::stderr().is_terminal()).finish());
    }
}

/// By itself, as `init` would also take what comes through the older interface `log`, where any crate of a build turns that on.
fn set(log: impl Subscriber + Send + Sync + for<'a> tracing_subscriber::registry::LookupSpan<'a>) {
    // Nobody set one before.
    let _ = set_global_default(log.with(filter_fn(is_own)));
}

fn is_own(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("kassa")
}
