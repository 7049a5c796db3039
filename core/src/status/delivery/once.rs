//! One recovery that delivers each charged payment once.

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
    /// The charged payments so far, by the entry's id. The recovery reports one again if its file was away for a while.
    charged: HashSet<String>,
    /// Delivered payments with entries that could not be finished.
    unfinished: Vec<Recovered>,
}

impl Once {
    pub(super) fn new(engine: &Arc<Engine>, policy: RecoveryPolicy) -> Result<Self, PaymentError> {
        let recovery = Recovery::new(engine.clone(), policy)?;
        // A delivered payment that could not be finished is finished before other processes may deliver.
        recovery.hold_lock();
        Ok(Self { deliveries: Deliveries::new(engine)?, recovery, charged: HashSet::new(), unfinished: Vec::new() })
    }

    /// The next result that the handler is called with; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Recovered>, PaymentError> {
        loop {
            match self.recovery.next().await {
                Ok(Some(result)) if self.is_repeated(&result) => {}
                Ok(Some(result)) => match self.deliveries.is_still_true(&result).await {
                    Ok(true) => return Ok(Some(result)),
                    Ok(false) => {}
                    Err(error) => failed(&result, &error.to_string()),
                },
                ended => {
                    for result in std::mem::take(&mut self.unfinished) {
                        self.finish(&result).await;
                    }
                    self.recovery.cancel();
                    return ended;
                }
            }
        }
    }

    /// Processes the handler's result.
    pub(super) async fn handled(&mut self, result: Recovered, outcome: Result<(), String>) {
        if let Err(problem) = outcome {
            failed(&result, &problem);
        } else if !self.finish(&result).await {
            self.unfinished.push(result);
        }
    }

    pub(super) async fn summary(&self) -> DeliverySummary {
        self.deliveries.summary().await
    }

    fn is_repeated(&mut self, result: &Recovered) -> bool {
        is_charged(result) && !self.charged.insert(id_of(result).to_owned())
    }

    /// False if the journal could not be written.
    async fn finish(&mut self, result: &Recovered) -> bool {
        let finished = self.deliveries.finish(result, Some(self.recovery.clone())).await;
        if let Err(error) = &finished {
            record(Level::WARN, NOT_FINISHED, Some(what(result)), None, Some(error.to_string()));
        }
        finished.is_ok()
    }
}

fn failed(result: &Recovered, problem: &str) {
    let message = if is_charged(result) { LEFT_TO_THE_NEXT } else { NOT_HANDLED };
    record(Level::WARN, message, Some(what(result)), None, Some(problem.to_owned()));
}
