//! Resolution: a person's decision on a payment with an unknown outcome.

use super::{
    Cause, CheckoutAggregate, EventDetails, PaymentRow, apply, apply_to_checkout,
    changes::{Changes, DueChange, Number},
    claims::ClaimRow,
    hints::has_number,
    record_event,
};
use crate::{
    checkouts::Trigger as CheckoutTrigger,
    events::EventKind,
    pace::{Class, interval_at, queues::Queue},
    payments::machine::{Trigger, is_for_a_person},
    storage::{
        StorageError,
        inputs::Resolve,
        outputs::Decision,
        staff::{RecordRefund, RefundOutcome},
    },
    tokens::DecidedBy,
    values::{CheckoutState, ClaimState, Method, Millis, PaymentState, Resolution, error::ServerError},
};

/// The numbers that a decision may take: those claimed for this pay-form that may have paid for it.
pub(in crate::storage) fn numbers_to_resolve(row: &PaymentRow) -> Vec<Number> {
    let may_have_paid = |claim: &&ClaimRow| !matches!(claim.state, ClaimState::Rejected | ClaimState::OtherPayment);
    row.claims.iter().filter(may_have_paid).map(|claim| Number::order(&claim.number)).collect()
}

/// Records a decision.
pub(in crate::storage) fn resolve(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    resolve: &Resolve,
) -> Result<Decision, StorageError> {
    aggregate.check()?;
    let row = &aggregate.payments[at];
    let (before, is_in_doubt) = (row.payment.state, row.payment.is_in_doubt);
    if before == resolve.resolution.state() && !is_in_doubt {
        return Ok(Decision::Unchanged(row.payment.clone().into()));
    }
    let can_be_decided = is_for_a_person(before) || is_in_doubt;
    // Whether the checkout changed since the person saw it.
    if can_be_decided && resolve.seen.is_some_and(|seen| seen != aggregate.root.version) {
        return Ok(Decision::Outdated(row.payment.clone().into()));
    }
    if before == PaymentState::Charged && is_in_doubt {
        return review(changes, aggregate, at, resolve);
    }
    let trigger = match resolve.resolution {
        Resolution::Charged => Trigger::ResolvedCharged,
        Resolution::NotCharged => Trigger::ResolvedNotCharged,
    };
    let why = Cause { reason: Some(&resolve.reason), by: Some(&resolve.by) };
    if !can_be_decided || !apply(changes, aggregate, at, trigger, why)? {
        return Err(ServerError::NotInDoubt { state: before }.into());
    }
    let row = &mut aggregate.payments[at];
    row.is_resolved = true;
    row.dirty.rest = true;
    if row.payment.state == PaymentState::Charged {
        take_claimed_numbers(changes, row);
    }
    keep_polling(changes, row);
    Ok(Decision::Recorded(row.payment.clone().into()))
}

/// Decides about an untrusted report of a further charge of a charged payment. The payment stays charged; if the other charge was
/// made as well, it is a surplus.
fn review(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    resolve: &Resolve,
) -> Result<Decision, StorageError> {
    aggregate.payments[at].set_doubt(false);
    let details = EventDetails {
        payment: Some(at),
        reason: Some(&resolve.reason),
        by: Some(&resolve.by),
        ..EventDetails::default()
    };
    record_event(changes, aggregate, EventKind::PaymentReviewed, &details)?;
    if resolve.resolution == Resolution::Charged {
        take_claimed_numbers(changes, &aggregate.payments[at]);
        aggregate.payments[at].count_claims_in_doubt();
        apply_to_checkout(changes, aggregate, CheckoutTrigger::PaymentCharged, Some(at), Some(&resolve.by))?;
    }
    Ok(Decision::Recorded(aggregate.payments[at].payment.clone().into()))
}

/// Takes the numbers that were claimed only for this payment, so that they pay for nothing else.
fn take_claimed_numbers(changes: &mut Changes, row: &PaymentRow) {
    for number in numbers_to_resolve(row) {
        changes.numbers.take(&number, &row.payment.id);
    }
}

