//! Pending payments become final after a number of status queries or after a time. A background task finishes those that are due.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::{
    domain::{Event, PaymentStatus},
    payments::transition,
    state::State,
    store::{
        StoreError, WriteTransaction,
        payments::{self, Record},
    },
};

/// Counts a status query. Its response has the status before the resolution.
pub(crate) fn count_query(state: &State, record: &Record) -> Result<(), StoreError> {
    let Some(limit) = state.resolve_pending().after_queries else {
        return Ok(());
    };
    if record.payment.status != PaymentStatus::Pending {
        return Ok(());
    }
    state.write(|transaction| {
        if payments::count_pending_query(transaction, record.id)? >= limit {
            finish(state, transaction, record.id)?;
        }
        Ok(())
    })
}

/// Resolves payments that have been pending long enough; returns the milliseconds until the next one is due.
fn finish_due(state: &State) -> Result<Option<i64>, StoreError> {
    let Some(after) = state.resolve_pending().after else {
        return Ok(None);
    };
    let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
    let _generation = state.generation();
    let now = state.clock().now_ms();
    let due = state.read(|connection| payments::pending_since(connection, now.saturating_sub(after)))?;
    for id in due {
        state.write(|transaction| finish(state, transaction, id))?;
    }
    let longest = state.read(payments::longest_pending)?;
    Ok(longest.map(|since| since.saturating_add(after).saturating_sub(state.clock().now_ms()).max(0)))
}

fn finish(state: &State, transaction: &WriteTransaction<'_>, id: i64) -> Result<(), StoreError> {
    let record = payments::by_id(transaction, id)?;
    if record.payment.status != PaymentStatus::Pending {
        return Ok(());
    }
    let event = payments::pending_reason(transaction, id)?.map_or(Event::Charge, Event::Reject);
    transition::apply(transaction, &state.faults, record, event).map(drop)
}

/// How long to wait if nothing is due, or the database failed.
const IDLE: Duration = Duration::from_secs(60);

/// Resolves payments as long as the sandbox runs.
pub(crate) async fn run(state: Arc<State>) {
    loop {
        let pause = next_due(&state).await;
        tokio::select! {
            () = state.pending.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Resolves due payments, and returns the time until the next one is due.
async fn next_due(state: &Arc<State>) -> Duration {
    let wait = state.on_blocking_thread("pending payments cannot be resolved", finish_due).await.flatten();
    wait.and_then(|ms| u64::try_from(ms).ok()).map_or(IDLE, Duration::from_millis).min(IDLE)
}
