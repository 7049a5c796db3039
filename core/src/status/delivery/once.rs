//! One recovery, of which each charged payment is delivered once.

use std::{collections::HashSet, sync::Arc};

use tracing::Level;

use super::{
    DeliverySummary,
    deliveries::{Deliveries, NOT_FINISHED, NOT_HANDLED, id_of, is_charged, record, what},
};
use crate::{
    error::PaymentError,
    pipeline::engine::Engine,
    status::recovery::{Recovered, Recovery, RecoveryPolicy},
};

const LEFT_TO_THE_NEXT: &str =
    "a payment was not delivered: it stays unfinished, and the next delivery brings it again";

pub(super) struct Once {
    deliveries: Deliveries,
    recovery: Recovery,
    /// What the handler was called with, by the entry's id: the recovery may report an entry again whose file was away for a while.
    charged: HashSet<String>,
    /// What was delivered, and could not be finished.
    delivered: Vec<Recovered>,
}

impl Once {
    pub(super) fn new(engine: &Arc<Engine>, policy: RecoveryPolicy) -> Result<Self, PaymentError> {
        let recovery = Recovery::new(engine.clone(), policy)?;
        // What was delivered and could not be finished is finished before other processes may deliver.
        recovery.hold_lock();
        Ok(Self { deliveries: Deliveries::new(engine)?, recovery, charged: HashSet::new(), delivered: Vec::new() })
    }

    /// The next result that the handler is called with; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Recovered>, PaymentError> {
        loop {
            match self.recovery.next().await {
                Ok(Some(result)) if is_charged(&result) && self.charged.contains(id_of(&result)) => {}
                Ok(Some(result)) => match self.deliveries.is_still_true(&result).await {
                    Ok(true) => return Ok(Some(self.noticed(result))),
                    Ok(false) => {}
                    Err(error) => failed(&result, &error.to_string()),
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
            Err(problem) => failed(&result, &problem),
        }
    }

    fn noticed(&mut self, result: Recovered) -> Recovered {
        if is_charged(&result) {
            self.charged.insert(id_of(&result).to_owned());
        }
        result
    }

    async fn finish(&mut self, result: Recovered, otherwise: impl FnOnce(&mut Self, Recovered)) {
        if let Err(error) = self.deliveries.finish(&result, Some(self.recovery.clone())).await {
            record(Level::WARN, NOT_FINISHED, Some(what(&result)), None, Some(error.to_string()));
            otherwise(self, result);
        }
    }

    pub(super) async fn summary(&self) -> DeliverySummary {
        self.deliveries.summary().await
    }
}

fn failed(result: &Recovered, problem: &str) {
    let message = if is_charged(result) { LEFT_TO_THE_NEXT } else { NOT_HANDLED };
    record(Level::WARN, message, Some(what(result)), None, Some(problem.to_owned()));
}