/// A person can be wrong: polling continues for a while, and a reported charge has an event.
fn keep_polling(changes: &mut Changes, row: &PaymentRow) {
    let payment = &row.payment;
    let is_charged = payment.state == PaymentState::Charged;
    let needs_poll = match payment.method {
        Method::PayForm => !is_charged || row.has_claim_to_poll(),
        _ => !is_charged && payment.reference.can_be_checked(),
    };
    if !needs_poll {
        changes.due.push(DueChange::Forget { payment: payment.id.clone() });
        return;
    }
    let age = changes.now - payment.begun_at;
    changes.due.push(DueChange::PutUnlessThere {
        payment: payment.id.clone(),
        at: changes.now.saturating_add(interval_at(age)),
        queue: Queue { class: Class::at_age(age), method: payment.method },
        since: payment.begun_at,
    });
}

// The end of an unpaid checkout, and refunds of an overpaid one.

/// The least delay of expiry while a payment of the checkout is in progress.
const SHORTEST_WAIT: Millis = 60_000;
/// The reason why a payment needs a person after its checkout ended.
const NO_TRANSACTION: &str =
    "its QR code was shown and may have been paid, and the gateway's response had no transaction to query by";

/// Cancels a checkout; a cancelled one is unchanged. Rejected while a request is in flight, or its outcome is unknown.
pub(in crate::storage) fn cancel(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    by: Option<&DecidedBy>,
) -> Result<(), StorageError> {
    aggregate.check()?;
    match aggregate.root.state {
        CheckoutState::Open => {}
        CheckoutState::Cancelled => return Ok(()),
        state => return Err(ServerError::NotOpen { state }.into()),
    }
    if let Some(row) = aggregate.payments.iter().find(|row| row.payment.is_under_way()) {
        return Err(ServerError::UnderWay { state: row.payment.state }.into());
    }
    escalate_unpollable_codes(changes, aggregate)?;
    apply_to_checkout(changes, aggregate, CheckoutTrigger::Cancelled, None, by)?;
    Ok(())
}

/// Escalates codes when a checkout ends unpaid, as far as the server knows. A code that was shown and cannot be polled may still
/// have been paid: the shop gets one event, and a person decides.
fn escalate_unpollable_codes(changes: &mut Changes, aggregate: &mut CheckoutAggregate) -> Result<(), StorageError> {
    for at in 0..aggregate.payments.len() {
        let row = &mut aggregate.payments[at];
        let is_open = row.payment.state == PaymentState::Awaiting && !row.payment.is_stuck;
        if is_open && !has_number(&row.payment) {
            row.mark_state_dirty();
            row.payment.is_stuck = true;
            let details = EventDetails { payment: Some(at), reason: Some(NO_TRANSACTION), ..EventDetails::default() };
            record_event(changes, aggregate, EventKind::PaymentStuck, &details)?;
        }
    }
    Ok(())
}

/// Expires a checkout whose time has passed. It waits while a payment is in progress: the shop must not get "expired" for a
/// checkout that may have been paid. It is checked again when the payment ends, and at growing intervals, so that many waiting
/// ones delay no others. True if it has expired.
pub(in crate::storage) fn expire(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
) -> Result<bool, StorageError> {
    let root = &mut aggregate.root;
    if root.state != CheckoutState::Open || root.expiry_due_at > changes.now {
        return Ok(false);
    }
    if aggregate.is_damaged || aggregate.payments.iter().any(|row| row.payment.is_under_way()) {
        let wait = ((changes.now - root.expires_at) / 10).max(SHORTEST_WAIT);
        root.expiry_due_at = changes.now.saturating_add(wait);
        root.dirty.expiry = true;
        return Ok(false);
    }
    escalate_unpollable_codes(changes, aggregate)?;
    apply_to_checkout(changes, aggregate, CheckoutTrigger::TimePassed, None, None)
}

/// Records the refund of one surplus payment, with an event that has the reason and the person. After the last one the
/// checkout needs no person any more.
pub(in crate::storage) fn record_refund(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    refund: &RecordRefund,
) -> Result<RefundOutcome, StorageError> {
    if aggregate.root.refunds_due == 0 {
        return Ok(RefundOutcome::NotDue);
    }
    if aggregate.root.version != refund.version {
        return Ok(RefundOutcome::Outdated);
    }
    aggregate.root.refunds_due -= 1;
    aggregate.root.dirty.state = true;
    let details = EventDetails { reason: Some(&refund.reason), by: Some(&refund.by), ..EventDetails::default() };
    record_event(changes, aggregate, EventKind::CheckoutRefundRecorded, &details)?;
    Ok(RefundOutcome::Recorded)
}
