//! Decides a payment from outside, as its payer or provider.

use rust_decimal::Decimal;

use crate::{
    domain::{Event, Payment, PaymentKind, PaymentStatus, Provider, RejectReason, test_data::TEST_CARDS},
    payments::{payer::awaited, transition},
    redact::card_numbers,
    state::State,
    store::{
        StoreError, WriteTransaction,
        payments::{self, Record},
    },
};

/// A decision about a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Approve,
    Decline,
}

/// Why a payment cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// No payment has this number.
    #[error("there is no payment with this number")]
    NotFound,
    /// It is already final.
    #[error("the payment is final already: {0}")]
    AlreadyFinal(PaymentStatus),
    /// The QR code has no sum, and the approval has no amount.
    #[error("the QR code names no sum: say how many tyiyn, at least 1")]
    NoAmount,
    /// The database failed.
    #[error("the sandbox failed: {0}")]
    Failed(String),
}

impl From<StoreError> for DecisionError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Decides the payment with a number, which may be any of its own. No fault keeps it from becoming
/// final. While it waits for its payer, this acts as the payer; afterwards, as the provider.
pub(crate) fn decide(
    state: &State,
    number: &str,
    decision: Decision,
    tyiyn: Option<u64>,
) -> Result<Payment, DecisionError> {
    state.write(|transaction| {
        let Some(record) = payments::by_any_number(transaction, number)? else {
            return Ok(Err(DecisionError::NotFound));
        };
        let status = record.payment.status;
        if status.is_final() {
            return Ok(Err(DecisionError::AlreadyFinal(status)));
        }
        let is_payer_s = status == PaymentStatus::Created;
        let (record, event) = match decision {
            Decision::Decline if is_payer_s => {
                (with_provider(transaction, record)?, Event::Reject(RejectReason::CancelledByPayer))
            }
            Decision::Decline => (record, Event::Reject(RejectReason::Declined)),
            Decision::Approve if is_payer_s => match pay(transaction, record, tyiyn)? {
                Some(paid) => paid,
                None => return Ok(Err(DecisionError::NoAmount)),
            },
            Decision::Approve => (record, Event::Charge),
        };
        transition::apply(transaction, &state.faults, record, event).map(|record| Ok(record.payment))
    })?
}

/// A callback requires a provider. If the payer of a pay-form left without choosing one, it is the first one.
fn with_provider(transaction: &WriteTransaction<'_>, record: Record) -> Result<Record, StoreError> {
    if record.payment.provider.is_some() {
        return Ok(record);
    }
    payments::set_payer(transaction, record.id, Provider::Cards, None, None)?;
    payments::by_id(transaction, record.id)
}

/// Pays, and returns the resulting event; `None` if a QR code has no sum and no amount is given.
fn pay(
    transaction: &WriteTransaction<'_>,
    record: Record,
    tyiyn: Option<u64>,
) -> Result<Option<(Record, Event)>, StoreError> {
    let id = record.id;
    match record.payment.kind {
        PaymentKind::Qr if record.payment.amount.is_none() => {
            let Some(tyiyn) = tyiyn.filter(|tyiyn| *tyiyn > 0) else {
                return Ok(None);
            };
            payments::set_amount(transaction, id, Decimal::from(tyiyn))?;
            Ok(Some((payments::by_id(transaction, id)?, Event::Charge)))
        }
        PaymentKind::PayForm if record.payment.provider.is_none() => {
            let card = &TEST_CARDS[0];
            payments::set_payer(transaction, id, Provider::Cards, Some(&card_numbers::mask_card(card.pan)), None)?;
            Ok(Some((payments::by_id(transaction, id)?, card.outcome.event())))
        }
        _ => {
            let event = awaited(&record.payment).map_or(Event::Charge, |(_, outcome)| outcome.event());
            Ok(Some((record, event)))
        }
    }
}
