//! Background task of the full-text index: it is filled once somebody has searched.

use std::sync::Arc;

use tokio::task::yield_now;

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
    let index = |state: &State| {
        let _age = state.age();
        state.store.write(text_search::index_batch)
    };
    state.on_blocking_thread("payments cannot be taken into the index of texts", index).await.unwrap_or(false)
}
