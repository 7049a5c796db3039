//! Sends payments: takes a waiting one, records its outcome, and schedules the first poll.

use kassa::PaymentRef;

use super::{
    Cause, CheckoutAggregate, apply,
    changes::{Changes, Number, Numbers},
    hints::{doubt_unpollable, escalate_unknown_status, has_number},
};
use crate::{
    pace::Class,
    payments::{Failure, Payment, machine::Trigger},
    storage::{
        StorageError,
        inputs::{SendOutcome, SendResult, TakePrepared, WalletTerms},
        outputs::{RecordedPayment, SendTurn},
    },
    values::{CheckoutState, Method, Millis, PaymentState, millis},
};

/// The time until the first poll of a payment that the gateway accepted: the interface's interval.
const FIRST_POLL_MS: Millis = 10_000;
/// The failures of payments that never reached the gateway, or for which it had no time.
pub(super) const NEVER_LOOKED_AT: [&str; 2] = ["Unavailable", "Interrupted"];

/// The numbers that the gateway's response may take.
pub(in crate::storage) fn numbers_of_sent(sent: &SendOutcome) -> Vec<Number> {
    match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text, .. } => {
            let page = shown_once(reference, page_url, qr_text).map(Number::page);
            Number::all_of(reference).into_iter().chain(page).collect()
        }
        SendResult::Unknown { reference } => Number::all_of(reference),
        SendResult::NothingHappened { .. } => Vec::new(),
    }
}

/// The page or code that must not be shown to a second payer: a code only if no transaction distinguishes it.
fn shown_once<'a>(
    reference: &PaymentRef,
    page_url: &'a Option<String>,
    qr_text: &'a Option<String>,
) -> Option<&'a str> {
    let code = qr_text.as_deref().filter(|_| reference.transaction_id.is_none());
    page_url.as_deref().or(code)
}

/// Takes a payment that waited, to send it now.
pub(in crate::storage) fn take_prepared(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    take: &TakePrepared,
) -> Result<SendTurn, StorageError> {
    aggregate.check()?;
    let Some(at) = aggregate.place(&take.payment) else { return Ok(SendTurn::Gone) };
    let method = aggregate.payments[at].payment.method;
    if let Some(wait) = changes.pauses.wait(method, changes.now) {
        return Ok(SendTurn::Wait(wait));
    }
    let is_its_sender = aggregate.payments[at].sender == take.sender;
    if is_its_sender && aggregate.in_doubt_beside(at).is_some() {
        apply(changes, aggregate, at, Trigger::PreparedTooLong, Cause::of("InDoubt"))?;
        return Ok(SendTurn::Gone);
    }
    if is_its_sender && aggregate.state_by_now(changes.now) != CheckoutState::Open {
        // The checkout was paid in the meantime, on an open page.
        apply(changes, aggregate, at, Trigger::PreparedTooLong, Cause::of("NotOpen"))?;
        return Ok(SendTurn::Gone);
    }
    if !is_its_sender || !apply(changes, aggregate, at, Trigger::SendingTaken, Cause::default())? {
        return Ok(SendTurn::Gone);
    }
    aggregate.payments[at].until = changes.now.saturating_add(take.send_for_ms);
    changes.pauses.sent(method, changes.now);
    Ok(SendTurn::Send)
}

/// Records the outcome of sending. Only its sender may record it (fencing).
pub(in crate::storage) fn record_send_outcome(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    sent: &SendOutcome,
) -> Result<RecordedPayment, StorageError> {
    if aggregate.payments[at].sender != sent.sender {
        return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
    }
    if let Some(exchange) = &sent.exchange {
        changes.record_exchange(&sent.payment, exchange, Some(&sent.sender));
    }
    update_pause(changes, aggregate.payments[at].payment.method, &sent.result);
    let is_changed = match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text, terms } => {
            let is_own = |numbers: &mut Numbers, number: Number| numbers.take(&number, &sent.payment);
            let transaction = reference.transaction_id.as_deref().map(Number::transaction);
            let has_own_transaction = transaction.is_none_or(|number| is_own(&mut changes.numbers, number));
            let shown = shown_once(reference, page_url, qr_text);
            let has_own_page = shown.is_none_or(|shown| is_own(&mut changes.numbers, Number::page(shown)));
            // The gateway returned the same transaction, page or code twice: no second payer is shown it.
            match (has_own_transaction, has_own_page) {
                (false, _) => not_made(changes, aggregate, at, &Failure::of_kind("TransactionTwice"))?,
                (true, false) if !aggregate.payments[at].payment.method.moves_money() => {
                    let kind = if page_url.is_some() { "PageTwice" } else { "CodeTwice" };
                    not_made(changes, aggregate, at, &Failure::of_kind(kind))?
                }
                (true, false) => accepted(changes, aggregate, at, reference, (&None, qr_text), terms)?,
                (true, true) => accepted(changes, aggregate, at, reference, (page_url, qr_text), terms)?,
            }
        }
        SendResult::NothingHappened { failure, .. } => not_made(changes, aggregate, at, failure)?,
        SendResult::Unknown { reference } => {
            let is_changed = apply(changes, aggregate, at, Trigger::OutcomeUnknown, Cause::default())?;
            if is_changed {
                aggregate.payments[at].update_reference(changes, reference);
            }
            is_changed
        }
    };
    if is_changed {
        schedule_first_poll(changes, aggregate, at)?;
    }
    Ok(RecordedPayment { payment: aggregate.payments[at].payment.clone(), is_changed })
}

