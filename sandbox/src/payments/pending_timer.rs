//! Background task of the asynchronous settlement: it finishes pending payments whose time has come.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use crate::{payments::pending::finish_due, state::State};

/// How long to wait before looking again where nothing is due, or the database failed.
const IDLE: Duration = Duration::from_secs(60);

/// Settles for as long as the sandbox runs.
pub(crate) async fn run(state: Arc<State>) {
    loop {
        let pause = look(&state).await;
        tokio::select! {
            () = state.pending.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Settles what is due, and returns how long until something else is.
async fn look(state: &Arc<State>) -> Duration {
    let state = Arc::clone(state);
    let wait = match spawn_blocking(move || finish_due(&state)).await {
        Ok(Ok(wait)) => wait,
        Ok(Err(error)) => {
            tracing::error!(%error, "pending payments cannot be settled");
            None
        }
        Err(_) => None,
    };
    wait.and_then(|ms| u64::try_from(ms).ok()).map_or(IDLE, Duration::from_millis).min(IDLE)
}
