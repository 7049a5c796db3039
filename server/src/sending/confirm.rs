//! Confirmation of a mobile-bank payment: it moves money too, so it is written down first, and sent once.

use kassa::PaymentError;
use zeroize::Zeroizing;

use super::Sender;
use crate::{
    payments::payment::{Failure, Payment},
    storage::{
        error::StorageError,
        inputs::{BeginConfirmation, ConfirmResult, Confirmed},
        outputs::ConfirmationBegun,
    },
    values::{error::ServerError, ids::PaymentId},
};

const TRIES: u32 = 3;

impl Sender {
    /// Writes a confirmation down and sends it.
    pub(crate) async fn confirm(
        &self,
        begin: BeginConfirmation,
        otp: Zeroizing<String>,
    ) -> Result<ConfirmationBegun, ServerError> {
        let (id, sender) = (begin.payment.clone(), begin.sender.clone());
        let started = self.surroundings.monotonic();
        let begun = match self.storage.begin_confirmation(begin).await {
            Ok(begun) => begun,
            Err(problem @ StorageError::Busy) => return Err(problem.into()),
            Err(problem) => {
                let _ = self.note_confirmed(&id, &sender, not_sent()).await;
                return Err(problem.into());
            }
        };
        let ConfirmationBegun::New(payment) = &begun else { return Ok(begun) };
        let is_in_time = self.surroundings.monotonic().saturating_sub(started) <= self.in_time;
        let result = if is_in_time { self.send_otp(payment, &otp).await } else { not_sent() };
        drop(otp);
        Ok(ConfirmationBegun::New(self.note_confirmed(&id, &sender, result).await?.into()))
    }

    async fn send_otp(&self, payment: &Payment, otp: &str) -> ConfirmResult {
        let result = match self.gateway.confirm_mbank_payment(&payment.reference, otp).await {
            Ok(confirmed) => {
                let is_same = confirmed.payment.order_number == payment.reference.order_number
                    && confirmed.payment.amount == payment.reference.amount;
                ConfirmResult::Sent { reference: Some(confirmed.payment).filter(|_| is_same) }
            }
            Err(PaymentError::OutcomeUnknown { .. }) => ConfirmResult::Sent { reference: None },
            Err(error @ PaymentError::Refused { .. }) => ConfirmResult::Refused { failure: Failure::of(&error) },
            Err(error) => ConfirmResult::NothingHappened { failure: Failure::of(&error) },
        };
        self.metrics.confirmed(word(&result));
        result
    }

    async fn note_confirmed(
        &self,
        id: &PaymentId,
        sender: &str,
        result: ConfirmResult,
    ) -> Result<Payment, ServerError> {
        let mut tries = 0;
        loop {
            let confirmed = Confirmed { payment: id.clone(), sender: sender.to_owned(), result: result.clone() };
            match self.storage.settle_confirmation(confirmed).await {
                Ok(settled) => return Ok(settled.payment),
                Err(problem) if tries + 1 >= TRIES => return Err(problem.into()),
                Err(_) => tries += 1,
            }
        }
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
