//! Confirmation of a mobile-bank payment: it moves money too, so it is written down first, and sent once.

use kassa::PaymentError;
use tracing::Instrument;
use zeroize::Zeroizing;

use super::{About, Sender};
use crate::{
    payments::{
        exchange::{Asked, Exchange},
        payment::{Failure, Payment},
        response::Secrets,
    },
    spans,
    storage::{
        inputs::{BeginConfirmation, ConfirmResult, Confirmed},
        outputs::ConfirmationBegun,
    },
    values::error::ServerError,
};

impl Sender {
    /// Writes a confirmation down and sends it.
    pub(crate) async fn confirm(
        &self,
        begin: BeginConfirmation,
        otp: Zeroizing<String>,
    ) -> Result<ConfirmationBegun, ServerError> {
        let about =
            About { checkout: begin.checkout.clone(), payment: begin.payment.clone(), sender: begin.sender.clone() };
        let started = self.surroundings.monotonic();
        let begun = match self.storage.begin_confirmation(begin).await {
            Ok(begun) => begun,
            Err(problem) if problem.wrote_nothing() => return Err(problem.into()),
            Err(problem) => {
                let _ = self.note_confirmed(&about, not_sent(), None).await;
                return Err(problem.into());
            }
        };
        let ConfirmationBegun::New(payment) = &begun else { return Ok(begun) };
        let is_in_time = self.surroundings.monotonic().saturating_sub(started) <= self.in_time;
        let (result, exchange) = match is_in_time {
            true => self.send_otp(payment, &otp).await,
            false => (not_sent(), None),
        };
        drop(otp);
        Ok(ConfirmationBegun::New(self.note_confirmed(&about, result, exchange).await?.into()))
    }

    async fn send_otp(&self, payment: &Payment, otp: &str) -> (ConfirmResult, Option<Exchange>) {
        let span = spans::to_gateway("confirm", &payment.id);
        let confirming = self.gateway.confirm_mbank_payment(&payment.reference, otp);
        let answer = confirming.instrument(span.clone()).await;
        let secrets = Secrets::of_otp(otp);
        let exchange = Exchange::of(Asked::Confirm, &answer, &secrets);
        let result = match answer {
            Ok(confirmed) => {
                let is_same = confirmed.payment.order_number == payment.reference.order_number
                    && confirmed.payment.amount == payment.reference.amount;
                ConfirmResult::Sent { reference: Some(confirmed.payment).filter(|_| is_same) }
            }
            Err(PaymentError::OutcomeUnknown { .. }) => ConfirmResult::Sent { reference: None },
            Err(error @ PaymentError::Refused { .. }) => {
                ConfirmResult::Refused { failure: Failure::of(&error, &secrets) }
            }
            Err(error) => ConfirmResult::NothingHappened { failure: Failure::of(&error, &secrets) },
        };
        let word = word(&result);
        spans::came_of(&span, word, matches!(result, ConfirmResult::Sent { reference: None }));
        self.metrics.confirmed(word);
        (result, Some(exchange))
    }

    async fn note_confirmed(
        &self,
        about: &About,
        result: ConfirmResult,
        exchange: Option<Exchange>,
    ) -> Result<Payment, ServerError> {
        let record = |About { checkout, payment, sender }| {
            let (result, exchange) = (result.clone(), exchange.clone());
            self.storage.record_confirmation(Confirmed { checkout, payment, sender, result, exchange })
        };
        self.note_in_the_end(about, record).await
    }
}

fn not_sent() -> ConfirmResult {
    ConfirmResult::NothingHappened { failure: Failure::of_kind("Interrupted") }
}

/// As the metrics call it.
fn word(result: &ConfirmResult) -> &'static str {
    match result {
        ConfirmResult::Sent { reference: Some(_) } => "accepted",
        ConfirmResult::Sent { reference: None } => "unknown",
        ConfirmResult::Refused { .. } => "refused",
        ConfirmResult::NothingHappened { .. } => "nothing_happened",
    }
}