/// A `Retry-After` pauses the method; any other response ends the pause. Without a response it is unchanged.
fn update_pause(changes: &mut Changes, method: Method, result: &SendResult) {
    match result {
        SendResult::NothingHappened { retry_after: Some(wait), .. } => {
            changes.pauses.refused(method, *wait, changes.now);
        }
        SendResult::NothingHappened { failure, .. } if NEVER_LOOKED_AT.contains(&failure.kind.as_str()) => {}
        SendResult::Unknown { .. } => {}
        SendResult::Accepted { .. } | SendResult::NothingHappened { .. } => changes.pauses.answered(method),
    }
}

fn accepted(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    reference: &PaymentRef,
    (page_url, qr_text): (&Option<String>, &Option<String>),
    terms: &WalletTerms,
) -> Result<bool, StorageError> {
    // Set first: whether the payer must act decides whether the checkout may end, and the event contains the terms.
    let now = changes.now;
    let before = aggregate.payments[at].payment.clone();
    let payment = &mut aggregate.payments[at].payment;
    payment.page_url.clone_from(page_url);
    (payment.commission, payment.total) = (terms.commission, terms.total);
    payment.code_expires_at = terms.pin_lifetime.map(|lifetime| now.saturating_add(millis(lifetime)));
    if !apply(changes, aggregate, at, Trigger::Accepted, Cause::default())? {
        aggregate.payments[at].payment = before;
        return Ok(false);
    }
    let row = &mut aggregate.payments[at];
    row.update_reference(changes, reference);
    row.payment.qr_text.clone_from(qr_text);
    row.dirty.reference = true;
    Ok(true)
}

pub(super) fn not_made(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    failure: &Failure,
) -> Result<bool, StorageError> {
    let trigger = apply(changes, aggregate, at, Trigger::CertainlyNothing, Cause::of(&failure.kind))?;
    if trigger {
        aggregate.payments[at].record_failure(failure);
    }
    Ok(trigger)
}

/// Schedules the first poll of a payment that is no longer being sent; at once after a hint in the meantime.
pub(super) fn schedule_first_poll(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
) -> Result<(), StorageError> {
    let row = &aggregate.payments[at];
    let (payment, now) = (&row.payment, changes.now);
    if matches!(payment.state, PaymentState::NotMade | PaymentState::Awaiting) && row.is_hinted && !has_number(payment)
    {
        doubt_unpollable(changes, aggregate, at)?;
        return Ok(());
    }
    // A callback with a status that the dialect does not know arrived while the code was being created.
    if payment.method == Method::Qr && payment.state == PaymentState::Awaiting && payment.is_stuck {
        if !has_number(payment) {
            return escalate_unknown_status(changes, aggregate, at);
        }
        let row = &mut aggregate.payments[at];
        row.mark_state_dirty();
        row.payment.is_stuck = false;
        changes.make_due(&row.payment, now, Class::Hinted, now);
        return Ok(());
    }
    let (at, class) = match payment.state {
        _ if row.is_hinted => (now, Class::Hinted),
        PaymentState::Unknown => (now, Class::Fresh),
        // Its payer has nothing to do: the gateway already knows the outcome.
        PaymentState::Awaiting if payment.method == Method::Card && payment.page_url.is_none() => (now, Class::Fresh),
        PaymentState::Awaiting if payment.reference.can_be_checked() => {
            (now.saturating_add(FIRST_POLL_MS), Class::Fresh)
        }
        // The gateway refused it, and may still have acted. Or, by this database, it waited too long to be sent: a database
        // restored to an earlier state has lost later sends.
        PaymentState::NotMade if payment.method.moves_money() && may_have_been_sent(payment) => {
            (now.saturating_add(FIRST_POLL_MS), Class::Fresh)
        }
        _ => return Ok(()),
    };
    changes.make_due(payment, at, class, now);
    Ok(())
}

fn may_have_been_sent(payment: &Payment) -> bool {
    payment.failure.as_ref().is_none_or(|failure| !NEVER_LOOKED_AT.contains(&failure.kind.as_str()))
}
