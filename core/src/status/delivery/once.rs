//! One recovery, of which each charged payment is delivered once.

use std::sync::Arc;

use tracing::Level;

use super::{
    DeliverySummary,
    deliveries::{Deliveries, NOT_DELIVERED, NOT_FINISHED, NOT_HANDLED, is_charged, record, what},
};
use crate::{
    error::PaymentError,
    pipeline::engine::Engine,
    status::recovery::{Recovered, Recovery, RecoveryPolicy},
};

pub(super) struct Once {
    deliveries: Deliveries,
    recovery: Recovery,
    /// What was delivered, and could not be finished.
    delivered: Vec<Recovered>,
}

impl Once {
    pub(super) fn new(engine: &Arc<Engine>, policy: RecoveryPolicy) -> Result<Self, PaymentError> {
        let recovery = Recovery::new(engine.clone(), policy)?;
        // What was delivered and could not be finished is finished before other processes may deliver.
        recovery.hold_lock();
        Ok(Self { deliveries: Deliveries::new(engine)?, recovery, delivered: Vec::new() })
    }

    /// The next result that the handler is called with; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Recovered>, PaymentError> {
        loop {
            match self.recovery.next().await {
                Ok(Some(result)) => match self.deliveries.is_still_true(&result).await {
                    Ok(true) => return Ok(Some(result)),
                    Ok(false) => {}
                    Err(error) => failed(&result, NOT_DELIVERED, error.to_string()),
                },
                ended => {
                    for result in std::mem::take(&mut self.delivered) {
                        self.finish(result, |_, _| {}).await;
                    }
                    self.recovery.cancel();
                    return ended;
                }
            }
        }
    }

    /// What the handler did.
    pub(super) async fn handled(&mut self, result: Recovered, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.finish(result, |once, result| once.delivered.push(result)).await,
            Err(problem) if is_charged(&result) => failed(&result, NOT_DELIVERED, problem),
            Err(problem) => failed(&result, NOT_HANDLED, problem),
        }
    }

    async fn finish(&mut self, result: Recovered, otherwise: impl FnOnce(&mut Self, Recovered)) {
        if let Err(error) = self.deliveries.finish(&result).await {
            failed(&result, NOT_FINISHED, error.to_string());
            otherwise(self, result);
        }
    }

    pub(super) async fn summary(&self) -> DeliverySummary {
        self.deliveries.summary().await
    }
}

/// The payment stays unfinished, and the next delivery brings it again.
fn failed(result: &Recovered, message: &'static str, problem: String) {
    record(Level::WARN, message, Some(what(result)), None, Some(problem));
}
