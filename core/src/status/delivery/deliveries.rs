//! The steps that both kinds of delivery share for one result: whether it is still current, the handler's input, and finishing.

use std::{sync::Arc, time::Duration};

use tracing::Level;

use super::DeliverySummary;
use crate::{
    error::PaymentError,
    journal::{
        Journal,
        entry::{JournalEntry, JournalState},
    },
    pipeline::{
        engine::Engine,
        journaling::run_blocking,
        log::{Event, EventDetails, running_call},
    },
    status::recovery::{Recovered, Recovery},
};

pub(super) const NOT_DELIVERED: &str = "a payment was not delivered";
pub(super) const NOT_FINISHED: &str = "a delivered payment could not be finished";
pub(super) const NOT_HANDLED: &str = "a result of the recovery could not be handled";

/// The journal of a delivery, and how much was delivered.
pub(super) struct Deliveries {
    engine: Arc<Engine>,
    journal: Journal,
    delivered: u64,
}

impl Deliveries {
    pub(super) fn new(engine: &Arc<Engine>) -> Result<Self, PaymentError> {
        Ok(Self { journal: engine.required_journal()?.clone(), engine: engine.clone(), delivered: 0 })
    }

    /// False if a person or another program has finished the payment, or it was charged after all.
    pub(super) async fn is_still_true(&self, result: &Recovered) -> Result<bool, PaymentError> {
        let Recovered::Payment { entry } = result else { return Ok(true) };
        let (journal, payment) = (self.journal.clone(), entry.payment.clone());
        let now = on_disk(&self.engine, move || journal.entry(&payment)).await?;
        let is_true = now.is_some_and(|entry| !entry.is_finished && is_as_final(result, &entry));
        if !is_true {
            record(Level::INFO, "a payment was finished elsewhere", Some(what(result)), None, None);
        }
        Ok(is_true)
    }

    /// Finishes a delivered payment. It uses the journal itself, because a closed gateway finishes nothing. The recovery holds the
    /// journal's lock until the entry is written, also if the caller is dropped.
    pub(super) async fn finish(&mut self, result: &Recovered, recovery: Option<Recovery>) -> Result<(), PaymentError> {
        if let Recovered::Payment { entry } = result
            && is_charged(result)
        {
            let (journal, id) = (self.journal.clone(), entry.id.clone());
            on_disk(&self.engine, move || {
                let finished = journal.finish(&id);
                drop(recovery);
                finished
            })
            .await?;
            self.delivered += 1;
        }
        Ok(())
    }

    pub(super) async fn summary(&self) -> DeliverySummary {
        let journal = self.journal.clone();
        let left_open = match on_disk(&self.engine, move || journal.unfinished().collect()).await {
            Ok(left_open) => Some(left_open),
            Err(error) => {
                record(Level::WARN, "the journal could not be read", None, None, Some(error.to_string()));
                None
            }
        };
        let summary = DeliverySummary { delivered: self.delivered, left_open };
        record(Level::INFO, "the delivery of payments ended", None, None, Some(summary.to_string()));
        summary
    }
}

/// Not a method, so that a worker can be spawned although its stop cannot be shared between threads.
async fn on_disk<T: Send + 'static>(
    engine: &Engine,
    work: impl FnOnce() -> Result<T, PaymentError> + Send + 'static,
) -> Result<T, PaymentError> {
    let interrupted = || Err(PaymentError::unavailable("the journal was interrupted inside the SDK"));
    run_blocking(engine.transport(), work).await.unwrap_or_else(interrupted)
}

pub(super) fn is_charged(result: &Recovered) -> bool {
    matches!(result, Recovered::Payment { entry } if entry.state == JournalState::Charged)
}

pub(super) fn is_rejected(result: &Recovered) -> bool {
    matches!(result, Recovered::Payment { entry } if entry.state == JournalState::Rejected)
}

/// Whether a result is still as final as its entry: a rejected payment may be charged by now.
fn is_as_final(result: &Recovered, entry: &JournalEntry) -> bool {
    is_charged(result) || entry.state != JournalState::Charged
}

pub(super) fn id_of(result: &Recovered) -> &str {
    match result {
        Recovered::Payment { entry } => &entry.id,
        Recovered::Unreadable { id, .. } => id,
    }
}

/// A result in a log line.
pub(super) fn what(result: &Recovered) -> String {
    match result {
        Recovered::Payment { entry } => {
            let order = entry.payment.order_number.as_deref().unwrap_or(&entry.id);
            let note = entry.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("payment {order}{note}, {:?}", entry.state)
        }
        Recovered::Unreadable { id, why } => format!("the journal's file {id} {why}"),
    }
}

/// Logs a result without a handler.
pub(super) fn record_unhandled(result: &Recovered) {
    let (level, reason) = match result {
        Recovered::Payment { entry } if is_rejected(result) => (Level::INFO, entry.reason.clone()),
        Recovered::Payment { entry } => (Level::WARN, entry.reason.clone()),
        Recovered::Unreadable { .. } => (Level::WARN, None),
    };
    record(level, "a payment is not to be delivered", Some(what(result)), None, reason);
}

pub(super) fn record(
    level: Level,
    message: &'static str,
    result: Option<String>,
    pause: Option<Duration>,
    detail: Option<String>,
) {
    let pause_ms = pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    let details = EventDetails::Delivery { level, message, result, pause_ms, detail };
    Event { call: running_call(), endpoint: "deliver", order: None, details }.record();
}
