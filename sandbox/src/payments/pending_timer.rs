//! Background task of the asynchronous resolution: it finishes pending payments whose time has come.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::{payments::pending::finish_due, state::State};

/// How long to wait before looking again where nothing is due, or the database failed.
const IDLE: Duration = Duration::from_secs(60);

/// Resolves for as long as the sandbox runs.
pub(crate) async fn run(state: Arc<State>) {
    loop {
        let pause = look(&state).await;
        tokio::select! {
            () = state.pending.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Resolves what is due, and returns how long until something else is.
async fn look(state: &Arc<State>) -> Duration {
    let wait = state.on_blocking_thread("pending payments cannot be resolved", finish_due).await.flatten();
    wait.and_then(|ms| u64::try_from(ms).ok()).map_or(IDLE, Duration::from_millis).min(IDLE)
}
