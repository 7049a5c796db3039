//! The server's life: background tasks, connections, graceful shutdown.

use std::{sync::Arc, time::Duration};

use reqwest::Client;
use tokio::{sync::watch, time::timeout};

use crate::{
    callbacks::delivery,
    net::{HEAD_LIMIT, Lines, connections},
    payments::pending_timer,
    server::{log_writer, routes::routes, text_indexer},
    state::State,
};

/// How long requests under way may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until told to stop.
pub(crate) async fn run(state: Arc<State>, lines: Lines, client: Client, stop: watch::Receiver<bool>) {
    let deliveries = tokio::spawn(delivery::run(Arc::clone(&state), client));
    let resolving = tokio::spawn(pending_timer::run(Arc::clone(&state)));
    let log = tokio::spawn(log_writer::run(Arc::clone(&state)));
    let indexing = tokio::spawn(text_indexer::run(Arc::clone(&state)));
    let server = connections::serve(lines, routes(&state), HEAD_LIMIT, stopped(stop.clone()));
    let in_time = async {
        stopped(stop).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = in_time => tracing::warn!("requests under way were cut off"),
    }
    resolving.abort();
    log.abort();
    indexing.abort();
    deliveries.abort();
    let _aborted = timeout(GRACE, deliveries).await;
    state.flush_log();
}

/// Waits for the order to stop; a sandbox that was dropped gave it, too.
async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ordered = stop.wait_for(|stop| *stop).await;
}
