//! Confirms payments by one-time password: begins a confirmation, and records its outcome.

use super::{
    Cause, CheckoutAggregate, apply,
    changes::{Changes, KeyUse, Number},
    payments::{KeyMatch, KnownKey, match_key},
};
use crate::{
    pace::Class,
    payments::{Failure, machine::Trigger},
    storage::{
        StorageError,
        inputs::{BeginConfirmation, ConfirmResult, ConfirmationOutcome},
        outputs::RecordedPayment,
    },
    values::{CheckoutState, PaymentState, error::ServerError},
};

/// The numbers that the outcome of a confirmation may take.
pub(in crate::storage) fn numbers_of_confirmed(confirmed: &ConfirmationOutcome) -> Vec<Number> {
    match &confirmed.result {
        ConfirmResult::Sent { reference: Some(reference) } => Number::all_of(reference),
        _ => Vec::new(),
    }
}

/// Records that a one-time password is about to be sent.
pub(in crate::storage) fn begin_confirmation(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    known: Option<KnownKey>,
    begin: &BeginConfirmation,
) -> Result<RecordedPayment, StorageError> {
    aggregate.check()?;
    let at = aggregate.place(&begin.payment).ok_or(StorageError::not_found("payment"))?;
    match match_key(known, begin.key.as_ref()) {
        KeyMatch::For(id) if id == begin.payment => {
            return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
        }
        KeyMatch::For(_) | KeyMatch::ForSomethingElse => return Err(ServerError::KeyReused.into()),
        KeyMatch::Never => {}
    }
    match aggregate.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Err(ServerError::NotOpen { state }.into()),
    }
    if let Some(state) = aggregate.in_doubt_beside(at) {
        return Err(ServerError::UnderWay { state }.into());
    }
    let before = aggregate.payments[at].payment.state;
    // A replaced payment is never confirmed.
    if aggregate.payments[at].payment.is_replaced {
        return Err(ServerError::NotAwaited { state: before }.into());
    }
    if before == PaymentState::Awaiting && aggregate.payments[at].payment.attempts_left == 0 {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    if !apply(changes, aggregate, at, Trigger::ConfirmationBegun, Cause::default())? {
        return Err(ServerError::NotAwaited { state: before }.into());
    }
    changes.use_key(aggregate, begin.key.as_ref(), &begin.payment, KeyUse::ToSend);
    let row = &mut aggregate.payments[at];
    row.sender.clone_from(&begin.sender);
    row.dirty.rest = true;
    Ok(RecordedPayment::changed(&row.payment))
}

/// Records a confirmation. Only its sender may record it (fencing). If the password was or may have been sent, no second one is
/// sent: the gateway's report ends it.
pub(in crate::storage) fn record_confirmation(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    confirmed: &ConfirmationOutcome,
) -> Result<RecordedPayment, StorageError> {
    if aggregate.payments[at].sender != confirmed.sender {
        return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
    }
    if let Some(exchange) = &confirmed.exchange {
        changes.record_exchange(&confirmed.payment, exchange, Some(&confirmed.sender));
    }
    let is_changed = match &confirmed.result {
        ConfirmResult::Sent { reference } => {
            let row = &mut aggregate.payments[at];
            if row.payment.state == PaymentState::Confirming {
                if let Some(reference) = reference {
                    row.update_reference(changes, reference);
                }
                // No other code is sent.
                row.payment.payer_phone = None;
                row.dirty.rest = true;
                changes.make_due(&row.payment, changes.now, Class::Hinted, changes.now);
            }
            false
        }
        ConfirmResult::Refused { failure } => not_confirmed(changes, aggregate, at, failure, 1)?,
        ConfirmResult::NothingHappened { failure } => not_confirmed(changes, aggregate, at, failure, 0)?,
    };
    Ok(RecordedPayment { payment: aggregate.payments[at].payment.clone(), is_changed })
}

fn not_confirmed(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    failure: &Failure,
    attempts: u32,
) -> Result<bool, StorageError> {
    let trigger = apply(changes, aggregate, at, Trigger::NotConfirmed, Cause::of(&failure.kind))?;
    if trigger {
        let row = &mut aggregate.payments[at];
        row.record_failure(failure);
        row.payment.attempts_left = row.payment.attempts_left.saturating_sub(attempts);
    }
    Ok(trigger)
}
