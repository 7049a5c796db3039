//! Background task of the full-text index: it is filled once somebody has searched.

use std::sync::Arc;

use tokio::task::{spawn_blocking, yield_now};

use crate::{state::State, store::text_search};

/// Fills the index after each search, for as long as the sandbox runs.
pub(super) async fn run(state: Arc<State>) {
    loop {
        state.searched.notified().await;
        while has_more(&state).await {
            yield_now().await;
        }
    }
}

/// Takes some payments into the index; false where none are left, or the database failed.
async fn has_more(state: &Arc<State>) -> bool {
    let state = Arc::clone(state);
    let indexed = spawn_blocking(move || {
        let _age = state.age();
        state.store.write(text_search::index_batch)
    });
    match indexed.await {
        Ok(Ok(has_more)) => has_more,
        Ok(Err(error)) => {
            tracing::error!(%error, "payments cannot be taken into the index of texts");
            false
        }
        Err(_) => false,
    }
}
