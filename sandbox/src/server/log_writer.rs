//! Background task of the request log: it writes what waits, a moment after the first of it came.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::state::{NOT_RECORDED, State};

/// How long requests wait to be written together. A sandbox that is killed has forgotten the requests of so long, but
/// none of what they did.
const PAUSE: Duration = Duration::from_millis(10);

/// How long to wait where the database failed.
const IDLE: Duration = Duration::from_secs(1);

/// Writes for as long as the sandbox runs.
pub(super) async fn run(state: Arc<State>) {
    loop {
        state.logged.notified().await;
        sleep(PAUSE).await;
        while state.on_blocking_thread(NOT_RECORDED, |state| state.store.flush()).await.is_none() {
            sleep(IDLE).await;
        }
    }
}
