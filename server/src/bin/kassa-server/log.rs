//! The program's log, to the standard error: lines for people, or JSON objects.

use std::{
    io::{self, IsTerminal},
    panic,
};

use kassa_server::settings::LogSettings;
use tracing_subscriber::EnvFilter;

/// Begins to write it.
pub(crate) fn start(settings: &LogSettings) {
    // The filter was tried when the settings were read.
    let filter = EnvFilter::try_new(&settings.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if settings.is_json {
        log.json().flatten_event(true).init();
        panic::set_hook(Box::new(|panic| tracing::error!(target: "kassa_server", "{panic}")));
    } else {
        log.with_ansi(io::stderr().is_terminal()).init();
    }
}
