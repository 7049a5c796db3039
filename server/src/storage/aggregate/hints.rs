//! Hints: callbacks, returns, and views by apps. A hint makes a payment due for polling, and proves nothing.

use kassa::PaymentStatus;

use super::{
    Cause, CheckoutAggregate, EventDetails, PaymentRow, apply, changes::Changes, claims, record_event,
    warn_of_unknown_status,
};
use crate::{
    events::EventKind,
    pace::Class,
    payments::{Payment, exchange::Exchange, machine::Trigger},
    storage::{StorageError, inputs::Claim, outputs::HintOutcome},
    values::{Method, Millis, PaymentId, PaymentState},
};

/// The reason for doubt if a callback is the only possible report of a charge.
const NO_NUMBER: &str = "a callback reports it, and the payment has no number to query by";
/// The reason for doubt if a person has already resolved the payment as charged.
const CHARGED_BEFORE: &str = "a callback reports a charge of a payment that a person found charged, and that has no number to \
    query by: it may be the same charge, or one more";
/// The reason why a person must review a payment that stays payable.
const UNKNOWN_WORD: &str = "a callback about its QR code has no status that the dialect knows, and the gateway sent no transaction to \
    query by: the code may have been paid";

/// The content of a callback.
#[derive(Clone, Copy)]
pub(in crate::storage) struct CallbackHint<'a> {
    pub(in crate::storage) claim: Option<&'a Claim>,
    pub(in crate::storage) status: Option<&'a PaymentStatus>,
    pub(in crate::storage) exchange: Option<&'a Exchange>,
    pub(in crate::storage) is_whole: bool,
}

/// Makes the open payments of a viewed checkout due. If its payer claims to have paid, that is recorded for a payment outside
/// this server: on a gateway's page, or by a code.
pub(in crate::storage) fn look(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    claimed: Option<&PaymentId>,
) -> HintOutcome {
    let is_claimed = |row: &&mut PaymentRow| claimed == Some(&row.payment.id) && is_payable_elsewhere(row);
    aggregate.payments.iter_mut().filter(is_claimed).for_each(|row| claim_paid(row, changes.now));
    make_due(changes, aggregate.payments.iter_mut().filter(|row| is_open(row)))
}

/// Records a callback about one of its payments, with the number that it claims for a pay-form, and its unreadable part. Ended
/// payments count, too: a charge may follow a rejection, or another charge. For a payment without a number to query by, every
/// callback is stored, because there is no other report.
pub(in crate::storage) fn call_back(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    callback: CallbackHint<'_>,
) -> Result<HintOutcome, StorageError> {
    let CallbackHint { claim, status, exchange, is_whole } = callback;
    let row = &mut aggregate.payments[at];
    let is_pay_form = row.payment.method == Method::PayForm;
    if let Some(claim) = claim.filter(|_| is_pay_form)
        && !claims::keep(changes, row, claim)
    {
        return Ok(HintOutcome::TooManyClaims);
    }
    if status == Some(&PaymentStatus::Charged) && row.payment.state == PaymentState::Awaiting {
        claim_paid(row, changes.now);
    }
    let has_number = has_number(&row.payment);
    if let Some(exchange) = exchange.filter(|_| !has_number || !is_whole) {
        changes.record_exchange(&row.payment.id, exchange, None);
    }
    if !has_number {
        return handle_unpollable_callback(changes, aggregate, at, status);
    }
    let needs_poll = row.payment.state != PaymentState::Charged || (is_pay_form && row.has_claim_to_poll());
    Ok(make_due(changes, Some(row).filter(|_| needs_poll).into_iter()))
}

