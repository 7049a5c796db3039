//! Background task of the request log: it writes what waits, a moment after the first of it came.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use crate::state::State;

/// How long requests wait to be written together. A sandbox that is killed has forgotten the requests of so long, but
/// none of what they did.
const PAUSE: Duration = Duration::from_millis(10);

/// Writes for as long as the sandbox runs.
pub(super) async fn run(state: Arc<State>) {
    loop {
        state.logged.notified().await;
        sleep(PAUSE).await;
        let state = Arc::clone(&state);
        // A panic in it was told of, and the next round is another one.
        let _written = spawn_blocking(move || state.flush_log()).await;
    }
}
