//! Actions of a payer on the pages: enter a one-time password, choose a card or a wallet, decide about a QR code, cancel.

use rust_decimal::Decimal;
use subtle::ConstantTimeEq;

use crate::{
    domain::{
        Event, Payment, PaymentStatus, Provider, RejectReason,
        test_data::{self, TestCard, TestOutcome, TestPhone, ThreeDs},
    },
    payments::transition::resolve,
    redact::card_numbers,
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// The result of a one-time password.
pub(crate) enum OtpResult {
    /// It was right; the payment ends as its test payer defines.
    Right(Record),
    /// It was wrong; the payment is rejected if no attempt is left.
    Wrong(Record),
    /// The payment awaits no one-time password; nothing changed.
    NotAwaited(Record),
}

/// The fixed outcome of payments to these MegaPay accounts, for every phone.
pub(crate) fn outcome_by_account(account: &str) -> Option<TestOutcome> {
    match account {
        "1" => Some(TestOutcome::Approved),
        "3" => Some(TestOutcome::Declined),
        _ => None,
    }
}

/// Submits a one-time password for a payment.
pub(crate) fn submit_otp(state: &State, id: i64, otp: &str) -> Result<OtpResult, StoreError> {
    submit_password(state, id, otp, None)
}

/// Submits a one-time password or a PIN. The payment ends as its test payer defines, unless `outcome` overrides it.
pub(crate) fn submit_password(
    state: &State,
    id: i64,
    otp: &str,
    outcome: Option<TestOutcome>,
) -> Result<OtpResult, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        let Some((right, of_payer)) = awaited(&record.payment) else {
            return Ok(OtpResult::NotAwaited(record));
        };
        if bool::from(otp.trim().as_bytes().ct_eq(right.as_bytes())) {
            let event = outcome.unwrap_or(of_payer).event();
            return resolve(state, transaction, record, event).map(OtpResult::Right);
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

/// Cancels a payment; nothing changes if it no longer waits for its payer.
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

/// The correct password of the test payer that a payment waits for. Its page offers it.
pub(crate) fn right_otp(payment: &Payment) -> Option<&'static str> {
    awaited(payment).map(|(otp, _)| otp)
}

/// The correct password of the test payer that a payment waits for, and the outcome.
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

/// The payer's card or wallet.
#[derive(Clone, Copy)]
pub(crate) enum Payer {
    Card(&'static TestCard),
    Wallet(&'static TestPhone),
}

/// Stores the choice; a card without a confirmation page is resolved at once.
/// A payer may choose again until a decision, with the attempts that are left.
pub(crate) fn submit_pay_form(state: &State, id: i64, payer: Payer) -> Result<Record, StoreError> {
    let three_ds_1_page = state.switches().three_ds_1_page;
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        match payer {
            Payer::Card(card) => {
                let masked = card_numbers::mask_card(card.pan);
                payments::set_payer(transaction, id, Provider::Cards, Some(&masked), None)?;
            }
            Payer::Wallet(phone) => {
                let masked = card_numbers::mask_phone(phone.phone);
                payments::set_payer(transaction, id, phone.provider, None, Some(&masked))?;
            }
        }
        let record = payments::by_id(transaction, id)?;
        match resolves_at_once(payer, three_ds_1_page) {
            Some(outcome) => resolve(state, transaction, record, outcome.event()),
            None => Ok(record),
        }
    })
}

fn resolves_at_once(payer: Payer, three_ds_1_page: bool) -> Option<TestOutcome> {
    match payer {
        Payer::Card(card) if !has_confirmation_page(card, three_ds_1_page) => Some(card.outcome),
        _ => None,
    }
}

/// Whether a card requires a one-time password.
pub(crate) fn has_confirmation_page(card: &TestCard, three_ds_1_page: bool) -> bool {
    match card.three_ds {
        ThreeDs::V2 => true,
        ThreeDs::V1 => three_ds_1_page,
        ThreeDs::None => false,
    }
}

/// The decision of a QR code's payer.
#[derive(Clone, Copy)]
pub(crate) enum QrDecision {
    /// Pays; with the amount in tyiyn that the payer entered, if the QR code has no sum.
    Approve(Option<Decimal>),
    Decline,
}

/// Executes the decision; nothing changes if the payment is already decided.
pub(crate) fn submit_qr(state: &State, id: i64, decision: QrDecision) -> Result<Record, StoreError> {
    state.write(|transaction| {
        let record = payments::by_id(transaction, id)?;
        if record.payment.status != PaymentStatus::Created {
            return Ok(record);
        }
        match decision {
            QrDecision::Approve(named) => {
                match (record.payment.amount, named) {
                    (Some(_), _) => {}
                    (None, Some(tyiyn)) => payments::set_amount(transaction, id, tyiyn)?,
                    // Without an amount there is nothing to charge.
                    (None, None) => return Ok(record),
                }
                resolve(state, transaction, record, Event::Charge)
            }
            QrDecision::Decline => {
                let declined = Event::Reject(RejectReason::CancelledByPayer);
                resolve(state, transaction, record, declined)
            }
        }
    })
}