/// Applies a callback about a payment that cannot be polled. **Only a claimed charge needs a person's decision**; a rejection
/// ends nothing, because the code stays payable. Any other status, or none, is reported to a person, and the payment is
/// unchanged. A repeated callback is filtered before; another status may be that of the charge, so it is reported again.
fn handle_unpollable_callback(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    claimed: Option<&PaymentStatus>,
) -> Result<HintOutcome, StorageError> {
    let row = &mut aggregate.payments[at];
    let is_being_sent = matches!(row.payment.state, PaymentState::Prepared | PaymentState::Sending);
    match claimed {
        Some(PaymentStatus::Rejected) => {}
        Some(PaymentStatus::Charged) if is_being_sent => return Ok(make_due(changes, Some(row).into_iter())),
        Some(PaymentStatus::Charged) => {
            doubt_unpollable(changes, aggregate, at)?;
        }
        // The gateway's response may contain a transaction for queries, so it is awaited first.
        _ if is_being_sent => {
            if !row.payment.is_stuck {
                row.mark_state_dirty();
                row.payment.is_stuck = true;
            }
        }
        _ if row.payment.state == PaymentState::Awaiting => {
            if !row.payment.is_stuck || claimed.is_some() {
                escalate_unknown_status(changes, aggregate, at)?;
            }
        }
        // A person decided that it was not paid. The status word may say that it was.
        Some(_) if row.payment.state == PaymentState::Rejected => {
            doubt_unpollable(changes, aggregate, at)?;
        }
        _ => warn_of_unknown_status(&row.payment),
    }
    Ok(HintOutcome::Due(0))
}

/// Escalates an unknown status in a callback about a code that cannot be queried.
pub(super) fn escalate_unknown_status(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
) -> Result<(), StorageError> {
    let row = &mut aggregate.payments[at];
    row.mark_state_dirty();
    row.payment.is_stuck = true;
    let details = EventDetails { payment: Some(at), reason: Some(UNKNOWN_WORD), ..EventDetails::default() };
    record_event(changes, aggregate, EventKind::PaymentStuck, &details)
}

/// Records doubt if a callback reports a charge of a payment that cannot be polled: of a code for which the gateway gave no
/// transaction, or of a payment that was not made. A code whose number was lost with the gateway's response was shown to nobody,
/// unless the database was restored to an earlier moment. Either way only this callback reports the charge. For a payment that a
/// person has resolved as charged, it may be one more charge, which is reported until a person has reviewed it.
pub(super) fn doubt_unpollable(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
) -> Result<bool, StorageError> {
    let row = &mut aggregate.payments[at];
    if row.payment.state != PaymentState::Charged {
        return apply(changes, aggregate, at, Trigger::ReportedUnverifiable, Cause::of(NO_NUMBER));
    }
    if row.payment.is_in_doubt {
        return Ok(false);
    }
    row.set_doubt(true);
    let details = EventDetails { payment: Some(at), reason: Some(CHARGED_BEFORE), ..EventDetails::default() };
    record_event(changes, aggregate, EventKind::PaymentUnverifiable, &details)?;
    Ok(true)
}

/// Whether it can be polled, by its own number or by those that are claimed for a pay-form.
pub(super) fn has_number(payment: &Payment) -> bool {
    payment.method == Method::PayForm || payment.reference.can_be_checked()
}

/// Whether a view makes it due. Ended payments are not polled for a view, but a charge in doubt is: the
/// gateway may have corrected it.
fn is_open(row: &PaymentRow) -> bool {
    let has_ended = row.payment.state.is_final() && !row.payment.state.is_in_doubt();
    has_number(&row.payment) && !has_ended
}

fn is_payable_elsewhere(row: &PaymentRow) -> bool {
    let is_shown = matches!(row.payment.method, Method::PayForm | Method::Qr | Method::Card);
    is_shown && row.payment.state == PaymentState::Awaiting && !row.payment.is_replaced
}

fn claim_paid(row: &mut PaymentRow, now: Millis) {
    row.payment.claimed_at = Some(now);
    row.dirty.rest = true;
}

fn make_due<'a>(changes: &mut Changes, payments: impl Iterator<Item = &'a mut PaymentRow>) -> HintOutcome {
    let mut made_due = 0;
    for row in payments {
        if matches!(row.payment.state, PaymentState::Prepared | PaymentState::Sending) {
            // A callback can come before the create call returned. A payment that may not exist yet is not polled.
            row.is_hinted = true;
            row.dirty.rest = true;
        } else {
            changes.make_due(&row.payment, changes.now, Class::Hinted, changes.now);
        }
        made_due += 1;
    }
    HintOutcome::Due(made_due)
}
