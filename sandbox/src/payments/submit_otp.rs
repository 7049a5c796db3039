//! One-time passwords: a payer's attempt, a limit on wrong ones, and the payer who gives up. Asked of an open payment
//! only.

use subtle::ConstantTimeEq;

use crate::{
    domain::{
        Event, Payment, PaymentStatus, RejectReason,
        test_data::{self, TestOutcome},
    },
    payments::resolve::resolve,
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// What came of a one-time password.
pub(crate) enum OtpResult {
    /// It was right; the payment went on to whatever its test payer stands for.
    Right(Record),
    /// It was wrong; the payment is rejected where no attempt is left.
    Wrong(Record),
    /// The payment awaits none; nothing changed.
    NotAwaited(Record),
}

/// Submits a one-time password for a payment.
pub(crate) fn submit_otp(state: &State, id: i64, otp: &str) -> Result<OtpResult, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        let Some((right, outcome)) = awaited(&record.payment) else {
            return Ok(OtpResult::NotAwaited(record));
        };
        if bool::from(otp.trim().as_bytes().ct_eq(right.as_bytes())) {
            return resolve(state, transaction, record, outcome.event()).map(OtpResult::Right);
        }
        payments::spend_otp_attempt(transaction, id)?;
        let record = payments::by_id(transaction, id)?;
        if record.payment.otp_attempts_left > 0 {
            return Ok(OtpResult::Wrong(record));
        }
        let exhausted = Event::Reject(RejectReason::OtpAttemptsExhausted);
        resolve(state, transaction, record, exhausted).map(OtpResult::Wrong)
    })
}

/// The payer gives up. Of a payment that no longer waits for its payer, nothing changes.
pub(crate) fn cancel(state: &State, id: i64) -> Result<Record, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        let cancelled = Event::Reject(RejectReason::CancelledByPayer);
        resolve(state, transaction, record, cancelled)
    })
}

/// The right password of the test payer a payment waits for, which its page offers.
pub(crate) fn right_otp(payment: &Payment) -> Option<&'static str> {
    awaited(payment).map(|(otp, _)| otp)
}

/// The right password of the test payer a payment waits for, and how it ends then.
pub(super) fn awaited(payment: &Payment) -> Option<(&'static str, TestOutcome)> {
    if payment.status != PaymentStatus::Created {
        return None;
    }
    let card = payment.masked_card.as_deref().and_then(test_data::card_of_mask).map(|card| (card.otp, card.outcome));
    card.or_else(|| {
        let masked = payment.masked_phone.as_deref()?;
        test_data::phone_of_mask(masked).map(|phone| (phone.otp, phone.outcome))
    })
}
